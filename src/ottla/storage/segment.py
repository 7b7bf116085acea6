"""One file of a log, with its indexes: appended at the end, read by offset or time, cut, recovered.

Invariants
  I-SEG-1  Batches lie back to back from position 0 to `size_bytes`; their offsets rise, begin at
           `base_offset` or past it, and fit 31 bits from it.
  I-SEG-2  Bytes past `size_bytes` were never appended: a write that failed is cut off, so that no
           later and shorter one makes batches of what it left. What cannot be cut off raises, and
           then the file may not be appended to again. Only zeros that were allocated may follow.
  I-SEG-3  Entries may wait in memory, as recovery makes all anew from what was not synced; they are
           written before a sync ends, at the roll, and at the end.
  I-SEG-4  No index is believed: an entry counts if the log has the batch that it names. One that
           lies has both indexes made anew, which `rebuilt` tells, and then the answer is right.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, TypeVar

from ottla.ports import Buffer, File
from ottla.records.scan import INT64_MIN, BatchRow, Stop, find_record
from ottla.storage import aborted as aborted_check
from ottla.storage.entries import LyingIndex
from ottla.storage.handles import Handles
from ottla.storage.offset_index import INT32_MAX
from ottla.storage.runs import Runs
from ottla.storage.search import Found, find_batch, no_batch
from ottla.storage.segment_indexes import SegmentIndexes
from ottla.storage.time_index import TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction, Overlapping, TransactionIndex
from ottla.storage.writes import DISK_FULL, write_or_cut

_Answer = TypeVar("_Answer")

UNINDEXED_BYTES_MAX: Final = 8 << 20
"""So much behind the last entry is not there if all entries are."""

Replay: TypeAlias = Callable[[memoryview, Sequence[BatchRow]], Sequence[AbortedTransaction]]
"""Told a run's bytes and those of its good batches that a history must know of, in order, before
the run's buffer is used again; answers the transactions that turned out aborted."""


@dataclass(frozen=True, slots=True)
class SegmentOptions:
    """What a segment needs to know of its topic's options."""

    index_interval_bytes: int = 4096
    index_bytes_max: int = 10 << 20
    inflated_bytes_max: int = 32 << 20
    allocated_bytes: int = 0
    """The room that a new segment's file is given at once."""


class Slice(NamedTuple):
    """Bytes of a segment's file, to be sent or read; whole batches, but for a cut-off last one.

    The file stays open for as long as the slice is there.
    """

    file: File
    position: int
    size_bytes: int


class Recovered(NamedTuple):
    """What recovery found: how many bytes are no batches, and why; they were cut off or left."""

    cut_bytes: int
    stop: Stop


