"""The voters and the level of the protocol at each place of the log.

A control record counts from where it is appended, committed or not, and no longer once it is cut
off. That is why a change may take the place of the one before only when that is committed.
"""

from collections.abc import Iterator
from typing import Final, Generic, NamedTuple, TypeVar

from ottla.api.control_records import (
    ControlType,
    KRaftVersionRecord,
    VotersRecord,
    read_control_key,
    read_quorum_record,
)
from ottla.core.quorum.log import OffsetAndEpoch, QuorumLog
from ottla.core.quorum.voters import VoterSet, voters_of_record
from ottla.kernels.faults import Malformed
from ottla.records.batch import CONTROL_BIT, batch_at
from ottla.records.reader import Record, read_records
from ottla.records.scan import scan
from ottla.wire.fields import Buffer

READ_BYTES: Final = 1 << 20
_T = TypeVar("_T")


class Entry(NamedTuple, Generic[_T]):
    """What counts from an offset on."""

    offset: int
    value: _T


class VoterHistory:
    """What the control records of a log and of the snapshot below it say."""

    def __init__(self, static_voters: VoterSet) -> None:
        self._static_voters = static_voters
        self._voters: list[Entry[VoterSet]] = []
        self._versions: list[Entry[int]] = []

    @property
    def voters(self) -> VoterSet:
        """The voters at the end of the log."""
        return self._voters[-1].value if self._voters else self._static_voters

    @property
    def voters_offset(self) -> int | None:
        """Where the log says so: -1 in the snapshot that it was formatted with; None nowhere."""
        return self._voters[-1].offset if self._voters else None

    @property
    def kraft_version(self) -> int:
        """The level of the protocol at the end of the log."""
        return self._versions[-1].value if self._versions else 0

    def load(self, log: QuorumLog) -> None:
        """Know what a snapshot and the log after it say, and nothing else."""
        self._voters, self._versions = [], []
        snapshot = log.latest_snapshot
        offset = log.start_offset
        if snapshot is not None:
            self._load_snapshot(log, snapshot)
            offset = max(offset, snapshot.end_offset)
        while offset < log.end_offset:
            data = log.read(offset, READ_BYTES)
            offset = self.replay(data)

    def _load_snapshot(self, log: QuorumLog, id_: OffsetAndEpoch) -> None:
        """The control records stand at a snapshot's beginning."""
        size_bytes = log.snapshot_bytes(id_) or 0
        data = log.read_snapshot(id_, 0, min(size_bytes, READ_BYTES))
        for record in _control_records(data):
            self._note(record, id_.end_offset - 1)

    def replay(self, data: Buffer) -> int:
        """Take in whole batches that are in the log now; give the offset after them."""
        for record in _control_records(data):
            self._note(record, record.offset)
        return scan_end(data)

    def _note(self, record: Record, offset: int) -> None:
        if record.key is None or record.value is None:
            return
        type_ = read_control_key(record.key)
        if type_ not in (ControlType.KRAFT_VERSION, ControlType.VOTERS):
            return
        said = read_quorum_record(ControlType(type_), record.value)
        if isinstance(said, VotersRecord):
            self._voters.append(Entry(offset, voters_of_record(said)))
        elif isinstance(said, KRaftVersionRecord):
            self._versions.append(Entry(offset, said.kraft_version))

    def truncate_to(self, end_offset: int) -> None:
        """Forget what was said from an offset on."""
        self._voters = [entry for entry in self._voters if entry.offset < end_offset]
        self._versions = [entry for entry in self._versions if entry.offset < end_offset]

    def at(self, end_offset: int) -> tuple[int, VoterSet]:
        """The level and the voters that a snapshot which ends there is to hold."""
        versions = [entry.value for entry in self._versions if entry.offset < end_offset]
        voters = [entry.value for entry in self._voters if entry.offset < end_offset]
        return (versions or [0])[-1], (voters or [self._static_voters])[-1]


def scan_end(data: Buffer) -> int:
    """The offset after some whole batches."""
    end, position = -1, 0
    while position < len(data):
        found = scan(data, position)
        if not found.rows:
            break
        end, position = found.rows[-1].last_offset + 1, found.end_position
    if end < 0:
        raise Malformed("no whole batch", 0)
    return end


def _control_records(data: Buffer) -> Iterator[Record]:
    """The records of all control batches in some batches; the last may be cut off."""
    position = 0
    while position < len(data):
        found = scan(data, position)
        for row in found.rows:
            if row.attributes & CONTROL_BIT:
                batch = batch_at(data, row.position)
                yield from read_records(batch, len(batch))
        if not found.rows:
            return
        position = found.end_position
