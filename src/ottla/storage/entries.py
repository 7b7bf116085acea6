"""A file of entries of one size that only rise: what the three indexes of a segment are made of.

New entries wait in memory until there is a page of them, or until they are asked to be written, so
an append costs no call for them; every look-up sees them. What waits is lost with the process,
and is made anew by the recovery of the segment, which nobody skips unless the entries were written.

Of what is written nothing is kept in memory but how many entries there are and the last one. The
file is opened at its first use: a log of thousands of segments opens none.

Invariants
  I-IDX-1  Entries rise by their first number; the file's length is a multiple of theirs.
  I-IDX-2  Entries are written whole or cut away: they leave the memory only after the write, and a
           write that failed is cut off.
  I-IDX-3  A preallocated file ends in zeros, which are no entries: in a file that rises, only the
           first entry can be all zeros.
  I-IDX-4  Entries that are made anew and that the file holds already stay there: they may be on the
           device, and no power cut may find them gone.
"""

from bisect import bisect_right
from struct import Struct
from typing import Final

from ottla.kernels.faults import InvalidValue
from ottla.ports import File
from ottla.storage.handles import Handles
from ottla.storage.writes import write_or_cut

PAGE_BYTES: Final = 4096


class LyingIndex(InvalidValue):
    """An index whose entries are not those of its log; it can be made anew from that."""


