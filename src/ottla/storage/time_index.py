"""From which offset on records of a time may lie: `<base offset>.timeindex`.

An entry says that no record up to an offset has a later time than its own; it is the largest time
met so far and the last offset of the batch that has it. Both rise. At roll a last entry is added,
whatever was appended since.
"""

from collections.abc import Callable
from struct import Struct
from typing import Final, NamedTuple, TypeAlias

from ottla.kernels.faults import InvalidValue
from ottla.storage.entries import EntryFile, LyingIndex
from ottla.storage.handles import Handles
from ottla.storage.search import Found

LAYOUT: Final = Struct(">qi")

FirstBatch: TypeAlias = Callable[[int, int], Found | None]
"""Gives the first batch of the log that ends at or past an offset and reaches a time."""


class TimestampOffset(NamedTuple):
    """A time, and the last offset of the batch that brought it."""

    timestamp: int
    offset: int


class TimeIndex:
    """The time index of one segment."""

    __slots__ = ("base_offset", "entries", "entries_max")

    def __init__(self, handles: Handles, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries = EntryFile(handles, path, LAYOUT)
        self.entries_max = bytes_max // LAYOUT.size

    @property
    def is_full(self) -> bool:
        """Is the one entry left that the roll will need?"""
        return self.entries.count >= self.entries_max - 1

    @property
    def last(self) -> TimestampOffset:
        """The latest time; -1 at the base offset if there is no entry."""
        return self._absolute(self.entries.last)

    def append(self, timestamp: int, offset: int) -> None:
        """Add a time; one that is not later than the last adds nothing."""
        last = self.entries.last
        if last is None or timestamp > last[0]:
            if last is None and timestamp < 0:
                return
            relative = offset - self.base_offset
            assert last is None or relative >= last[1], f"offset {offset} goes back"
            self.entries.append(timestamp, relative)
        else:
            assert timestamp == last[0], f"time {timestamp} goes back"

    def find(self, timestamp: int) -> TimestampOffset:
        """The last entry at or before a time; the segment's beginning if there is none."""
        return self._absolute(self.entries.last_at_or_below(timestamp))

    def find_start(self, timestamp: int, first_batch: FirstBatch) -> TimestampOffset:
        """The last entry at or before a time, proven by the log itself."""
        at = self.entries.count_at_or_below(timestamp) - 1
        if at >= 0:
            self._prove(at, first_batch)
        return self._absolute(self.entries[at] if at >= 0 else None)

    def find_last(self, first_batch: FirstBatch) -> TimestampOffset:
        """The last entry, proven by the log itself."""
        count = len(self.entries)
        if count:
            self._prove(count - 1, first_batch)
        return self.last

    def _prove(self, at: int, first_batch: FirstBatch) -> None:
        """Hold an entry against the log: behind the entry before, its batch is the first so late.

        So if the entry before holds, this one does; a single one that is wrong is always noticed.
        """
        entry = self._absolute(self.entries[at])
        before = self._absolute(self.entries[at - 1] if at else None)
        offset_min = before.offset + 1 if at else self.base_offset
        if entry.timestamp > before.timestamp and entry.offset >= offset_min:
            try:
                found = first_batch(offset_min, entry.timestamp)
            except LyingIndex:
                raise
            except InvalidValue:
                found = None
            if (
                found is not None
                and found.max_timestamp == entry.timestamp
                and found.base_offset <= entry.offset <= found.last_offset
            ):
                return
        raise LyingIndex(f"{self.entries.path}: {entry} is not in the log")

    def truncate_to(self, offset: int) -> None:
        """Forget times that come from an offset or from past it."""
        self.entries.truncate(self.entries.count_at_or_below(offset - self.base_offset - 1, 1))

    def check(self) -> None:
        """Raise what is wrong, as far as an index shows it by itself."""
        last = self.entries.last
        if last is None:
            return
        if last[1] < 0:
            raise LyingIndex(f"{self.entries.path}: its last offset is below the base offset")
        if last[0] < self.entries[0][0]:
            raise LyingIndex(f"{self.entries.path}: its last time is before its first")

    def _absolute(self, entry: tuple[int, ...] | None) -> TimestampOffset:
        if entry is None:
            return TimestampOffset(-1, self.base_offset)
        return TimestampOffset(entry[0], self.base_offset + entry[1])
