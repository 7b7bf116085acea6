"""Write all of something, or fail."""

import errno
from collections.abc import Sequence
from typing import Final

from ottla.ports import Buffer, File

DISK_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""What a disk says that has no room, and is otherwise well."""


class DiskFull(OSError):
    """Something was refused whole for want of room; once there is room it can be asked again."""

    def __init__(self, path: str, fault: OSError) -> None:
        super().__init__(fault.errno, f"{path}: {fault.strerror}")


def write_all(file: File, parts: Sequence[Buffer], position: int) -> int:
    """Write parts one after the other, however often the disk stops short; give where they end.

    A disk that is full writes what fits and fails at the next try, so that its own error comes out.
    What was written until then stays behind the end that the caller knows.
    """
    end = position + sum(map(len, parts))
    written = file.write(parts, position)
    if position + written < end:
        _write_rest(file, parts, position, written)
    return end


def _write_rest(file: File, parts: Sequence[Buffer], position: int, written: int) -> None:
    """Go on after a write that stopped short."""
    end = position + sum(map(len, parts))
    left = list(parts)
    while position + written < end:
        position += written
        while left and written >= len(left[0]):
            written -= len(left.pop(0))
        if written:
            left[0] = memoryview(left[0])[written:]
        written = file.write(left, position)


def write_or_cut(file: File, parts: Sequence[Buffer], position: int) -> int:
    """Write all at the end of a file, or leave it as long as it was; give where the parts end.

    What a write that failed left behind must not lie there when the next, shorter one ends within
    it. If it cannot even be cut off, that is the error: nobody knows then what the file holds.
    """
    size_bytes = len(parts[0]) if len(parts) == 1 else sum(map(len, parts))
    try:
        written = file.write(parts, position)
        if written < size_bytes:
            _write_rest(file, parts, position, written)
    except OSError:
        file.truncate(position)
        raise
    return position + size_bytes
