"""Clean one log: take in the keys of its dirty part, then write each group of segments anew.

    plan     the log's thread  `plan_cleaning`
    fill     any thread        the map; then the end of the clean part and the groups are known
    write    any thread        one group's new segment, brought to the device as `.cleaned` files
    swap     several           `Replacement`: the new segment takes the place of the group's

The long steps are work that can be done piece by piece, on another thread each: it gives the bytes
of what it came to, and goes on when it is asked for more.

Then the next group is written and swapped, in the order of their offsets. When all are, the caller
notes `end_offset` in the checkpoint of first dirty offsets: until then they are only cleaned again.

Invariants
  I-CLEAN-9   Groups are swapped in the order of their offsets, each one whole and on the device. So
              a tombstone never goes before the records that it is for.
  I-CLEAN-10  What fails or is cancelled before a swap leaves the log as it was, and no file behind
              unless the disk does not even let it be removed; then a start removes it.
  I-CLEAN-11  Until a group is swapped its segments stay in the log, or the group is given up.
"""

from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from ottla.kernels.compaction import OffsetMap
from ottla.kernels.faults import LimitExceeded
from ottla.records.batch import DELETE_HORIZON_BIT
from ottla.records.scan import BatchRow, Stop, scan
from ottla.storage.cleaning.filling import filling
from ottla.storage.cleaning.pace import Pace, unhurried
from ottla.storage.cleaning.plan import CleaningPlan, sound_runs
from ottla.storage.cleaning.sieve import Sieve
from ottla.storage.log import Log
from ottla.storage.offset_index import INT32_MAX
from ottla.storage.partition_files import Removal
from ottla.storage.replacement import Replacement
from ottla.storage.segment import Segment
from ottla.wire.fields import Buffer

POSITION_MAX = INT32_MAX
"""An index knows no place in a segment behind this."""
Work: TypeAlias = Generator[int]


class Cancelled(Exception):
    """A cleaning was told to stop, or its segments left the log; nothing of the log was changed."""


@dataclass(slots=True)
class Outcome:
    """What a cleaning did so far."""

    read_bytes: int = 0
    kept_bytes: int = 0
    read_records: int = 0
    kept_records: int = 0
    next_horizon_ms: int | None = None
    """When the first of the tombstones and markers that stayed may go."""