class EntryFile:
    """Entries on disk: appended at the end, found by a binary search, cut from the end."""

    __slots__ = (
        "_count",
        "_handles",
        "_is_allocated",
        "_is_stale",
        "_is_synced",
        "_last",
        "_layout",
        "_waiting",
        "has_new_name",
        "has_page",
        "path",
    )

    def __init__(
        self, handles: Handles, path: str, layout: Struct, *, is_allocated: bool = True
    ) -> None:
        """Know a file; `is_allocated`: it may have been given room before its entries."""
        self.path = path
        self.has_new_name = False  # May the file be new, and its name not on the device?
        self._handles = handles
        self._layout = layout
        self._is_allocated = is_allocated
        self._count = -1
        self._waiting = bytearray()
        self._last: tuple[int, ...] | None = None
        self._is_stale = False  # What the file holds behind the written is to be made anew.
        self._is_synced = True
        self.has_page = False
        """Do so many entries wait that they should be written? A field, as each append asks."""

    def __len__(self) -> int:
        if self._count < 0:
            count = self._entries_on_disk()
            self._last = self._read(count - 1) if count else None
            self._count = count
        return self._count

    @property
    def count(self) -> int:
        """How many entries there are; as `len`, which costs more."""
        return self._count if self._count >= 0 else len(self)

    def __getitem__(self, index: int) -> tuple[int, ...]:
        assert 0 <= index < len(self), f"{self.path}: no entry {index}"
        in_memory = index - self._written
        if in_memory >= 0:
            return self._layout.unpack_from(self._waiting, in_memory * self._layout.size)
        return self._read(index)

    @property
    def last(self) -> tuple[int, ...] | None:
        """The last entry, if there is one."""
        if self._count < 0:
            len(self)
        return self._last

    @property
    def _written(self) -> int:
        """How many of the entries are in the file."""
        return self._count - len(self._waiting) // self._layout.size

    def append(self, *entry: int) -> None:
        """Put an entry at the end."""
        if self._count < 0:
            len(self)
        self._count += 1
        self._waiting += self._layout.pack(*entry)
        self.has_page = len(self._waiting) >= PAGE_BYTES
        self._last = entry

    def write(self) -> None:
        """Write what waits; if that fails, it goes on waiting."""
        self.write_page()
        if self._is_stale and self._exists():
            self._cut(self._count)
        self._is_stale = False

    def write_page(self) -> None:
        """The same, while there may be more to come of what the file holds already."""
        if self._is_stale and self._exists():
            self._pass_over_same()
        if self._waiting:
            position = self._written * self._layout.size
            file = self._opened(create=True)
            self._is_synced = False
            self.has_new_name |= position == 0
            write_or_cut(file, [self._waiting], position)
            self._wait_for_none()

    def _pass_over_same(self) -> None:
        """Leave alone what the file holds already, up to the first entry that differs (I-IDX-4)."""
        size, waiting = self._layout.size, bytes(self._waiting)
        held = self._opened().read(self._written * size, len(waiting))
        same = 0
        while same < len(held) and held[same : same + size] == waiting[same : same + size]:
            same += size
        if same:
            # Whoever wrote it may have ended before it brought it to the device.
            self._is_synced = False
            self.has_new_name = True
            del self._waiting[:same]
            self.has_page = len(self._waiting) >= PAGE_BYTES
        if self._waiting:
            self._cut(self._written)
            self._is_stale = False

    def last_at_or_below(self, target: int, column: int = 0) -> tuple[int, ...] | None:
        """The last entry whose number in a column is at most this; the column must rise."""
        at = self.count_at_or_below(target, column) - 1
        return self[at] if at >= 0 else None

    def count_at_or_below(self, target: int, column: int = 0) -> int:
        """How many entries have a number of at most this in a column; the column must rise."""
        first, end = 0, len(self)
        if self._last is not None and self._last[column] <= target:
            return end
        size = self._layout.size
        page_entries = PAGE_BYTES // size
        while end - first > page_entries:
            middle = (first + end) // 2
            if self[middle][column] <= target:
                first = middle + 1
            else:
                end = middle
        page = self._bytes(first, end)

        def number(index: int) -> int:
            return int(self._layout.unpack_from(page, index * size)[column])

        return first + bisect_right(range(end - first), target, key=number)

    def truncate(self, count: int) -> None:
        """Keep only the first so many entries."""
        if count >= len(self):
            return
        last = self[count - 1] if count else None
        if count < self._written:
            self._cut(count)
            self._wait_for_none()
        else:
            del self._waiting[(count - self._written) * self._layout.size :]
            self.has_page = len(self._waiting) >= PAGE_BYTES
        self._count = count
        self._last = last

    def clear(self) -> None:
        """Forget every entry; of what the file holds goes what is not made anew."""
        self._is_stale = True
        self._count = 0
        self._wait_for_none()
        self._last = None

    def fill(self, entries: bytearray) -> None:
        """Hold these entries and no others; they are the file's own from now on."""
        self.clear()
        self._waiting = entries
        self._count = len(entries) // self._layout.size
        if self._count:
            self._last = self._layout.unpack_from(entries, len(entries) - self._layout.size)

    def trim(self) -> None:
        """Write what waits, and cut the zeros that a preallocated file ends in."""
        count = len(self)
        self.write()
        if self._exists() and self._opened().size() != count * self._layout.size:
            self._cut(count)

    def make(self) -> None:
        """Have a file, be it without entries."""
        self._opened(create=True)

    def unsynced(self) -> File | None:
        """The file, if something was written to it that is not on the device."""
        return None if self._is_synced else self._opened()

    def note_sync(self) -> None:
        """What was written is brought to the device by the caller."""
        self._is_synced = True
        self.has_new_name = False

    def move(self, path: str, *, exists: bool) -> None:
        """Go on under another name, which the file gets if there is one."""
        if exists:
            self._handles.rename(self.path, path)
        self.path = path

    def forget(self) -> None:
        """Forget what is known of the file, which is as it should be."""
        assert not self._waiting, f"{self.path}: entries were not written"
        assert not self._is_stale, f"{self.path}: what it holds was not replaced"
        self._handles.drop(self.path)
        self._count = -1
        self._last = None

    def abandon(self) -> None:
        """Forget what waits as well, since the file is to go."""
        self._wait_for_none()
        self._is_stale = False
        self.forget()

    def _wait_for_none(self) -> None:
        self._waiting = bytearray()
        self.has_page = False

    def _opened(self, *, create: bool = False) -> File:
        return self._handles.open(self.path, create=create)

    def _exists(self) -> bool:
        return self._handles.disk.status(self.path) is not None

    def _cut(self, count: int) -> None:
        """Cut the file to so many entries."""
        self._is_synced = False
        self._opened().truncate(count * self._layout.size)

    def _read(self, index: int) -> tuple[int, ...]:
        """An entry of the file."""
        size = self._layout.size
        data = self._opened().read(index * size, size)
        if len(data) < size:
            raise LyingIndex(f"{self.path}: it became shorter", index * size)
        return self._layout.unpack(data)

    def _bytes(self, first: int, end: int) -> bytes:
        """Entries that follow one another, from the file and from memory."""
        size, written = self._layout.size, self._written
        data = b""
        if first < min(end, written):
            count = (min(end, written) - first) * size
            data = self._opened().read(first * size, count)
            if len(data) < count:
                raise LyingIndex(f"{self.path}: it became shorter", first * size + len(data))
        if end > written:
            start = max(first - written, 0) * size
            data += self._waiting[start : (end - written) * size]
        return data

    def _entries_on_disk(self) -> int:
        """How many entries the file holds without the zeros at its end (I-IDX-1, I-IDX-3)."""
        status = self._handles.disk.status(self.path)
        if status is None or status.size_bytes == 0:
            return 0
        count, over = divmod(status.size_bytes, self._layout.size)
        if over:
            raise LyingIndex(f"{self.path}: {status.size_bytes} bytes are no whole entries")
        first, end = 1, count
        if any(self._read(count - 1)):
            return count
        if not self._is_allocated:
            raise LyingIndex(f"{self.path}: its last entry is all zeros")
        while first < end:
            middle = (first + end) // 2
            if any(self._read(middle)):
                first = middle + 1
            else:
                end = middle
        return 0 if first == 1 and not any(self._read(0)) else first
