"""The disk of one log directory, which goes offline for good at the first sign that it is broken.

A disk that failed once may have lost what it took before, and may answer wrongly from now on. So
nobody asks it again: what lies on it is offline until the process starts anew.

Invariants
  I-WATCH-1  A sync or a start of write-back that fails, for whatever reason, takes the directory
             offline: what it should have kept may be gone, and no later sync would say so.
  I-WATCH-2  Of the other calls those do that fail for a reason that lies with the device. No room,
             a name that is not there or cannot be, and the process's own limits are no such reason.
  I-WATCH-3  Once offline, every call raises `DirectoryOffline` and reaches no disk; only closing
             and releasing still do what they should, and never fail.
"""

import errno
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from ottla.ports import Buffer, Disk, File, FileLock, FileStatus

NOT_THE_DEVICE: Final = frozenset(
    {
        # There is no room, which deleting mends.
        errno.ENOSPC, errno.EDQUOT, errno.EFBIG,
        # The name is not there, is there, or cannot be.
        errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY,
        errno.ENAMETOOLONG, errno.EXDEV,
        # The process asked for too much, or for nonsense.
        errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN, errno.EINVAL,
        errno.EBADF, errno.EBUSY,
    }
)  # fmt: skip
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


class DirectoryOffline(OSError):
    """A log directory is not used any more, since its disk failed."""

    def __init__(self, directory: str, fault: OSError) -> None:
        super().__init__(fault.errno, f"{directory} is offline: {fault}")
        self.directory = directory
        self.fault = fault


class Watch:
    """Whether a directory is offline, and why."""

    __slots__ = ("directory", "fault")

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.fault: OSError | None = None

    def check(self) -> None:
        """Raise if the directory is offline."""
        if self.fault is not None:
            raise DirectoryOffline(self.directory, self.fault)

    def judge(self, fault: OSError, *, is_final: bool = False) -> None:
        """Hear of a call that failed; raise if the directory is offline now."""
        if self.fault is None and (is_final or fault.errno not in NOT_THE_DEVICE):
            self.fault = fault
        self.check()


class WatchedFile:
    """An open file in a log directory."""

    __slots__ = ("_file", "_watch")

    def __init__(self, file: File, watch: Watch) -> None:
        self._file = file
        self._watch = watch

    @property
    def descriptor(self) -> int | None:
        self._watch.check()
        return self._file.descriptor

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        if self._watch.fault is not None:
            self._watch.check()
        try:
            return self._file.write(parts, position)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def read(self, position: int, count: int) -> bytes:
        if self._watch.fault is not None:
            self._watch.check()
        try:
            return self._file.read(position, count)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        if self._watch.fault is not None:
            self._watch.check()
        try:
            return self._file.read_into(position, buffer)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def size(self) -> int:
        self._watch.check()
        try:
            return self._file.size()
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def truncate(self, size_bytes: int) -> None:
        self._watch.check()
        try:
            self._file.truncate(size_bytes)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def allocate(self, size_bytes: int) -> None:
        self._watch.check()
        try:
            self._file.allocate(size_bytes)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def start_writeback(self, position: int, count: int) -> None:
        if self._watch.fault is not None:
            self._watch.check()
        try:
            self._file.start_writeback(position, count)
        except OSError as fault:
            self._watch.judge(fault, is_final=True)
            raise

    def sync(self) -> None:
        self._watch.check()
        try:
            self._file.sync()
        except OSError as fault:
            self._watch.judge(fault, is_final=True)
            raise

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as fault:
            with suppress(DirectoryOffline):
                self._watch.judge(fault)


class WatchedLock:
    """A lock in a log directory."""

    __slots__ = ("_lock",)

    def __init__(self, lock: FileLock) -> None:
        self._lock = lock

    def release(self) -> None:
        with suppress(OSError):
            self._lock.release()


class WatchedDisk:
    """A disk as far as one log directory uses it."""

    __slots__ = ("_disk", "_watch")

    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._watch = Watch(directory)

    @property
    def fault(self) -> OSError | None:
        """What took the directory offline; None while it is live."""
        return self._watch.fault

    def judge(self, fault: OSError, *, is_final: bool = False) -> None:
        """Hear of a call that was made past this disk, as sendfile is, and failed.

        Raises `DirectoryOffline` if that takes the directory offline, or it is already.
        """
        self._watch.judge(fault, is_final=is_final)

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> WatchedFile:
        self._watch.check()
        try:
            file = self._disk.open(path, create=create, read_only=read_only)
        except OSError as fault:
            self._watch.judge(fault)
            raise
        return WatchedFile(file, self._watch)

    def status(self, path: str) -> FileStatus | None:
        self._watch.check()
        try:
            return self._disk.status(path)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def set_modified(self, path: str, modified_ms: int) -> None:
        self._watch.check()
        try:
            self._disk.set_modified(path, modified_ms)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def names(self, folder: str) -> list[str]:
        self._watch.check()
        try:
            return self._disk.names(folder)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def make_folder(self, path: str) -> None:
        self._watch.check()
        try:
            self._disk.make_folder(path)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def rename(self, old: str, new: str) -> None:
        self._watch.check()
        try:
            self._disk.rename(old, new)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def remove(self, path: str) -> None:
        self._watch.check()
        try:
            self._disk.remove(path)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def sync_folder(self, path: str) -> None:
        self._watch.check()
        try:
            self._disk.sync_folder(path)
        except OSError as fault:
            # Where there is no folder, nothing was brought anywhere, and nothing was lost.
            self._watch.judge(fault, is_final=fault.errno not in _ABSENT)
            raise

    def free_bytes(self, path: str) -> int:
        self._watch.check()
        try:
            return self._disk.free_bytes(path)
        except OSError as fault:
            self._watch.judge(fault)
            raise

    def lock(self, path: str) -> WatchedLock | None:
        self._watch.check()
        try:
            lock = self._disk.lock(path)
        except OSError as fault:
            self._watch.judge(fault)
            raise
        return None if lock is None else WatchedLock(lock)
