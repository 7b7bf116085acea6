"""The disk of the operating system: each call of the port is one call, or a few, of `os`.

An error comes up as it is. Only a call that a signal interrupted is made again, which Python does
by itself; above all a `sync` that failed is never tried again here.
"""

import ctypes
import errno
import fcntl
import os
import stat
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Final, NoReturn

from ottla.ports import Buffer, FileStatus

_PARTS_MAX: Final = os.sysconf("SC_IOV_MAX")
_ABSENT: Final = (FileNotFoundError, NotADirectoryError)
_WRITE_BACK: Final = 2
# What a kernel or a file system says that knows no early write-back, which is then done without.
_UNKNOWN: Final = {errno.ENOSYS, errno.ESPIPE, errno.EINVAL, errno.EOPNOTSUPP}

if sys.platform == "darwin":

    def _sync(descriptor: int) -> None:
        """Wait for the device itself: `fsync` there waits only until the device has heard."""
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
        except OSError as fault:
            # A network's file system may know only the weaker call.
            if fault.errno not in {errno.ENOTSUP, errno.EINVAL}:
                raise
            os.fsync(descriptor)

    def _allocate(descriptor: int, size_bytes: int) -> None:
        """Ask for room behind the end, then move the end: the call of POSIX is not there."""
        missing = size_bytes - os.fstat(descriptor).st_size
        if missing <= 0:
            return
        prealloc, all_or_nothing, from_the_end = 42, 4, 3
        wish = struct.pack("=Iiqqq", all_or_nothing, from_the_end, 0, missing, 0)
        fcntl.fcntl(descriptor, prealloc, wish)
        os.ftruncate(descriptor, size_bytes)

else:
    # The size is brought to the device as well: without it the bytes could not be found again.
    _sync: Final[Callable[[int], None]] = getattr(os, "fdatasync", os.fsync)

    def _allocate(descriptor: int, size_bytes: int) -> None:
        os.posix_fallocate(descriptor, 0, size_bytes)


@cache
def _write_back_call() -> Callable[[int, int, int, int], int] | None:
    """Linux's `sync_file_range`, which `os` does not have; None where there is none."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        call = ctypes.CDLL(None, use_errno=True).sync_file_range
    except AttributeError:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint]
    call.restype = ctypes.c_int
    return call


def _refuse(number: int, path: str | None = None) -> NoReturn:
    raise OSError(number, os.strerror(number), path)


def _check_position(position: int) -> None:
    # The calls with many parts take -1 for the position that the file itself keeps.
    if position < 0:
        _refuse(errno.EINVAL)


class SystemFile:
    """A file that the operating system has opened; it closes with its last user at the latest."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @property
    def descriptor(self) -> int | None:
        return self._descriptor

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        if position < 0:
            _check_position(position)
        if len(parts) <= _PARTS_MAX:
            return os.pwritev(self._descriptor, parts, position)
        written = 0
        for first in range(0, len(parts), _PARTS_MAX):
            some = parts[first : first + _PARTS_MAX]
            try:
                count = os.pwritev(self._descriptor, some, position + written)
            except OSError:
                # As the kernel does within one call: what went is told first, the error next time.
                if written:
                    return written
                raise
            written += count
            if count < sum(map(len, some)):
                break
        return written

    def read(self, position: int, count: int) -> bytes:
        first = os.pread(self._descriptor, count, position)
        if len(first) == count or not first:
            return first
        # The kernel may give less than is there, and the port may not.
        buffer = bytearray(count)
        buffer[: len(first)] = first
        rest = self.read_into(position + len(first), memoryview(buffer)[len(first) :])
        return bytes(buffer[: len(first) + rest])

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        _check_position(position)
        view = memoryview(buffer)
        filled = 0
        while True:
            count = os.preadv(self._descriptor, [view[filled:]], position + filled)
            filled += count
            # The system is asked even to fill nothing, since it knows whether the file is open.
            if count == 0 or filled == len(view):
                return filled

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def truncate(self, size_bytes: int) -> None:
        os.ftruncate(self._descriptor, size_bytes)

    def allocate(self, size_bytes: int) -> None:
        if size_bytes == 0:
            # The system's call refuses a length of zero; all that can be wrong is the file.
            self.size()
        else:
            _allocate(self._descriptor, size_bytes)

    def start_writeback(self, position: int, count: int) -> None:
        call = _write_back_call()
        # A count of zero would mean everything up to the end.
        if call is None or count == 0:
            return
        while call(self._descriptor, position, count, _WRITE_BACK):
            number = ctypes.get_errno()
            if number in _UNKNOWN:
                return
            if number != errno.EINTR:
                _refuse(number)

    def sync(self) -> None:
        if self._descriptor < 0:
            _refuse(errno.EBADF)
        _sync(self._descriptor)

    def close(self) -> None:
        # The number may be given to another file at once, so it is forgotten first.
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


class SystemLock:
    """A lock of the kind that ends with its open file, so also with the process."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


class SystemDisk:
    """Files and folders of the operating system."""

    __slots__ = ()
    file_kind: ClassVar[type[SystemFile]] = SystemFile

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> SystemFile:
        how = os.O_RDONLY if read_only else os.O_RDWR
        descriptor = os.open(path, how | (os.O_CREAT if create else 0) | os.O_CLOEXEC, 0o644)
        if read_only and stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            _refuse(errno.EISDIR, path)
        return self.file_kind(descriptor)

    def status(self, path: str) -> FileStatus | None:
        try:
            found = os.stat(path)  # noqa: PTH116  A third of the cost, and logs have many files.
        except _ABSENT:
            return None
        is_folder = stat.S_ISDIR(found.st_mode)
        # What a folder takes itself differs from one file system to the next, and means nothing.
        size_bytes = 0 if is_folder else found.st_size
        return FileStatus(size_bytes, found.st_mtime_ns // 1_000_000, is_folder)

    def set_modified(self, path: str, modified_ms: int) -> None:
        modified_ns = modified_ms * 1_000_000
        os.utime(path, ns=(modified_ns, modified_ns))

    def names(self, folder: str) -> list[str]:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)

    def make_folder(self, path: str) -> None:
        try:
            Path(path).mkdir()
        except FileExistsError:
            if not Path(path).is_dir():
                raise

    def rename(self, old: str, new: str) -> None:
        Path(old).rename(new)

    def remove(self, path: str) -> None:
        try:
            if stat.S_ISDIR(Path(path).lstat().st_mode):
                Path(path).rmdir()
            else:
                Path(path).unlink()
        except _ABSENT:
            return

    def sync_folder(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def free_bytes(self, path: str) -> int:
        found = os.statvfs(path)
        return found.f_bavail * found.f_frsize

    def lock(self, path: str) -> SystemLock | None:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The kind that Java's file locks are of: the other kind does not see them.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            os.close(descriptor)
            return None
        except OSError:
            os.close(descriptor)
            raise
        return SystemLock(descriptor)
