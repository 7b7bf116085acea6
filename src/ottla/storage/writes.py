"""Write all of something, or fail."""

from collections.abc import Sequence

from ottla.ports import Buffer, File


def write_all(file: File, parts: Sequence[Buffer], position: int) -> int:
    """Write parts one after the other, however often the disk stops short; give where they end.

    A disk that is full writes what fits and fails at the next try, so that its own error comes out.
    What was written until then stays behind the end that the caller knows.
    """
    end = position + sum(len(part) for part in parts)
    left = list(parts)
    while position < end:
        written = file.write(left, position)
        position += written
        while left and written >= len(left[0]):
            written -= len(left.pop(0))
        if written:
            left[0] = memoryview(left[0])[written:]
    return end
