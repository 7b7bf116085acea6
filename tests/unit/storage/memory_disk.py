"""A disk in memory that notes what is asked of it, and fails once when it is told to.

It is what the tests of small files need of a disk, no more; any other `Disk` may take its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from errno import EIO, ENOENT

from ottla.ports import Buffer, File, FileLock, FileStatus


@dataclass
class MemoryDisk:
    """Files by path. The call of number `fails_at` fails; writes take at most `write_bytes_max`."""

    files: dict[str, bytearray] = field(default_factory=dict)
    fails_at: int = 0
    write_bytes_max: int = 1 << 30
    calls: list[tuple[str, str]] = field(default_factory=list)

    def note(self, call: str, path: str) -> None:
        self.calls.append((call, path))
        if len(self.calls) == self.fails_at:
            raise OSError(EIO, "told to fail", path)

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        self.note("open", path)
        if path not in self.files:
            if not create:
                raise FileNotFoundError(ENOENT, "no such file", path)
            self.files[path] = bytearray()
        return MemoryFile(self, path)

    def status(self, path: str) -> FileStatus | None:
        self.note("status", path)
        content = self.files.get(path)
        return None if content is None else FileStatus(len(content), 0, is_folder=False)

    def rename(self, old: str, new: str) -> None:
        self.note("rename", new)
        self.files[new] = self.files.pop(old)

    def remove(self, path: str) -> None:
        self.note("remove", path)
        self.files.pop(path, None)

    def sync_folder(self, path: str) -> None:
        self.note("sync_folder", path)

    def names(self, folder: str) -> list[str]:
        raise NotImplementedError

    def make_folder(self, path: str) -> None:
        raise NotImplementedError

    def free_bytes(self, path: str) -> int:
        raise NotImplementedError

    def lock(self, path: str) -> FileLock | None:
        raise NotImplementedError


@dataclass
class MemoryFile:
    """An open file."""

    disk: MemoryDisk
    path: str
    descriptor: int | None = None

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        self.disk.note("write", self.path)
        data = b"".join(parts)[: self.disk.write_bytes_max]
        self.disk.files[self.path][position : position + len(data)] = data
        return len(data)

    def read(self, position: int, count: int) -> bytes:
        self.disk.note("read", self.path)
        return bytes(self.disk.files[self.path][position : position + count])

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        raise NotImplementedError

    def size(self) -> int:
        self.disk.note("size", self.path)
        return len(self.disk.files[self.path])

    def truncate(self, size_bytes: int) -> None:
        self.disk.note("truncate", self.path)
        del self.disk.files[self.path][size_bytes:]

    def allocate(self, size_bytes: int) -> None:
        raise NotImplementedError

    def start_writeback(self, position: int, count: int) -> None:
        raise NotImplementedError

    def sync(self) -> None:
        self.disk.note("sync", self.path)

    def close(self) -> None:
        self.disk.note("close", self.path)
