"""Small files of a log directory: each is there whole or not at all, and is read whole.

A new content is written beside the old one, brought to the device, and given the name in one step;
then the name is brought to the device. So after a power cut at any moment the file is the old one
or the new one (I-FILE-1), and once `replace_file` returns it is the new one (I-FILE-2).
"""

from collections.abc import Callable
from contextlib import closing, suppress
from errno import EIO
from typing import Final, TypeVar

from ottla.kernels.faults import LimitExceeded, Malformed, Truncated
from ottla.ports import Disk

FILE_BYTES_MAX: Final = 256 << 20
"""More than Kafka would read: a checkpoint of a million partitions with the longest names."""
TEMPORARY_SUFFIX: Final = ".tmp"

_T = TypeVar("_T")


def read_file(disk: Disk, path: str, parse: Callable[[bytes], _T]) -> _T | None:
    """Read a file and give what it says; None if there is none.

    Raises what `parse` raises, with the file's path as the place.
    """
    if disk.status(path) is None:
        return None
    try:
        return parse(_content(disk, path))
    except Malformed as fault:
        fault.path.append(path)
        raise


def replace_file(disk: Disk, path: str, content: bytes) -> None:
    """Let a file have this content and no other, whether it was there or not."""
    temporary = path + TEMPORARY_SUFFIX
    try:
        _write(disk, temporary, content)
        disk.rename(temporary, path)
    except OSError:
        # What is left over is in nobody's way, but where a disk is full its room counts.
        with suppress(OSError):
            disk.remove(temporary)
        raise
    disk.sync_folder(folder_of(path))


def remove_file(disk: Disk, path: str) -> None:
    """Let there be no file of this name, also after a power cut."""
    disk.remove(path)
    disk.sync_folder(folder_of(path))


def folder_of(path: str) -> str:
    """The folder in which a file lies."""
    folder, slash, _ = path.rpartition("/")
    return folder or slash or "."


def _content(disk: Disk, path: str) -> bytes:
    with closing(disk.open(path, read_only=True)) as file:
        size_bytes = file.size()
        if size_bytes > FILE_BYTES_MAX:
            raise LimitExceeded(f"{size_bytes} bytes, where {FILE_BYTES_MAX} are read at most")
        content = file.read(0, size_bytes)
    if len(content) != size_bytes:
        raise Truncated(f"{len(content)} bytes came of {size_bytes}")
    return content


def _write(disk: Disk, path: str, content: bytes) -> None:
    with closing(disk.open(path, create=True)) as file:
        file.truncate(0)
        written = 0
        while written < len(content):
            count = file.write([memoryview(content)[written:]], written)
            if count <= 0:
                raise OSError(EIO, "the disk took no bytes and said no reason", path)
            written += count
        file.sync()
