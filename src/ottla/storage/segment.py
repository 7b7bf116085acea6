"""One file of a log, with its indexes: appended at the end, read by offset or time, cut, recovered.

Invariants
  I-SEG-1  Batches lie back to back from position 0 to `size_bytes`; their offsets rise, begin at
           `base_offset` or past it, and fit 31 bits from it.
  I-SEG-2  Bytes past `size_bytes` were never appended: a write that failed leaves them, and the
           next append goes over them.
  I-SEG-3  An index entry is made only for a batch that was written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from ottla.ports import Buffer, File
from ottla.records.check import entry_checksum
from ottla.records.scan import BatchRow, Stop, find_record, scan
from ottla.storage.handles import Handles
from ottla.storage.offset_index import INT32_MAX, OffsetIndex
from ottla.storage.runs import RUN_BYTES, Run, Runs
from ottla.storage.time_index import TimeIndex, TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction, TransactionIndex
from ottla.storage.writes import write_or_cut

SEARCH_BYTES: Final = 64 * 1024
NO_TIMESTAMP: Final = -1

Replay: TypeAlias = Callable[[memoryview, Sequence[BatchRow]], Sequence[AbortedTransaction]]
"""Told a run's bytes and its good batches, in order, before the run's buffer is used again; answers
the transactions that turned out aborted."""


@dataclass(frozen=True, slots=True)
class SegmentOptions:
    """What a segment needs to know of its topic's options."""

    index_interval_bytes: int = 4096
    index_bytes_max: int = 10 << 20
    inflated_bytes_max: int = 32 << 20
    allocated_bytes: int = 0
    """The room that a new segment's file is given at once."""


class Slice(NamedTuple):
    """Bytes of a segment's file, to be sent or read; whole batches, but for a cut-off last one."""

    file: File
    position: int
    size_bytes: int


class Recovered(NamedTuple):
    """What recovery found: how many bytes are no batches, and why; they were cut off or left."""

    cut_bytes: int
    stop: Stop


