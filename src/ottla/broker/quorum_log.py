"""The metadata log on disk: what the quorum needs, over the log and snapshots of one folder.

It is a log as any other, but that a snapshot stands for what is below its start, and that nobody
checkpoints how far it was flushed: opened again, all of it is checked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from ottla.api.control_records import ControlType, SnapshotHeaderRecord, read_quorum_record
from ottla.broker.partition_history import PartitionHistory
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.options import CLUSTER_METADATA
from ottla.records.batch import batch_at
from ottla.records.reader import read_records
from ottla.records.scan import BatchRow, scan
from ottla.storage.file_names import SnapshotFile
from ottla.storage.flush import Flush
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.storage.log_options import UNLIMITED, LogOptions
from ottla.storage.metadata_snapshots import (
    MetadataSnapshots,
    SnapshotContent,
    SnapshotPart,
    write_snapshot_batches,
)
from ottla.storage.partition_files import Removal
from ottla.storage.recovery import Findings, Opening, open_log
from ottla.wire.fields import Buffer

HEAD_BYTES: Final = 1 << 16
"""Enough for the header of a snapshot and as many voters as a quorum has."""
FOLDER: Final = f"{CLUSTER_METADATA}-0"


class Retention(NamedTuple):
    """How much and how long to keep; the newest snapshot and what follows it always stay."""

    bytes_max: int = 100 << 20
    age_ms_max: int = 7 * 24 * 60 * 60 * 1000


class MetadataLog:
    """What `core.quorum` calls a log."""

    def __init__(
        self,
        log: Log,
        history: PartitionHistory,
        snapshots: MetadataSnapshots,
        now_ms: Callable[[], int],
    ) -> None:
        """Made by `open_metadata_log`."""
        self.log = log
        self.snapshots = snapshots
        self._history = history
        self._now_ms = now_ms
        self._parts: dict[OffsetAndEpoch, SnapshotPart] = {}
        self.removals: list[Removal] = []
        """Files that left, to be removed by jobs."""

    @property
    def start_offset(self) -> int:
        """The first offset that can be read."""
        return self.log.log_start_offset

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        return self.log.end_offset

    @property
    def flushed_offset(self) -> int:
        """Everything below is on the device."""
        return self.log.recovery_point

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, or of the snapshot that there is instead."""
        latest = self._history.leader_epochs.latest_epoch
        if latest is not None:
            return latest
        snapshot = self.latest_snapshot
        return snapshot.epoch if snapshot else 0

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Where the largest epoch not above one ends; the oldest may be in a snapshot."""
        found = self._history.leader_epochs.end_offset_for(epoch, self.end_offset)
        if found.end_offset < 0:
            return OffsetAndEpoch(self.end_offset, self.last_epoch)
        earliest = self.earliest_snapshot
        is_below_log = self._history.leader_epochs.entry(found.epoch) is None
        if is_below_log and earliest is not None and earliest.end_offset == found.end_offset:
            return earliest
        return OffsetAndEpoch(found.end_offset, found.epoch)

    def append(self, batches: Buffer) -> None:
        """Append whole batches that have their offsets and epochs."""
        self.log.append([(batches, _rows(batches))], self._now_ms())

    def read(self, offset: int, bytes_max: int) -> bytes:
        """Whole batches from the one that an offset lies in; nothing at the end."""
        found = self.log.read(offset, bytes_max, self.log.end_place)
        if found is None:
            return b""
        data = found.file.read(found.position, found.size_bytes)
        last = _rows(data)[-1]
        return data[: last.position + last.size_bytes]

    def truncate_to(self, end_offset: int) -> None:
        """Cut off all from an offset on."""
        self.log.truncate_to(end_offset, self._now_ms())

    def plan_flush(self) -> Flush:
        """The job that brings the log to the device; give it to `flushed` when it has run."""
        return self.log.plan_flush()

    def flushed(self, flush: Flush) -> None:
        """Take note that the log is on the device."""
        self.log.flushed(flush, self._now_ms())

    # Snapshots.

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        """The oldest snapshot."""
        files = self.snapshots.files
        return _id(files[0]) if files else None

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        """The newest snapshot."""
        files = self.snapshots.files
        return _id(files[-1]) if files else None

    def snapshot_bytes(self, id_: OffsetAndEpoch) -> int | None:
        """How large a snapshot is; None if there is none."""
        file = self.snapshots.find(*id_)
        return None if file is None else self.snapshots.size_bytes(file)

    def read_snapshot(self, id_: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        """A piece of a snapshot."""
        return self.snapshots.read(SnapshotFile(*id_), position, bytes_max)

    def begin_snapshot(self, id_: OffsetAndEpoch) -> None:
        """Make ready to be given a snapshot; one that was begun before is dropped."""
        for part in self._parts.values():
            part.abandon()
        self._parts = {id_: self.snapshots.begin(*id_)}

    def append_snapshot(self, id_: OffsetAndEpoch, piece: Buffer) -> None:
        """Take the next piece."""
        self._parts[id_].append(piece)

    def plan_freeze(self, id_: OffsetAndEpoch) -> "Freeze":
        """The job that makes a snapshot whole; give it to `frozen` when it has run."""
        return Freeze(id_, self._parts.pop(id_))

    def frozen(self, freeze: "Freeze") -> None:
        """Take note of a snapshot that is whole."""
        self.snapshots.note(*freeze.id)

    def plan_snapshot(self, id_: OffsetAndEpoch, content: SnapshotContent) -> "Freeze":
        """Write a snapshot of what this node knows; the job makes it whole."""
        part = self.snapshots.begin(*id_)
        for batch in write_snapshot_batches(content):
            part.append(batch)
        return Freeze(id_, part)

    def restart_at_snapshot(self) -> bool:
        """Begin anew after the newest snapshot if that is past the end; was it?"""
        latest = self.latest_snapshot
        end = OffsetAndEpoch(self.end_offset, self._history.leader_epochs.latest_epoch or 0)
        if latest is None or latest == end or not latest.is_up_to_date(end):
            return False
        self.log.start_at(latest.end_offset, self._now_ms())
        self.log.flush(self._now_ms())
        self.retire_before(latest)
        return True

    def keep_from(self, id_: OffsetAndEpoch) -> bool:
        """Let the log begin at a snapshot, and let go of what is below; false if it does."""
        latest = self.latest_snapshot
        is_there = self.snapshots.find(*id_) is not None
        if latest is None or not is_there or id_.end_offset <= self.start_offset:
            return False
        self.log.move_log_start(id_.end_offset)
        removal = self.log.delete_old(id_.end_offset, self._now_ms())
        if removal is not None:
            self.removals.append(removal)
        self.retire_before(id_)
        return True

    def clean(self, retention: Retention) -> None:
        """Let go of the oldest snapshots while there is too much, or they are too old."""
        files = list(self.snapshots.files)
        sizes = sum(map(self.snapshots.size_bytes, files))
        for file, later in pairwise(files):
            is_large = retention.bytes_max != UNLIMITED
            is_large = is_large and self.log.size_bytes + sizes > retention.bytes_max
            if not is_large and not self._is_old(file, retention.age_ms_max):
                return
            sizes -= self.snapshots.size_bytes(file)
            if not self.keep_from(_id(later)):
                return

    def _is_old(self, file: SnapshotFile, age_ms_max: int) -> bool:
        if age_ms_max == UNLIMITED:
            return False
        head = self.snapshots.read(file, 0, HEAD_BYTES)
        return self._now_ms() - _appended_ms(head) > age_ms_max

    def retire_before(self, id_: OffsetAndEpoch) -> None:
        """Let go of the snapshots that are older than one."""
        removal = self.snapshots.retire_before(*id_)
        if removal.paths:
            self.removals.append(Removal(removal.disk, (), removal.paths))


@dataclass(frozen=True, slots=True)
class Freeze:
    """The job that makes a snapshot whole."""

    id: OffsetAndEpoch
    part: SnapshotPart

    def run(self) -> None:
        """Do it; any thread may."""
        self.part.freeze()


def open_metadata_log(
    handles: Handles, folder: str, now_ms: Callable[[], int], options: LogOptions | None = None
) -> tuple[MetadataLog, Findings]:
    """Open the metadata log in its folder, which may be empty. Raises `Corrupt`.

    A snapshot past the end is one that a crash kept from being installed.
    """
    options = options or LogOptions(is_deleted=False)
    history = PartitionHistory()
    opening = Opening(now_ms=now_ms(), is_clean=False)
    log, findings = open_log(handles, folder, options, history, opening)
    snapshots = MetadataSnapshots(handles.disk, folder)
    snapshots_below = [f for f in snapshots.files if f.end_offset < log.log_start_offset]
    opened = MetadataLog(log, history, snapshots, now_ms)
    if snapshots_below:
        oldest = next(f for f in snapshots.files if f.end_offset >= log.log_start_offset)
        opened.retire_before(_id(oldest))
    opened.restart_at_snapshot()
    return opened, findings


def _appended_ms(head: bytes) -> int:
    """When the last record below a snapshot was appended, by its header."""
    first = next(iter(read_records(batch_at(head), HEAD_BYTES)))
    header = read_quorum_record(ControlType.SNAPSHOT_HEADER, first.value or b"")
    assert isinstance(header, SnapshotHeaderRecord), "asked for"
    return header.last_contained_log_timestamp


def _id(file: SnapshotFile) -> OffsetAndEpoch:
    return OffsetAndEpoch(file.end_offset, file.epoch)


def _rows(batches: Buffer) -> Sequence[BatchRow]:
    """All whole batches of some bytes."""
    rows: list[BatchRow] = []
    position = 0
    while position < len(batches):
        found = scan(batches, position)
        if not found.rows:
            break
        rows += found.rows
        position = found.end_position
    return rows
