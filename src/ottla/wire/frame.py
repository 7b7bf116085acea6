"""Frames: on a connection every message has its length in front, as four bytes.

Nothing is copied: a frame is a pair of positions in the buffer that the connection reads into.
"""

from struct import Struct
from typing import Final

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.fields import Buffer

SIZE_BYTES: Final = 4
_SIZE: Final = Struct(">i")


def frame_end(data: Buffer, start: int, end: int, frame_bytes_max: int) -> int | None:
    """Where the frame that begins at `start` ends, or None while its length has not come whole.

    The answer may lie past `end`, the bytes received so far: then the reader knows how many are to
    come. A length that no peer may send is an error as soon as its four bytes are there.
    """
    if end - start < SIZE_BYTES:
        return None
    size: int = _SIZE.unpack_from(data, start)[0]
    if size < 0:
        raise InvalidValue(f"a frame of {size} bytes", start)
    if size > frame_bytes_max:
        raise LimitExceeded(f"a frame of {size} bytes, and {frame_bytes_max} are allowed", start)
    return start + SIZE_BYTES + size


def request_identity(frame: Buffer) -> tuple[int, int, int]:
    """The API key, version and correlation id that begin every request, whatever its version.

    They are read before the header, since they say which version of the header follows.
    """
    if len(frame) < 8:
        raise Truncated(f"a request of {len(frame)} bytes has no header", 0)
    key = int.from_bytes(frame[0:2], "big", signed=True)
    version = int.from_bytes(frame[2:4], "big", signed=True)
    return key, version, int.from_bytes(frame[4:8], "big", signed=True)
