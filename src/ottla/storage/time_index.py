"""From which offset on records of a time may lie: `<base offset>.timeindex`.

An entry says that no record up to an offset has a later time than its own; it is the largest time
met so far and the last offset of the batch that has it. Both rise. At roll a last entry is added,
whatever was appended since.
"""

from struct import Struct
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue
from ottla.storage.entries import EntryFile
from ottla.storage.handles import Handles

LAYOUT: Final = Struct(">qi")


class TimestampOffset(NamedTuple):
    """A time, and the last offset of the batch that brought it."""

    timestamp: int
    offset: int


class TimeIndex:
    """The time index of one segment."""

    def __init__(self, handles: Handles, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries = EntryFile(handles, path, LAYOUT)
        self.entries_max = bytes_max // LAYOUT.size

    @property
    def is_full(self) -> bool:
        """Is the one entry left that the roll will need?"""
        return len(self.entries) >= self.entries_max - 1

    @property
    def last(self) -> TimestampOffset:
        """The latest time; -1 at the base offset if there is no entry."""
        last = self.entries.last
        if last is None:
            return TimestampOffset(-1, self.base_offset)
        return TimestampOffset(last[0], self.base_offset + last[1])

    def append(self, timestamp: int, offset: int, *, is_roll: bool = False) -> None:
        """Add a time; one that is not later than the last adds nothing."""
        last = self.entries.last
        assert is_roll or not self.is_full, self.entries.path
        assert last is None or offset >= self.base_offset + last[1], f"offset {offset} goes back"
        assert last is None or timestamp >= last[0], f"time {timestamp} goes back"
        if timestamp > (last[0] if last else -1):
            self.entries.append(timestamp, offset - self.base_offset)

    def find(self, timestamp: int) -> TimestampOffset:
        """The last entry at or before a time; the segment's beginning if there is none."""
        entry = self.entries.last_at_or_below(timestamp)
        if entry is None:
            return TimestampOffset(-1, self.base_offset)
        return TimestampOffset(entry[0], self.base_offset + entry[1])

    def truncate_to(self, offset: int) -> None:
        """Forget times that come from an offset or from past it."""
        self.entries.truncate(self.entries.count_at_or_below(offset - self.base_offset - 1, 1))

    def check(self) -> None:
        """Raise what is wrong, as far as an index shows it by itself."""
        last = self.entries.last
        if last is None:
            return
        if last[1] < 0:
            raise InvalidValue(f"{self.entries.path}: its last offset is below the base offset")
        if last[0] < self.entries[0][0]:
            raise InvalidValue(f"{self.entries.path}: its last time is before its first")
