"""Read the indexes of a segment from files that nobody vouches for, and seek by them.

An index may lie, so where it points to is looked at before it is believed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import closing
from struct import Struct
from typing import Final

from ottla.cli.log.batches import BATCH_BYTES_MAX
from ottla.cli.log.conditions import Window
from ottla.cli.log.files import LogFile
from ottla.ports import Disk, File
from ottla.records.check import check_copied
from ottla.storage import offset_index, time_index

_PAGE_BYTES: Final = 64 << 10


class Entries:
    """The entries of an index file, without the zeros that a preallocated one ends in."""

    def __init__(self, file: File, layout: Struct) -> None:
        self._file = file
        self._layout = layout
        self.size_bytes = file.size()
        self.entry_bytes = layout.size
        self.left_over_bytes = self.size_bytes % layout.size
        self._count = self._filled(self.size_bytes // layout.size)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> tuple[int, ...]:
        return self._layout.unpack(self._file.read(index * self._layout.size, self._layout.size))

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        size = self._layout.size
        at_once = _PAGE_BYTES // size
        for first in range(0, self._count, at_once):
            count = min(at_once, self._count - first)
            yield from self._layout.iter_unpack(self._file.read(first * size, count * size))

    def _filled(self, count: int) -> int:
        """How many entries come before a tail of zeros; page by page from the end."""
        size = self._layout.size
        at_once = _PAGE_BYTES // size
        while count:
            first = max(0, count - at_once)
            page = self._file.read(first * size, (count - first) * size).rstrip(b"\0")
            if page:
                return first + -(-len(page) // size)
            count = first
        return 0


def start_position(disk: Disk, log: LogFile, window: Window) -> int:
    """From where on a log file may hold what lies in a window: 0 if its indexes do not say."""
    if log.base_offset is None or not log.path.endswith(".log"):
        return 0
    stem = log.path.removesuffix(".log")
    offset = max(window.offset_first, _offset_by_time(disk, f"{stem}.timeindex", log, window))
    if offset <= log.base_offset:
        return 0
    path = f"{stem}.index"
    if disk.status(path) is None:
        return 0
    with closing(disk.open(path, read_only=True)) as file:
        entries = Entries(file, offset_index.LAYOUT)
        relative = offset - log.base_offset
        at = bisect_right(range(len(entries)), relative, key=lambda i: entries[i][0])
        if at == 0:
            return 0
        found_offset, position = entries[at - 1]
    return position if _holds(disk, log, position, log.base_offset + found_offset) else 0


def _offset_by_time(disk: Disk, path: str, log: LogFile, window: Window) -> int:
    """Up to which offset all records are too early, by the time index."""
    if window.from_ms is None or log.base_offset is None or disk.status(path) is None:
        return -1
    from_ms = window.from_ms
    with closing(disk.open(path, read_only=True)) as file:
        entries = Entries(file, time_index.LAYOUT)
        at = bisect_left(range(len(entries)), from_ms, key=lambda i: entries[i][0])
        return log.base_offset + entries[at - 1][1] if at else -1


def _holds(disk: Disk, log: LogFile, position: int, offset: int) -> bool:
    """Does a good batch with an offset lie at a position?"""
    if not 0 <= position < log.size_bytes:
        return False
    with closing(disk.open(log.path, read_only=True)) as file:
        front = file.read(position, 12)
        size = 12 + int.from_bytes(front[8:12], "big")
        if size > min(log.size_bytes - position, BATCH_BYTES_MAX):
            return False
        rows = check_copied(file.read(position, size)).rows
    return bool(rows) and rows[0].base_offset <= offset
