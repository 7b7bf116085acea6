"""Names of the files in a log directory and in the folders of its partitions, and back."""

import re
from enum import StrEnum
from typing import Final, NamedTuple

from ottla.wire.fields import Uuid
from ottla.wire.uuids import uuid_of_text, uuid_text

# In a log directory.
META_PROPERTIES: Final = "meta.properties"
LOCK: Final = ".lock"
CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_START_OFFSETS: Final = "log-start-offset-checkpoint"
CLEANER_OFFSETS: Final = "cleaner-offset-checkpoint"
BOOTSTRAP_CHECKPOINT: Final = "bootstrap.checkpoint"
REMOTE_INDEX_CACHE: Final = "remote-log-index-cache"

# In a partition's folder.
PARTITION_METADATA: Final = "partition.metadata"
LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
QUORUM_STATE: Final = "quorum-state"

OFFSET_MAX: Final = 2**63 - 1
EPOCH_MAX: Final = 2**31 - 1

_SEGMENT: Final = re.compile(
    r"([0-9]{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.deleted|\.cleaned|\.swap)?"
)
_SNAPSHOT: Final = re.compile(r"([0-9]{20})-([0-9]{10})(-[^.]*)?\.checkpoint(\.part|\.deleted)?")
_REMOTE: Final = re.compile(
    r"(0|[1-9][0-9]{0,18})_([0-9A-Za-z_-]{22})(\.index|\.timeindex|\.txnindex)(\.tmp|\.deleted)?"
)


class Kind(StrEnum):
    """What a file of a segment holds; the value is its suffix."""

    LOG = ".log"
    INDEX = ".index"
    TIME_INDEX = ".timeindex"
    TXN_INDEX = ".txnindex"
    PRODUCER_SNAPSHOT = ".snapshot"


class Stage(StrEnum):
    """Where a file of a segment is in its life; the value is a second suffix."""

    CURRENT = ""
    CLEANED = ".cleaned"  # Being written by the cleaner or a split; not valid yet.
    SWAP = ".swap"  # Written whole, about to replace what it was made of.
    DELETED = ".deleted"  # Waiting for its readers to end.


class SegmentFile(NamedTuple):
    """A file whose name begins with the base offset of a segment."""

    base_offset: int
    kind: Kind
    stage: Stage = Stage.CURRENT

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.base_offset:020}{self.kind}{self.stage}"


# A look-up costs a fifth of what making a member of its value does, and folders have many names.
_KINDS: Final = {kind.value: kind for kind in Kind}
_STAGES: Final = {stage.value: stage for stage in Stage} | {None: Stage.CURRENT}


def parse_segment_file(name: str) -> SegmentFile | None:
    """Read a name; None if no file of a segment has it."""
    found = _SEGMENT.fullmatch(name)
    if found is None or int(found[1]) > OFFSET_MAX:
        return None
    return SegmentFile(int(found[1]), _KINDS[found[2]], _STAGES[found[3]])


class SnapshotStage(StrEnum):
    """Where a snapshot is in its life; the value is a second suffix."""

    CURRENT = ""
    PART = ".part"  # Not whole yet.
    DELETED = ".deleted"


class SnapshotFile(NamedTuple):
    """A snapshot of the metadata: all that is below an end offset, of which the epoch is known."""

    end_offset: int
    epoch: int
    stage: SnapshotStage = SnapshotStage.CURRENT

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.end_offset:020}-{self.epoch:010}.checkpoint{self.stage}"


BOOTSTRAP_SNAPSHOT: Final = SnapshotFile(0, 0)
"""What the formatter of a directory writes."""


def parse_snapshot_file(name: str) -> SnapshotFile | None:
    """Read a name; None if no snapshot has it. What Kafka adds to make a part unique is dropped."""
    found = _SNAPSHOT.fullmatch(name)
    if found is None or (found[3] and found[4] != SnapshotStage.PART):
        return None
    end_offset, epoch = int(found[1]), int(found[2])
    if end_offset > OFFSET_MAX or epoch > EPOCH_MAX:
        return None
    return SnapshotFile(end_offset, epoch, SnapshotStage(found[4] or ""))


class RemoteStage(StrEnum):
    """Where a cached index of a remote segment is in its life; the value is a second suffix."""

    CURRENT = ""
    FETCHED = ".tmp"  # Being fetched; not whole yet.
    DELETED = ".deleted"


class RemoteIndexFile(NamedTuple):
    """An index of a remote segment in the cache."""

    start_offset: int
    segment_id: Uuid
    kind: Kind
    stage: RemoteStage = RemoteStage.CURRENT

    @property
    def name(self) -> str:
        """Its name."""
        return f"{self.start_offset}_{uuid_text(self.segment_id)}{self.kind}{self.stage}"


def parse_remote_index_file(name: str) -> RemoteIndexFile | None:
    """Read a name; None if no cached index has it."""
    found = _REMOTE.fullmatch(name)
    if found is None or int(found[1]) > OFFSET_MAX:
        return None
    stage = RemoteStage(found[4] or "")
    return RemoteIndexFile(int(found[1]), uuid_of_text(found[2]), Kind(found[3]), stage)