class Segment:
    """A segment of a log; whoever appends to it is alone in doing so."""

    __slots__ = (
        "_first_timestamp",
        "_handles",
        "_indexes",
        "_is_allocated",
        "_is_changed",
        "_is_synced",
        "_next_offset",
        "_options",
        "_path",
        "base_offset",
        "rebuilt",
        "size_bytes",
        "stem",
        "suffix",
        "transactions",
    )

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
        self.transactions = TransactionIndex(handles, f"{stem}.txnindex{suffix}", base_offset)
        self.rebuilt: list[str] = []  # Why indexes were made anew.
        self._handles = handles
        self._options = options
        self._path = f"{stem}.log{suffix}"
        self._indexes = self._new_indexes()
        self._first_timestamp: int | None = None
        self._next_offset: int | None = None
        self._is_synced = True
        self._is_changed = False  # Is there more to be written than has been?
        self._is_allocated = False
        if size_bytes is None:
            status = handles.disk.status(self._path)
            size_bytes = 0 if status is None else status.size_bytes
        self.size_bytes = size_bytes

    @property
    def latest(self) -> TimestampOffset:
        """The largest time and the last offset of the batch that has it; -1 if none is known."""
        if self._indexes.latest is None:
            self._answer(self._check_times)
            latest = self._answer(lambda: self._indexes.times.find_last(self._find_late))
            self._indexes.latest = self._later_than(latest)
        return self._indexes.latest

    @property
    def first_timestamp(self) -> int | None:
        """The largest time of the first batch; None if there is no batch."""
        if self._first_timestamp is None:
            found = find_batch(self._log_if_any(), (0, self.size_bytes), 0)
            self._first_timestamp = None if found is None else found.max_timestamp
        return self._first_timestamp

    @property
    def is_full(self) -> bool:
        """Is there no room in an index for another entry?"""
        if self._is_changed:
            # It was asked before the first change, and what is in memory cannot lie.
            return self._indexes.is_full
        return self._answer(lambda: self._indexes.is_full)

    @property
    def index_bytes(self) -> tuple[int, int]:
        """How large the offset index and the time index are."""
        return self._answer(lambda: self._indexes.sizes)

    def newest_ms(self) -> int:
        """Its largest time, or if its batches have none, as in magic 0, that of its file."""
        return self.latest.timestamp if self.latest.timestamp >= 0 else self.modified_ms()

    def modified_ms(self) -> int:
        """The time of the file of its batches."""
        status = self._handles.disk.status(self._path)
        return 0 if status is None else status.modified_ms

    def set_modified(self, modified_ms: int) -> None:
        """Let the file of its batches have a time."""
        self._handles.disk.set_modified(self._path, modified_ms)

    def next_offset(self) -> int:
        """The offset after its last batch; the base offset if there is no batch."""
        if self._next_offset is None:
            next_offset = self.base_offset
            runs = self.runs(self._start(self.base_offset + INT32_MAX))
            for run in runs:
                next_offset = run.rows[-1].last_offset + 1
            self._check_end(runs)
            self._next_offset = next_offset
        return self._next_offset

    def create(self) -> None:
        """Have a file for batches, with its room if it is to have that at once."""
        file = self._log(create=True)
        if self._options.allocated_bytes > self.size_bytes:
            file.allocate(self._options.allocated_bytes)
            self._is_allocated = True

    def append(self, parts: Sequence[Buffer], rows: Sequence[BatchRow]) -> None:
        """Write whole batches at the end; `rows` says of each what the indexes need.

        It is done wholly or not at all: what can fail besides the write itself comes before it.
        """
        last_offset = rows[-1].last_offset
        assert 0 <= last_offset - self.base_offset <= INT32_MAX, f"offset {last_offset} too far"
        if not self._is_changed:
            self._begin_changes()
        if self._indexes.has_page or self.transactions.entries.has_page:
            self._write_pages()
        position = self.size_bytes
        self._is_synced = False
        end = write_or_cut(self._handles.open(self._path, create=True), parts, position)
        noted_end = self._indexes.note(rows, position)
        assert noted_end == end, "rows of other parts"
        self.size_bytes = end
        self._next_offset = last_offset + 1

    def find_offset(self, offset: int) -> tuple[int, int] | None:
        """Where the batch with an offset, or the first past it, lies: position and size."""
        found = self._find(offset)
        return None if found is None else (found.position, found.size_bytes)

    def read(self, offset: int, bytes_max: int, end_position: int | None = None) -> Slice | None:
        """Bytes from the batch with an offset on, below a position; None if there is no such batch.

        The first batch comes whole even if it is larger than was asked for.
        """
        found = self._find(offset)
        if found is None:
            return None
        end = self.size_bytes if end_position is None else min(end_position, self.size_bytes)
        size_bytes = min(max(bytes_max, found.size_bytes), end - found.position)
        return Slice(self._log(), found.position, max(0, size_bytes))

    def find_timestamp(self, timestamp: int, offset_min: int) -> TimestampOffset | None:
        """The first record at or past a time, and at or past an offset."""
        self._answer(self._check_times)
        times = self._answer(lambda: self._indexes.times.find_start(timestamp, self._find_late))
        found = self._find(max(times.offset, offset_min))
        file = self._log_if_any()
        while found is not None:
            span = (found.position, self.size_bytes)
            found = find_batch(file, span, offset_min, timestamp)
            if found is None:
                break
            batch = self._read_batch(found)
            record = find_record(batch, timestamp, offset_min, self._options.inflated_bytes_max)
            if record is not None:
                return TimestampOffset(record.timestamp, record.offset)
            offset_min = found.last_offset + 1
        return None

    def aborted(
        self, first_offset: int, end_offset: int, replay: Replay | None = None
    ) -> Overlapping:
        """The aborted transactions with records between two offsets, the second exclusive.

        With `replay`, which must begin where the segment does, an index that lies is made anew.
        """
        try:
            return self._checked_aborted(first_offset, end_offset)
        except LyingIndex as lie:
            if replay is None:
                raise
            self.rebuilt.append(str(lie))
            self._replay_transactions(replay)
            return self._checked_aborted(first_offset, end_offset)

    def runs(self, position: int = 0, end_position: int | None = None) -> Runs:
        """The batches from a position on, in runs."""
        end = self.size_bytes if end_position is None else min(end_position, self.size_bytes)
        return Runs(self._log() if position < end else None, position, end)

    def seal(self) -> None:
        """Make it a segment that is no longer appended to: its last time gets its entry."""
        _ = self.latest
        self._is_changed = True
        self._finish()

    def truncate_to(self, offset: int) -> int:
        """Cut off the batch that holds an offset and all after it; give how many bytes went."""
        found = self._find(offset)
        if found is None:
            return 0
        self._answer(lambda: self._indexes.truncate_to(offset))
        self.transactions.truncate_to(offset)
        cut_bytes = self.size_bytes - found.position
        self._cut(found.position)
        self._first_timestamp = self._next_offset = None
        self._is_changed = False
        self._begin_changes()
        return cut_bytes

    def recover(self, replay: Replay, *, cuts: bool = True) -> Recovered:
        """Check all that the file holds, make the indexes anew, and cut at the first bad byte.

        What good batches say is replayed, so that what is known of producers and epochs is made
        anew too. Without `cuts` no file is touched: what is no batch is left behind `size_bytes`,
        and the entries wait in memory for `accept`.
        """
        file = self._log(create=True)
        file_bytes = file.size()
        self._indexes.clear()
        self.transactions.entries.clear()
        self._is_changed = True
        self._is_synced = False  # Nobody knows what of it is on the device.
        self._first_timestamp = None
        self._next_offset = self.base_offset
        self.size_bytes = 0
        stop = self._recover_runs(file, file_bytes, replay)
        recovered = Recovered(file_bytes - self.size_bytes, stop)
        if cuts:
            self.accept(recovered)
        return recovered

    def accept(self, recovered: Recovered) -> None:
        """Let the file end at the last good batch, and write the entries if there is room."""
        if recovered.cut_bytes:
            self._cut(self.size_bytes)
        try:
            self.write_entries()
        except OSError as fault:
            if fault.errno not in DISK_FULL:
                raise

    def write_entries(self) -> None:
        """Write the entries that wait."""
        self._indexes.write()
        self.transactions.entries.write()

    def unsynced_batches(self) -> list[File]:
        """The file of the batches, if some of them are not on the device."""
        return [] if self._is_synced else [self._log()]

    def unsynced(self) -> list[File]:
        """The files that are not on the device, when all entries are written.

        The batches come first, so that no entry there names what is not.
        """
        file = self.transactions.entries.unsynced()
        found = [*self.unsynced_batches(), *self._indexes.unsynced()]
        return found if file is None else [*found, file]

    def note_sync(self, *, only_batches: bool = False) -> None:
        """What is not on the device is brought there by the caller, or its directory is lost."""
        self._is_synced = True
        if not only_batches:
            for entries in (*self._indexes.files, self.transactions.entries):
                entries.note_sync()

    def sync(self) -> None:
        """Bring the batches to the device, and then what finds them."""
        self.write_entries()
        files = self.unsynced()
        self.note_sync()
        for file in files:
            file.sync()

    def close(self) -> None:
        """Give all files back, as another process may find them."""
        if self._is_changed:
            _ = self.latest
            self._finish()
        self._handles.drop(self._path)
        for entries in (*self._indexes.files, self.transactions.entries):
            entries.forget()

    def abandon(self) -> None:
        """Give all files back as they are, since they are to go: nothing is written any more."""
        self._is_changed = False
        self._handles.drop(self._path)
        for entries in (*self._indexes.files, self.transactions.entries):
            entries.abandon()

    def paths(self) -> list[str]:
        """The files that there are, the one of the batches first."""
        entries = (*self._indexes.files, self.transactions.entries)
        paths = [self._path, *(one.path for one in entries)]
        return [path for path in paths if self._handles.disk.status(path) is not None]

    def change_suffix(self, old: str, new: str) -> None:
        """Rename its files.

        The file of the batches gets its final name last, and loses it first: where it is, there is
        the whole segment. If it fails on the way, it can be done again.
        """
        assert self.suffix == old, f"{self._path}: its suffix is not {old}"
        there = set(self.paths())
        if new and self._path in there:
            self._rename_log(f"{self.stem}.log{new}")
        named = ("index", "timeindex", "txnindex")
        files = (*self._indexes.files, self.transactions.entries)
        for name, entries in zip(named, files, strict=True):
            entries.move(f"{self.stem}.{name}{new}", exists=entries.path in there)
        if not new:
            self._rename_log(f"{self.stem}.log")
        self.suffix = new

    def remove(self) -> None:
        """Remove its files, the one of the batches last: what is left can be removed again."""
        for entries in (*self._indexes.files, self.transactions.entries):
            self._handles.remove(entries.path)
        self._handles.remove(self._path)

    def _log(self, *, create: bool = False) -> File:
        return self._handles.open(self._path, create=create)

    def _log_if_any(self) -> File | None:
        return self._log() if self.size_bytes else None

    def _rename_log(self, path: str) -> None:
        if path != self._path:
            self._handles.rename(self._path, path)
            self._path = path

    def _new_indexes(self) -> SegmentIndexes:
        names = (f"{self.stem}.index{self.suffix}", f"{self.stem}.timeindex{self.suffix}")
        sizes = (self._options.index_interval_bytes, self._options.index_bytes_max)
        return SegmentIndexes(self._handles, names, self.base_offset, sizes)

    def _start(self, offset: int) -> int:
        """From where on to walk to an offset."""
        return self._answer(lambda: self._proven_start(offset))

    def _check_times(self) -> None:
        """Notice that the times are missing, which would only make each look-up slow."""
        offsets, times = self._indexes.files
        is_missing = not len(times) and len(offsets) and (self.first_timestamp or 0) >= 0
        if is_missing and not self.rebuilt:
            raise LyingIndex(f"{times.path}: it has no entries")

    def _proven_start(self, offset: int) -> int:
        offsets = self._indexes.offsets
        if self.size_bytes - offsets.last.position > UNINDEXED_BYTES_MAX and not self.rebuilt:
            raise LyingIndex(f"{offsets.entries.path}: its last entry is {offsets.last}")
        return offsets.find_start(self._log_if_any(), self.size_bytes, offset)

    def _find(self, offset: int, timestamp: int = INT64_MIN) -> Found | None:
        """The first batch that ends at or past an offset and reaches a time."""
        span = (self._start(offset), self.size_bytes)
        return find_batch(self._log_if_any(), span, offset, timestamp)

    def _find_late(self, offset: int, timestamp: int) -> Found | None:
        return self._find(offset, timestamp)

    def _later_than(self, latest: TimestampOffset) -> TimestampOffset:
        """The largest time, where none before that of an entry is larger than it."""
        found: Found | None = self._find(latest.offset)
        file = self._log_if_any()
        while found is not None:
            span = (found.position, self.size_bytes)
            found = find_batch(file, span, 0, latest.timestamp + 1)
            if found is not None:
                latest = TimestampOffset(found.max_timestamp, found.last_offset)
        return latest

    def _answer(self, question: Callable[[], _Answer]) -> _Answer:
        """Ask the indexes; if one lies, make both anew and ask again."""
        try:
            return question()
        except LyingIndex as lie:
            self._rebuild(str(lie))
            return question()

    def _rebuild(self, reason: str) -> None:
        """Make the indexes anew from the headers of all batches, or raise where those end.

        What could be wrong with a batch besides its header is not looked at. A disk without room
        keeps the entries waiting in memory, and look-ups going.
        """
        indexes = self._new_indexes()
        indexes.clear()
        runs = self.runs()
        for run in runs:
            indexes.note(run.rows, run.position)
        self._check_end(runs)
        self.rebuilt.append(reason)
        self._indexes = indexes
        self._is_changed = True
        try:
            indexes.finish()
        except OSError as fault:
            if fault.errno not in DISK_FULL:
                raise

    def _check_end(self, runs: Runs) -> None:
        """Raise where a walk ended that should have met only batches."""
        if runs.end.stop is not Stop.END:
            raise no_batch(runs.end.position, runs.end.stop)

    def _begin_changes(self) -> None:
        """Know what an append builds on, before it changes anything."""
        _ = self.latest, self.next_offset(), self.is_full, len(self.transactions.entries)
        self._is_changed = True

    def _write_pages(self) -> None:
        self._indexes.write_pages()
        if self.transactions.entries.has_page:
            self.transactions.entries.write_page()

    def _finish(self) -> None:
        """Leave the files as they are to be found: with all entries, and no more room than that."""
        self._indexes.finish()
        self.transactions.entries.write()
        if self._is_allocated:
            self._cut(self.size_bytes)
        self._is_changed = False

    def _cut(self, size_bytes: int) -> None:
        self._is_synced = False
        self._log().truncate(size_bytes)
        self.size_bytes = size_bytes
        self._is_allocated = False

    def _recover_runs(self, file: File, file_bytes: int, replay: Replay) -> Stop:
        """Index and replay good batches, up to where they end, which is the segment's size then."""
        checked = self._indexes.check()
        runs = Runs(file, 0, file_bytes, walk=checked.walk)
        for run in runs:
            self._next_offset = checked.end_offset
            self.size_bytes = run.position + len(run.data)
            for aborted in replay(run.data, run.rows):
                self.transactions.append(aborted)
        self._indexes.take(checked)
        return runs.end.stop

    def _checked_aborted(self, first_offset: int, end_offset: int) -> Overlapping:
        found = self.transactions.overlapping(first_offset, end_offset)
        for one in found.transactions:
            if not aborted_check.is_in_log(one, self.base_offset, self._batch_at):
                raise LyingIndex(f"{self.transactions.entries.path}: {one} is not in the log")
        return found

    def _replay_transactions(self, replay: Replay) -> None:
        """Make the transaction index anew."""
        entries: list[AbortedTransaction] = []
        runs = self.runs()
        for run in runs:
            entries += replay(run.data, run.rows)
        self._check_end(runs)
        self.transactions.entries.clear()
        for aborted in entries:
            self.transactions.append(aborted)
        self.transactions.entries.write()

    def _batch_at(self, offset: int) -> bytes | None:
        found = self._find(offset)
        return None if found is None else self._read_batch(found)

    def _read_batch(self, found: Found) -> bytes:
        return self._log().read(found.position, found.size_bytes)
