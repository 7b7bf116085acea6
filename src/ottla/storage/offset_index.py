"""Where in a segment's log an offset is: `<base offset>.index`.

An entry is the last offset of a batch, less the segment's base, and the position of that batch;
one is made whenever more than the index interval was appended since the last, so the position found
is at most one interval, and one batch, before the offset that was looked for. Kafka before 4.0
named the last offset of all that was appended at once for the position where that began.
"""

from struct import Struct
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue
from ottla.ports import File
from ottla.storage.entries import EntryFile, LyingIndex
from ottla.storage.handles import Handles
from ottla.storage.search import find_batch

LAYOUT: Final = Struct(">ii")
INT32_MAX: Final = 2**31 - 1


class OffsetPosition(NamedTuple):
    """A batch: an offset that it holds, and where it lies."""

    offset: int
    position: int


class OffsetIndex:
    """The offset index of one segment."""

    __slots__ = ("base_offset", "entries", "entries_max")

    def __init__(self, handles: Handles, path: str, base_offset: int, bytes_max: int) -> None:
        self.base_offset = base_offset
        self.entries = EntryFile(handles, path, LAYOUT)
        self.entries_max = bytes_max // LAYOUT.size

    @property
    def is_full(self) -> bool:
        """Is there no room for another entry?"""
        return self.entries.count >= self.entries_max

    @property
    def last(self) -> OffsetPosition:
        """The last entry; the segment's beginning if there is none."""
        last = self.entries.last
        return self._absolute(last)

    def append(self, offset: int, position: int) -> None:
        """Add a batch; offsets rise, and fit 31 bits from the base."""
        relative = offset - self.base_offset
        last = self.entries.last
        assert not self.is_full, self.entries.path
        assert last is None or relative > last[0], f"{self.entries.path}: offset {offset} not after"
        assert 0 <= relative <= INT32_MAX, f"{self.entries.path}: offset {offset} does not fit"
        self.entries.append(relative, position)

    def find(self, offset: int) -> OffsetPosition:
        """The last entry at or below an offset; the segment's beginning if there is none."""
        return self._absolute(self.entries.last_at_or_below(offset - self.base_offset))

    def find_start(self, file: File | None, size_bytes: int, offset: int) -> int:
        """Where to begin to walk to an offset, proven by the log itself.

        A batch must begin at the entry's position, and the walk from there must meet the end that
        the entry names. Then all that lies before ends below the offset, whatever else is wrong.
        """
        entry = self.find(offset)
        if entry.position == 0:
            return 0
        if 0 < entry.position < size_bytes:
            try:
                found = find_batch(file, (entry.position, size_bytes), entry.offset)
            except InvalidValue:
                found = None
            if found is not None and found.last_offset == entry.offset:
                return entry.position
        raise LyingIndex(f"{self.entries.path}: {entry} is not in the log")

    def truncate_to(self, offset: int) -> None:
        """Forget batches that end at or past an offset."""
        self.entries.truncate(self.entries.count_at_or_below(offset - self.base_offset - 1))

    def check(self) -> None:
        """Raise what is wrong, as far as an index shows it by itself."""
        last = self.entries.last
        if last is not None and (last[0] < 0 or last[1] < 0):
            raise LyingIndex(f"{self.entries.path}: its last entry is negative")

    def _absolute(self, entry: tuple[int, ...] | None) -> OffsetPosition:
        if entry is None:
            return OffsetPosition(self.base_offset, 0)
        return OffsetPosition(self.base_offset + entry[0], entry[1])
