"""A file of entries of one size that only rise: what the three indexes of a segment are made of.

Nothing of it is kept in memory but how many entries there are and the last one, so memory does not
grow with the log. The file is opened at its first use: a log of thousands of segments opens none.

Invariants
  I-IDX-1  Entries rise by their first number; the file's length is a multiple of theirs.
  I-IDX-2  An entry is written whole or cut away: the count grows only after the write.
  I-IDX-3  A preallocated file ends in zeros, which are no entries: in a file that rises, only the
           first entry can be all zeros.
"""

from bisect import bisect_right
from struct import Struct
from typing import Final

from ottla.kernels.faults import InvalidValue
from ottla.ports import Disk, File
from ottla.storage.writes import write_all

_PAGE_ENTRIES: Final = 512


class EntryFile:
    """Entries on disk: appended at the end, found by a binary search, cut from the end."""

    def __init__(self, disk: Disk, path: str, layout: Struct) -> None:
        self.path = path
        self._disk = disk
        self._layout = layout
        self._file: File | None = None
        self._count = -1
        self._last: tuple[int, ...] | None = None

    def __len__(self) -> int:
        if self._count < 0:
            self._count = self._entries_on_disk()
            self._last = self[self._count - 1] if self._count else None
        return self._count

    def __getitem__(self, index: int) -> tuple[int, ...]:
        size = self._layout.size
        data = self._opened().read(index * size, size)
        return self._layout.unpack(data)

    @property
    def last(self) -> tuple[int, ...] | None:
        """The last entry, if there is one."""
        return self._last if len(self) else None

    def append(self, *entry: int) -> None:
        """Put an entry at the end."""
        count = len(self)
        data = self._layout.pack(*entry)
        write_all(self._opened(create=True), [data], count * self._layout.size)
        self._count = count + 1
        self._last = entry

    def last_at_or_below(self, target: int, column: int = 0) -> tuple[int, ...] | None:
        """The last entry whose number in a column is at most this; the column must rise."""
        at = self.count_at_or_below(target, column) - 1
        return self[at] if at >= 0 else None

    def count_at_or_below(self, target: int, column: int = 0) -> int:
        """How many entries have a number of at most this in a column; the column must rise."""
        first, end = 0, len(self)
        if self._last is not None and self._last[column] <= target:
            return end
        while end - first > _PAGE_ENTRIES:
            middle = (first + end) // 2
            if self[middle][column] <= target:
                first = middle + 1
            else:
                end = middle
        size = self._layout.size
        page = self._opened().read(first * size, (end - first) * size) if end > first else b""

        def number(index: int) -> int:
            return int(self._layout.unpack_from(page, index * size)[column])

        return first + bisect_right(range(end - first), target, key=number)

    def truncate(self, count: int) -> None:
        """Keep only the first so many entries."""
        if count < len(self):
            self._opened().truncate(count * self._layout.size)
            self._count = count
            self._last = self[count - 1] if count else None

    def clear(self) -> None:
        """Remove every entry, whatever the file holds."""
        if self._disk.status(self.path) is not None:
            self._opened().truncate(0)
        self._count = 0
        self._last = None

    def trim(self) -> None:
        """Cut the zeros that a preallocated file ends in."""
        status = self._disk.status(self.path)
        if status is not None and status.size_bytes != len(self) * self._layout.size:
            self._opened().truncate(len(self) * self._layout.size)

    def sync(self) -> None:
        """Bring what was written to the device."""
        if self._file is not None:
            self._file.sync()

    def close(self) -> None:
        """Give the file back; the next use opens it again."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, *, create: bool = False) -> File:
        if self._file is None:
            self._file = self._disk.open(self.path, create=create)
        return self._file

    def _entries_on_disk(self) -> int:
        """How many entries the file holds without the zeros at its end (I-IDX-1, I-IDX-3)."""
        status = self._disk.status(self.path)
        if status is None or status.size_bytes == 0:
            return 0
        count, over = divmod(status.size_bytes, self._layout.size)
        if over:
            raise InvalidValue(f"{self.path}: {status.size_bytes} bytes are no whole entries")
        first, end = 1, count
        while first < end:
            middle = (first + end) // 2
            if any(self[middle]):
                first = middle + 1
            else:
                end = middle
        return 0 if first == 1 and not any(self[0]) else first
