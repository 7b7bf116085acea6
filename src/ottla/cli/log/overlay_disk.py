"""A disk over another one that is only read: what is written stays in memory.

So that what would be done to a log can be told by doing it. A file that is written is held whole,
and one that is only cut is not: logs are cut, and the small files beside them are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from errno import EACCES, ENOENT
from os import strerror
from typing import NamedTuple, NoReturn

from ottla.ports import Buffer, Disk, File, FileLock, FileStatus
from ottla.storage.small_files import folder_of


@dataclass(slots=True, eq=False)
class _Content:
    """What a file holds: the front of one below, or bytes of its own."""

    below: str
    size_bytes: int
    data: bytearray | None = None


class Change(NamedTuple):
    """A file that would be other than it is; a size is None where there is no file."""

    path: str
    size_before: int | None
    size_after: int | None


class OverlayFile:
    """An open file."""

    def __init__(self, content: _Content, below: File | None) -> None:
        self._content = content
        self._below = below

    @property
    def descriptor(self) -> int | None:
        return None

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        data, whole = self._own(), b"".join(parts)
        if len(data) < position:
            data += bytes(position - len(data))
        data[position : position + len(whole)] = whole
        self._content.size_bytes = len(data)
        return len(whole)

    def read(self, position: int, count: int) -> bytes:
        data = self._content.data
        if data is not None:
            return bytes(data[position : position + count])
        count = max(0, min(count, self._content.size_bytes - position))
        return self._below.read(position, count) if self._below and count else b""

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        view = memoryview(buffer)
        count = max(0, min(len(view), self._content.size_bytes - position))
        if self._content.data is None and self._below is not None:
            return self._below.read_into(position, view[:count])
        view[:count] = self.read(position, count)
        return count

    def size(self) -> int:
        return self._content.size_bytes

    def truncate(self, size_bytes: int) -> None:
        content = self._content
        if content.data is None and size_bytes <= content.size_bytes:
            content.size_bytes = size_bytes
            return
        data = self._own()
        del data[size_bytes:]
        data += bytes(size_bytes - len(data))
        content.size_bytes = size_bytes

    def allocate(self, size_bytes: int) -> None:
        if size_bytes > self._content.size_bytes:
            self.truncate(size_bytes)

    def start_writeback(self, position: int, count: int) -> None:
        """There is no device."""

    def sync(self) -> None:
        """There is no device."""

    def close(self) -> None:
        if self._below is not None:
            self._below.close()

    def _own(self) -> bytearray:
        content = self._content
        if content.data is None:
            content.data = bytearray(self.read(0, content.size_bytes))
        return content.data


class OverlayDisk:
    """The disk; it serves the files of folders that are there below."""

    def __init__(self, below: Disk) -> None:
        self._below = below
        self._files: dict[str, _Content | None] = {}  # None: it is gone.

    def changes(self) -> list[Change]:
        """The files that would be other than they are, by name."""
        found: list[Change] = []
        for path, content in sorted(self._files.items()):
            before = self._below.status(path)
            size_before = None if before is None else before.size_bytes
            size_after = None if content is None else content.size_bytes
            if size_before != size_after or (content is not None and self._differs(path, content)):
                found.append(Change(path, size_before, size_after))
        return found

    def _differs(self, path: str, content: _Content) -> bool:
        """Has a file of the same size other bytes?"""
        if content.data is None:
            return content.below != path
        file = self._below.open(path, read_only=True)
        try:
            return file.read(0, content.size_bytes) != bytes(content.data)
        finally:
            file.close()

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> OverlayFile:
        content = self._content(path)
        if content is None:
            if not create:
                _refuse(ENOENT, path)
            content = _Content("", 0, bytearray())
        if not read_only:
            self._files[path] = content
        below = self._below.open(content.below, read_only=True) if content.data is None else None
        return OverlayFile(content, below)

    def status(self, path: str) -> FileStatus | None:
        below = self._below.status(path)
        if path not in self._files:
            return below
        content = self._files[path]
        if content is None:
            return None
        return FileStatus(content.size_bytes, below.modified_ms if below else 0, is_folder=False)

    def names(self, folder: str) -> list[str]:
        names = dict.fromkeys(self._below.names(folder))
        for path, content in self._files.items():
            if folder_of(path) == folder:
                name = path.rpartition("/")[2]
                names.pop(name, None)
                if content is not None:
                    names[name] = None
        return sorted(names)

    def make_folder(self, path: str) -> None:
        if self._below.status(path) is None:
            _refuse(EACCES, path)

    def rename(self, old: str, new: str) -> None:
        content = self._content(old)
        if content is None:
            _refuse(ENOENT, old)
        self._files[old], self._files[new] = None, content

    def remove(self, path: str) -> None:
        if self._content(path) is not None:
            self._files[path] = None

    def sync_folder(self, path: str) -> None:
        """There is no device."""

    def free_bytes(self, path: str) -> int:
        return self._below.free_bytes(path)

    def lock(self, path: str) -> FileLock | None:
        _refuse(EACCES, path)

    def _content(self, path: str) -> _Content | None:
        if path in self._files:
            return self._files[path]
        status = self._below.status(path)
        return None if status is None else _Content(path, status.size_bytes)


def _refuse(number: int, path: str) -> NoReturn:
    raise OSError(number, strerror(number), path)