class Segment:
    """A segment of a log; whoever appends to it is alone in doing so."""

    def __init__(
        self,
        handles: Handles,
        stem: str,
        base_offset: int,
        options: SegmentOptions,
        size_bytes: int | None = None,
        suffix: str = "",
    ) -> None:
        """Know a segment, and open nothing.

        `stem` is the path of its files without `.log` and the like, `suffix` what follows those.
        """
        self.stem = stem
        self.suffix = suffix
        self.base_offset = base_offset
        bytes_max = options.index_bytes_max
        self.offsets = OffsetIndex(handles, f"{stem}.index{suffix}", base_offset, bytes_max)
        self.times = TimeIndex(handles, f"{stem}.timeindex{suffix}", base_offset, bytes_max)
        self.transactions = TransactionIndex(handles, f"{stem}.txnindex{suffix}", base_offset)
        self._handles = handles
        self._options = options
        self._path = f"{stem}.log{suffix}"
        self._bytes_since_entry = 0
        self._latest: TimestampOffset | None = None
        self._first_timestamp: int | None = None
        self._next_offset: int | None = None
        self._is_synced = True
        self._is_changed = False
        self._is_allocated = False
        if size_bytes is None:
            status = handles.disk.status(self._path)
            size_bytes = 0 if status is None else status.size_bytes
        self.size_bytes = size_bytes

    @property
    def latest(self) -> TimestampOffset:
        """The largest time and the last offset of the batch that has it; -1 if none is known."""
        if self._latest is None:
            self._latest = self._find_latest()
        return self._latest

    def _find_latest(self) -> TimestampOffset:
        """The last entry of the time index, or what came behind it."""
        latest = self.times.last
        for run in self.runs(self.offsets.find(latest.offset).position):
            for row in run.rows:
                if row.max_timestamp > latest.timestamp:
                    latest = TimestampOffset(row.max_timestamp, row.last_offset)
        return latest

    @property
    def first_timestamp(self) -> int | None:
        """The largest time of the first batch; None if there is no batch."""
        if self._first_timestamp is None and self.size_bytes:
            rows = scan(self._log().read(0, min(SEARCH_BYTES, self.size_bytes)), 0, 1).rows
            self._first_timestamp = rows[0].max_timestamp if rows else None
        return self._first_timestamp

    def next_offset(self) -> int:
        """The offset after its last batch; the base offset if there is no batch."""
        if self._next_offset is None:
            self._next_offset = self.base_offset
            for run in self.runs(self.offsets.find(self.base_offset + INT32_MAX).position):
                self._next_offset = run.rows[-1].last_offset + 1
        return self._next_offset

    def runs(self, position: int = 0, end_position: int | None = None) -> Runs:
        """The batches from a position on, in runs."""
        end = self.size_bytes if end_position is None else min(end_position, self.size_bytes)
        return Runs(self._log() if position < end else None, position, end)

    def _log(self, *, create: bool = False) -> File:
        return self._handles.open(self._path, create=create)

    @property
    def is_full(self) -> bool:
        """Is there no room in an index for another entry?"""
        return self.offsets.is_full or self.times.is_full

    def fits(self, offset: int) -> bool:
        """Can an offset be told from the base with 31 bits?"""
        return 0 <= offset - self.base_offset <= INT32_MAX

    def create(self) -> None:
        """Have a file for batches, with its room if it is to have that at once."""
        file = self._log(create=True)
        if self._options.allocated_bytes > self.size_bytes:
            file.allocate(self._options.allocated_bytes)
            self._is_allocated = True

    def append(self, parts: list[Buffer], rows: list[BatchRow]) -> None:
        """Write whole batches at the end; `rows` says of each what the indexes need.

        It is done wholly or not at all: what can fail besides the write itself comes before it.
        """
        assert rows
        assert self.fits(rows[-1].last_offset), f"offset {rows[-1].last_offset} does not fit"
        self._make_ready()
        position = self.size_bytes
        end = write_or_cut(self._log(create=True), parts, position)
        for row in rows:
            self._index(row, position)
            position += row.size_bytes
        assert position == end, "the rows are those of the parts"
        self.size_bytes = end
        self._next_offset = rows[-1].last_offset + 1
        self._is_synced = False

    def _make_ready(self) -> None:
        """Do what the entries of an append may need the disk for."""
        if not self._is_changed:
            _ = self.latest, self.is_full, self.next_offset()
            self._is_changed = True
        self._write_pages()

    def _write_pages(self) -> None:
        """Write entries of which there are many by now."""
        for index in (self.offsets, self.times, self.transactions):
            if index.entries.has_page:
                index.entries.write()

    def _index(self, row: BatchRow, position: int) -> None:
        """Note a batch that was written, if an entry is due."""
        if row.max_timestamp > self.latest.timestamp:
            self._latest = TimestampOffset(row.max_timestamp, row.last_offset)
        if self._bytes_since_entry > self._options.index_interval_bytes:
            self.offsets.append(row.last_offset, position)
            self.times.append(*self.latest)
            self._bytes_since_entry = 0
        self._bytes_since_entry += row.size_bytes

    def find_offset(self, offset: int) -> tuple[int, int] | None:
        """Where the batch with an offset, or the first past it, lies: position and size."""
        for run in self._search(self.offsets.find(offset).position):
            for row in run.rows:
                if row.last_offset >= offset:
                    return run.position + row.position, row.size_bytes
        return None

    def _search(self, position: int) -> Runs:
        file = self._log() if position < self.size_bytes else None
        return Runs(file, position, self.size_bytes, SEARCH_BYTES)

    def read(self, offset: int, bytes_max: int, end_position: int | None = None) -> Slice | None:
        """Bytes from the batch with an offset on, below a position; None if there is no such batch.

        The first batch comes whole even if it is larger than was asked for.
        """
        place = self.find_offset(offset)
        if place is None:
            return None
        position, size_bytes = place
        end = self.size_bytes if end_position is None else min(end_position, self.size_bytes)
        return Slice(self._log(), position, max(0, min(max(bytes_max, size_bytes), end - position)))

    def find_timestamp(self, timestamp: int, offset_min: int) -> TimestampOffset | None:
        """The first record at or past a time, and at or past an offset."""
        start = self.offsets.find(max(self.times.find(timestamp).offset, offset_min))
        for run in self._search(start.position):
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
        self._finish()

    def _finish(self) -> None:
        """Leave the files as they are to be found: with all entries, and no more room than that."""
        self.times.append(*self.latest, is_roll=True)
        for index in (self.offsets, self.times):
            index.entries.make()
            index.entries.trim()
        self.transactions.entries.write()
        if self._is_allocated:
            self._cut(self.size_bytes)

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds an offset and all after it; give how many bytes went."""
        place = self.find_offset(offset)
        if place is None:
            return 0
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.transactions.truncate_to(offset)
        cut_bytes = self.size_bytes - place[0]
        self._cut(place[0])
        self._forget()
        return cut_bytes

    def _cut(self, size_bytes: int) -> None:
        self._is_synced = False
        self._log().truncate(size_bytes)
        self.size_bytes = size_bytes
        self._is_allocated = False

    def _forget(self) -> None:
        """Forget what was known of the batches."""
        self._bytes_since_entry = 0
        self._latest = self._first_timestamp = self._next_offset = None
        self._is_changed = False

    def recover(self, replay: Replay, *, cuts: bool = True) -> Recovered:
        """Check all that the file holds, make the indexes anew, and cut at the first bad byte.

        Every good batch is replayed, so that what is known of producers and epochs is made anew
        too. Without `cuts` what is no batch is left in the file, behind `size_bytes`.
        """
        for index in (self.offsets, self.times, self.transactions):
            index.entries.clear()
        self._forget()
        self._latest = TimestampOffset(NO_TIMESTAMP, self.base_offset)
        self._next_offset = self.base_offset
        self._is_changed = True
        file_bytes = self._log(create=True).size()
        stop = self._recover_runs(Runs(self._log(), 0, file_bytes, RUN_BYTES), replay)
        if cuts and self.size_bytes < file_bytes:
            self._cut(self.size_bytes)
        return Recovered(file_bytes - self.size_bytes, stop)

    def _recover_runs(self, runs: Runs, replay: Replay) -> Stop:
        """Index and replay good batches, up to where they end, which is the segment's size then."""
        self.size_bytes = 0
        for run in runs:
            good = self._good_rows(run)
            for row in good.rows:
                self._index(row, run.position + row.position)
            if good.rows:
                self._next_offset = good.rows[-1].last_offset + 1
                self.size_bytes = run.position + good.end_position
                for aborted in replay(run.data, good.rows):
                    self.transactions.append(aborted)
            if good.stop is not Stop.END:
                return good.stop
            self._write_pages()
        return runs.end.stop

    def _good_rows(self, run: Run) -> "_Good":
        """The batches of a run up to the first bad one."""
        offset_min = self.next_offset()
        stop = Stop.END
        for count, row in enumerate(run.rows):
            if row.base_offset < offset_min or not self.fits(row.last_offset):
                stop = Stop.ORDER
            elif entry_checksum(run.data, row) != row.crc:
                stop = Stop.CHECKSUM
            if stop is not Stop.END:
                return _Good(run.rows[:count], row.position, stop)
            offset_min = row.last_offset + 1
        return _Good(run.rows, run.rows[-1].position + run.rows[-1].size_bytes, stop)

    def unsynced(self) -> list[File]:
        """Write the entries that wait; give the files that are to be brought to the device.

        The batches come first, so that no entry there names what is not.
        """
        files: list[File] = []
        if not self._is_synced:
            self._is_synced = True
            files.append(self._log())
        for index in (self.offsets, self.times, self.transactions):
            file = index.entries.unsynced()
            if file is not None:
                files.append(file)
        return files

    def sync(self) -> None:
        """Bring the batches to the device, and then what finds them."""
        for file in self.unsynced():
            file.sync()

    def close(self) -> None:
        """Give all files back, as another process may find them."""
        if self._is_changed:
            self._finish()
            self._is_changed = False
        self._handles.drop(self._path)
        for index in (self.offsets, self.times, self.transactions):
            index.entries.forget()

    def paths(self) -> list[str]:
        """The files that there are, the one of the batches first."""
        entries = (self.offsets.entries, self.times.entries, self.transactions.entries)
        paths = [self._path, *(one.path for one in entries)]
        return [path for path in paths if self._handles.disk.status(path) is not None]

    def change_suffix(self, old: str, new: str) -> None:
        """Rename its files.

        The file of the batches gets its final name last, and loses it first: where it is, there is
        the whole segment.
        """
        assert self.suffix == old, f"{self._path}: its suffix is not {old}"
        there = set(self.paths())
        if new:
            self._change_log_suffix(new)
        for index in (self.offsets, self.times, self.transactions):
            path = index.entries.path
            index.entries.move(self._renamed(path, new), exists=path in there)
        if not new:
            self._change_log_suffix(new)
        self.suffix = new

    def _change_log_suffix(self, new: str) -> None:
        path = self._renamed(self._path, new)
        self._handles.rename(self._path, path)
        self._path = path

    def _renamed(self, path: str, suffix: str) -> str:
        return path[: len(path) - len(self.suffix)] + suffix

    def remove(self) -> None:
        """Remove its files, the one of the batches last: what is left can be removed again."""
        for index in (self.offsets, self.times, self.transactions):
            self._handles.remove(index.entries.path)
        self._handles.remove(self._path)


class _Good(NamedTuple):
    """The good batches of a run, where they end in it, and why."""

    rows: Sequence[BatchRow]
    end_position: int
    stop: Stop
