"""One file of a log, with its indexes: appended at the end, read by offset or time, cut, recovered.

Invariants
  I-SEG-1  Batches lie back to back from position 0 to `size_bytes`; their offsets rise, begin at
           `base_offset` or past it, and fit 31 bits from it.
  I-SEG-2  Bytes past `size_bytes` were never appended: a write that failed leaves them, and the
           next append goes over them.
  I-SEG-3  An index entry is made only for a batch that was written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.ports import Buffer, Disk, File
from ottla.records.check import entry_checksum
from ottla.records.scan import BatchRow, Stop, find_record
from ottla.storage.offset_index import INT32_MAX, OffsetIndex
from ottla.storage.runs import Runs, RunsEnd
from ottla.storage.time_index import TimeIndex, TimestampOffset
from ottla.storage.transaction_index import TransactionIndex
from ottla.storage.writes import write_all

SEARCH_BYTES: Final = 64 * 1024
NO_TIMESTAMP: Final = -1


@dataclass(frozen=True, slots=True)
class SegmentOptions:
    """What a segment needs to know of its topic's options."""

    index_interval_bytes: int = 4096
    index_bytes_max: int = 10 << 20
    inflated_bytes_max: int = 32 << 20


class Slice(NamedTuple):
    """Bytes of a segment's file, to be sent or read; whole batches, but for a cut-off last one."""

    file: File
    position: int
    size_bytes: int


class Recovered(NamedTuple):
    """What recovery found: how many bytes were cut off, and why what they held is no batch."""

    cut_bytes: int
    stop: Stop


class Segment:
    """A segment of a log; whoever appends to it is alone in doing so."""

    def __init__(self, disk: Disk, stem: str, base_offset: int, options: SegmentOptions) -> None:
        """`stem` is the path of its files without their suffix."""
        self.base_offset = base_offset
        self.log = disk.open(f"{stem}.log", create=True)
        self.size_bytes = self.log.size()
        index_bytes_max = options.index_bytes_max
        self.offsets = OffsetIndex(disk, f"{stem}.index", base_offset, index_bytes_max)
        self.times = TimeIndex(disk, f"{stem}.timeindex", base_offset, index_bytes_max)
        self.transactions = TransactionIndex(disk, f"{stem}.txnindex", base_offset)
        self._options = options
        self._bytes_since_entry = 0
        self._latest: TimestampOffset | None = None

    @property
    def latest(self) -> TimestampOffset:
        """The largest time and the last offset of the batch that has it; -1 if none is known."""
        if self._latest is None:
            self._latest = self.times.last
        return self._latest

    @property
    def is_full(self) -> bool:
        """Is there no room in an index for another entry?"""
        return self.offsets.is_full or self.times.is_full

    def fits(self, offset: int) -> bool:
        """Can an offset be told from the base with 31 bits?"""
        return 0 <= offset - self.base_offset <= INT32_MAX

    def append(self, parts: list[Buffer], rows: list[BatchRow]) -> None:
        """Write whole batches at the end; `rows` says of each what the indexes need."""
        assert rows
        assert self.fits(rows[-1].last_offset), f"offset {rows[-1].last_offset} does not fit"
        position = self.size_bytes
        self.size_bytes = write_all(self.log, parts, position)
        for row in rows:
            self._index(row, position)
            position += row.size_bytes
        assert position == self.size_bytes, "the rows are those of the parts"

    def _index(self, row: BatchRow, position: int) -> None:
        """Note a batch that was written, if an entry is due."""
        if row.max_timestamp > self.latest.timestamp:
            self._latest = TimestampOffset(row.max_timestamp, row.last_offset)
        if self._bytes_since_entry > self._options.index_interval_bytes:
            self.offsets.append(row.last_offset, position)
            self.times.append(*self.latest)
            self._bytes_since_entry = 0
        self._bytes_since_entry += row.size_bytes

    def find_offset(self, offset: int, position: int = 0) -> tuple[int, int] | None:
        """Where the batch with an offset, or the first past it, lies: position and size."""
        found = self.offsets.find(offset)
        runs = Runs(self.log, max(position, found.position), self.size_bytes, SEARCH_BYTES)
        for run in runs:
            for row in run.rows:
                if row.last_offset >= offset:
                    return run.position + row.position, row.size_bytes
        return None

    def read(self, offset: int, bytes_max: int, end_position: int | None = None) -> Slice | None:
        """Bytes from the batch with an offset on, below a position; None if there is no such batch.

        The first batch comes whole even if it is larger than was asked for.
        """
        place = self.find_offset(offset)
        if place is None:
            return None
        position, size_bytes = place
        end = self.size_bytes if end_position is None else min(end_position, self.size_bytes)
        return Slice(self.log, position, max(0, min(max(bytes_max, size_bytes), end - position)))

    def find_timestamp(self, timestamp: int, offset_min: int) -> TimestampOffset | None:
        """The first record at or past a time, and at or past an offset."""
        start = self.offsets.find(max(self.times.find(timestamp).offset, offset_min))
        for run in Runs(self.log, start.position, self.size_bytes, SEARCH_BYTES):
            for row in run.rows:
                if row.max_timestamp >= timestamp and row.last_offset >= offset_min:
                    batch = run.data[row.position : row.position + row.size_bytes]
                    limit = self._options.inflated_bytes_max
                    found = find_record(batch, timestamp, offset_min, limit)
                    if found is not None:
                        return TimestampOffset(found.timestamp, found.offset)
        return None

    def seal(self) -> None:
        """Make it a segment that is no longer appended to: its last time gets its entry."""
        self.times.append(*self.latest, is_roll=True)
        self.offsets.entries.trim()
        self.times.entries.trim()

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds an offset and all after it; give how many bytes went."""
        place = self.find_offset(offset)
        if place is None:
            return 0
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.transactions.truncate_to(offset)
        cut_bytes = self.size_bytes - place[0]
        self.log.truncate(place[0])
        self.size_bytes = place[0]
        self._bytes_since_entry = 0
        self._latest = None
        return cut_bytes

    def recover(self, replay: Callable[[BatchRow], None]) -> Recovered:
        """Check all that the file holds, make the indexes anew, and cut at the first bad byte.

        Every good batch is replayed, so that what is known of producers and epochs is made anew
        too; the transaction index is theirs to fill.
        """
        for index in (self.offsets, self.times, self.transactions):
            index.entries.clear()
        self._latest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._bytes_since_entry = 0
        file_bytes = self.log.size()
        runs = Runs(self.log, 0, file_bytes)
        end = self._recovered_end(runs, replay)
        if end.position < file_bytes:
            self.log.truncate(end.position)
        self.size_bytes = end.position
        return Recovered(file_bytes - end.position, end.stop)

    def _recovered_end(self, runs: Runs, replay: Callable[[BatchRow], None]) -> RunsEnd:
        """Index and replay good batches; give where the first bad one begins."""
        offset_min = self.base_offset
        for run in runs:
            for row in run.rows:
                position = run.position + row.position
                if row.base_offset < offset_min or not self.fits(row.last_offset):
                    return RunsEnd(position, Stop.ORDER)
                if entry_checksum(run.data, row) != row.crc:
                    return RunsEnd(position, Stop.CHECKSUM)
                self._index(row, position)
                replay(row)
                offset_min = row.last_offset + 1
        return runs.end

    def sync(self) -> None:
        """Bring the batches to the device, and then what finds them."""
        self.log.sync()
        for index in (self.offsets, self.times, self.transactions):
            index.entries.sync()

    def close(self) -> None:
        """Give all files back."""
        self.log.close()
        for index in (self.offsets, self.times, self.transactions):
            index.entries.close()