class Cleaning:
    """One cleaning; its methods are called one after the other, `cancel` at any time."""

    def __init__(self, plan: CleaningPlan, keys: OffsetMap, pace: Pace = unhurried) -> None:
        """The map must be empty, with a secret of its own."""
        assert len(keys) == 0, "a map serves one cleaning"
        self.plan = plan
        self.outcome = Outcome()
        self.groups: list[list[Segment]] = []
        self.end_offset = plan.first_dirty_offset
        self.written: Segment | None = None
        """What the last work of writing a group has made."""
        self._unfinished: Segment | None = None
        self._keys = keys
        self._pace = pace
        self._sieve = Sieve(plan, keys)
        self.is_cancelled = False
        self._messages_horizon_ms = 0

    def cancel(self) -> None:
        """Stop at the next batch; any thread may say so."""
        self.is_cancelled = True

    def fill(self) -> None:
        """Do all the work of `filling`, at the pace that was given."""
        self._do(self.filling())

    def write(self, group: Sequence[Segment]) -> Segment:
        """Do all the work of `writing`, at the pace that was given."""
        self._do(self.writing(group))
        assert self.written is not None, "it is done"
        return self.written

    def _do(self, work: Work) -> None:
        try:
            for size_bytes in work:
                self._pace(size_bytes)
        finally:
            work.close()
            self.discard_unfinished()

    def filling(self) -> Work:
        """Take in the keys, and know what to write. Raises `Corrupt`, `Malformed`, `Cancelled`."""
        try:
            yield from self._unless_cancelled(filling(self.plan, self._keys))
        except FileNotFoundError as gone:
            # Retention let go of it, and by now its file too.
            raise Cancelled from gone
        self.end_offset = self._keys.latest_offset + 1
        self.groups = self.plan.groups(self.end_offset)
        clean = [
            one.segment
            for one in self.plan.segments
            if one.segment.base_offset < self.plan.first_dirty_offset
        ]
        if clean:
            retention_ms = self.plan.options.delete_retention_ms
            self._messages_horizon_ms = clean[-1].modified_ms() - retention_ms

    def writing(self, group: Sequence[Segment]) -> Work:
        """Write what stays of some segments as one that is not part of the log yet.

        Raises `LimitExceeded` besides, where small messages of magic 0 and 1 grow so much that one
        segment cannot hold them.
        """
        self.written = None
        base_offset = group[0].base_offset
        new = self.plan.files.cleaned_segment(base_offset, self.plan.options.segment)
        self._unfinished = new
        try:
            for segment in group:
                yield from self._unless_cancelled(self._sift(segment, new))
        except FileNotFoundError as gone:
            # Retention let go of it, and by now its file too.
            raise Cancelled from gone
        new.seal()
        new.sync()
        new.close()
        # For messages without a time of their own the file's counts, and it tells their age.
        new.set_modified(group[-1].modified_ms())
        self.written, self._unfinished = new, None

    def discard_unfinished(self) -> None:
        """Remove what the work of writing left, if it is not to be gone on with."""
        if self._unfinished is not None:
            discard(self._unfinished)
            self._unfinished = None

    def _unless_cancelled(self, sizes: Iterable[int]) -> Work:
        for size_bytes in sizes:
            if self.is_cancelled:
                raise Cancelled
            yield size_bytes

    def _sift(self, segment: Segment, new: Segment) -> Work:
        """Write what stays of one segment."""
        modified_ms = segment.modified_ms()
        self._sieve.begin_segment(keeps_messages_tombstones=modified_ms > self._messages_horizon_ms)
        for run in sound_runs(segment):
            yield len(run.data)
            self.outcome.read_bytes += len(run.data)
            self.outcome.read_records += _records(run.rows)
            yield from self._append(new, self._sieve.sift(run))
            for aborted in self._sieve.met.take_retained():
                new.transactions.append(aborted)

    def _append(self, new: Segment, parts: list[Buffer]) -> Work:
        if not parts:
            return
        size_bytes = sum(map(len, parts))
        if new.size_bytes + size_bytes > POSITION_MAX:
            raise LimitExceeded(f"{new.stem} grows larger than a segment can be", new.size_bytes)
        rows: list[BatchRow] = []
        for part in parts:
            position = 0
            while position < len(part):
                found = scan(part, position)
                assert found.stop in {Stop.END, Stop.FULL}, "what was written is batches"
                rows += found.rows
                position = found.end_position
        new.append(parts, rows)
        self.outcome.kept_bytes += size_bytes
        self.outcome.kept_records += _records(rows)
        horizons = [row.base_timestamp for row in rows if row.attributes & DELETE_HORIZON_BIT]
        if horizons:
            before = self.outcome.next_horizon_ms
            self.outcome.next_horizon_ms = min(horizons if before is None else [*horizons, before])
        yield size_bytes


def swap(log: Log, group: Sequence[Segment], new: Segment) -> Removal:
    """Let a new segment take the place of a group's, all steps one after the other."""
    begun = begin_swap(log, group, new)
    removal = begun.exchange()
    begun.settle()
    begun.finish()
    begun.settle()
    return removal


def begin_swap(log: Log, group: Sequence[Segment], new: Segment) -> Replacement:
    """Say that a new segment is whole, or leave no file of it; only on the log's thread."""
    if not all(segment in log.segments for segment in group):
        discard(new)
        raise Cancelled
    replacement = Replacement(log, [new], group)
    try:
        replacement.stage()
    except OSError:
        discard(new)
        raise
    return replacement


def discard(new: Segment) -> None:
    """Remove the files of a segment that did not become part of the log."""
    with suppress(OSError):
        new.remove()


def clean(log: Log, cleaning: Cleaning) -> list[Removal]:
    """Do a whole cleaning on one thread; the old files are still to be removed."""
    cleaning.fill()
    return [swap(log, group, cleaning.write(group)) for group in cleaning.groups]


def _records(rows: Sequence[BatchRow]) -> int:
    """How many records batches hold; a wrapper of magic 0 or 1 counts for one."""
    return sum(row.records_count if row.magic == 2 else 1 for row in rows)
