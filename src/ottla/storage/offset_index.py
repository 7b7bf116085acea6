"""Where in a segment's log an offset is: `<base offset>.index`.

An entry is the last offset of a batch, less the segment's base, and the position of that batch;
one is made whenever more than the index interval was appended since the last, so the position found
is at most one interval, and one batch, before the offset that was looked for.
"""

from struct import Struct
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue
from ottla.storage.entries import EntryFile
from ottla.storage.handles import Handles

LAYOUT: Final = Struct(">ii")
INT32_MAX: Final = 2**31 - 1


class OffsetPosition(NamedTuple):
    """A batch: an offset that it holds, and where it lies."""

    offset: int
    position: int


class OffsetIndex:
    """The offset index of one segment."""

    def __init__(self, handles: Handles, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries = EntryFile(handles, path, LAYOUT)
        self.entries_max = bytes_max // LAYOUT.size

    @property
    def is_full(self) -> bool:
        """Is there no room for another entry?"""
        return len(self.entries) >= self.entries_max

    @property
    def last_offset(self) -> int:
        """The last offset that has an entry; the base offset if none has."""
        last = self.entries.last
        return self.base_offset + (last[0] if last else 0)

    def append(self, offset: int, position: int) -> None:
        """Add a batch; offsets rise, and fit 31 bits from the base."""
        relative = offset - self.base_offset
        last = self.entries.last
        assert not self.is_full, self.entries.path
        assert 0 <= relative <= INT32_MAX, f"{self.entries.path}: offset {offset} does not fit"
        assert last is None or relative > last[0], f"{self.entries.path}: offset {offset} not after"
        self.entries.append(relative, position)

    def find(self, offset: int) -> OffsetPosition:
        """The last entry at or below an offset; the segment's beginning if there is none."""
        entry = self.entries.last_at_or_below(offset - self.base_offset)
        if entry is None:
            return OffsetPosition(self.base_offset, 0)
        return OffsetPosition(self.base_offset + entry[0], entry[1])

    def truncate_to(self, offset: int) -> None:
        """Forget batches that end at or past an offset."""
        self.entries.truncate(self.entries.count_at_or_below(offset - self.base_offset - 1))

    def check(self) -> None:
        """Raise what is wrong, as far as an index shows it by itself."""
        last = self.entries.last
        if last is not None and (last[0] < 0 or last[1] < 0):
            raise InvalidValue(f"{self.entries.path}: its last entry is negative")
