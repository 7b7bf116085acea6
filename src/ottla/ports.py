"""What a node needs of the world: a disk to keep logs on.

A port speaks of bytes and files only, never of records. `runtime` has the real one, `sim` one that
fails and forgets as disks do. Whatever a disk cannot do is an `OSError` with its number (`EIO`,
`ENOSPC`, ...): what that means for a log is decided by `storage`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What a disk knows of a file without opening it."""

    size_bytes: int
    modified_ms: int
    is_folder: bool


class File(Protocol):
    """An open file. It keeps no position: the caller knows where it reads and writes.

    What was written can be read at once, and survives the end of the process; it survives a power
    cut only after `sync`. A `sync` that fails is final: what it should have kept may be gone, and
    trying again proves nothing.

    It closes when it is told to, or when nobody refers to it any more.
    """

    @property
    def descriptor(self) -> int | None:
        """The number that the operating system knows it by, for sendfile; None if there is none."""
        ...

    def write(self, parts: Sequence[Buffer], position: int) -> int:
        """Write parts one after the other; give how many bytes went, which may be too few."""
        ...

    def read(self, position: int, count: int) -> bytes:
        """Read at most so many bytes; fewer only at the end of the file."""
        ...

    def read_into(self, position: int, buffer: bytearray | memoryview) -> int:
        """Fill a buffer; give how many bytes came, too few only at the end of the file."""
        ...

    def size(self) -> int:
        """How many bytes it has."""
        ...

    def truncate(self, size_bytes: int) -> None:
        """Cut it, or lengthen it by zeros that take no room."""
        ...

    def allocate(self, size_bytes: int) -> None:
        """Lengthen it by zeros that have their room already; never cuts."""
        ...

    def start_writeback(self, position: int, count: int) -> None:
        """Begin to bring bytes to the device, without waiting, so that a later `sync` is short."""
        ...

    def sync(self) -> None:
        """Wait until the bytes and the size are on the device."""
        ...

    def close(self) -> None:
        """Give the file back; nothing is synced by that."""
        ...


class FileLock(Protocol):
    """A lock on a file that ends with the process at the latest."""

    def release(self) -> None:
        """Let others have it."""
        ...


class Disk(Protocol):
    """Files and folders by path. A name is on the device only after `sync_folder` of its folder."""

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        """Open a file; `create` makes it if there is none, and leaves it as it is if there is."""
        ...

    def status(self, path: str) -> FileStatus | None:
        """What is known of a file or folder; None if there is none."""
        ...

    def set_modified(self, path: str, modified_ms: int) -> None:
        """Let a file have been modified last at a time; the next change of it counts anew."""
        ...

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted."""
        ...

    def make_folder(self, path: str) -> None:
        """Make a folder in one that exists; no error if it is there."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Give a file or folder another name in one step; a file of that name is replaced."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, or a folder that is empty; no error if there is none."""
        ...

    def sync_folder(self, path: str) -> None:
        """Wait until the names in a folder are on the device."""
        ...

    def free_bytes(self, path: str) -> int:
        """How much room is left where a path lies."""
        ...

    def lock(self, path: str) -> FileLock | None:
        """Lock a file, making it if need be; None if another process has it."""
        ...
