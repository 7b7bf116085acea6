"""Gzip: one or more members, one after the other."""

import zlib
from collections.abc import Iterator
from typing import Final

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.fields import Buffer

# What zlib calls a gzip stream with the largest window.
_GZIP: Final = 31
_MEMBER_START: Final = b"\x1f\x8b\x08"
# No member is shorter than 20 bytes; the Java client does not look at less after the first one.
_MEMBER_BYTES_MIN: Final = 19
# What comes out is taken in pieces, since the library needs twice the memory of one.
_PIECE_BYTES: Final = 1 << 20
_FIRST_STEP_BYTES: Final = 16 * 1024
# After the first member input is fed in small steps, since zlib copies what a member leaves over:
# given at once, a megabyte of empty members would be copied fifty thousand times.
_STEP_BYTES: Final = 1024


def compress(data: Buffer, level: int) -> bytes:
    """Write one member."""
    stream = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    return stream.compress(data) + stream.flush()


def decompress(data: Buffer, limit_bytes: int) -> bytes:
    """Read all members; what follows the last and does not begin like one is ignored."""
    return b"".join(_pieces(memoryview(data), limit_bytes))


def decompress_into(data: Buffer, out: memoryview) -> int:
    """Read all members into a buffer."""
    total = 0
    for piece in _pieces(memoryview(data), len(out)):
        out[total : total + len(piece)] = piece
        total += len(piece)
    return total


def _pieces(view: memoryview, limit_bytes: int) -> Iterator[bytes]:
    """The content of all members, at most so many bytes."""
    position, total, step_bytes = 0, 0, _FIRST_STEP_BYTES
    while position == 0 or _is_member(view, position):
        for piece, end in _member(view, position, step_bytes):
            total += len(piece)
            if total > limit_bytes:
                raise LimitExceeded(f"gzip: more than {limit_bytes} bytes come out")
            position = end
            yield piece
        step_bytes = _STEP_BYTES


def _is_member(view: memoryview, position: int) -> bool:
    return (
        len(view) - position >= _MEMBER_BYTES_MIN
        and bytes(view[position : position + 3]) == _MEMBER_START
    )


def _member(view: memoryview, position: int, step_bytes: int) -> Iterator[tuple[bytes, int]]:
    """The pieces of one member, each with the position that it was read up to."""
    stream = zlib.decompressobj(_GZIP)
    piece = b""
    while not stream.eof:
        data: Buffer = stream.unconsumed_tail
        if not data:
            data = view[position : position + step_bytes]
            # Where a piece was full, more of it may come out without more input.
            if not data and len(piece) < _PIECE_BYTES:
                raise Truncated("a gzip member is cut off", len(view))
            position += len(data)
        try:
            piece = stream.decompress(data, _PIECE_BYTES)
        except zlib.error as fault:
            raise InvalidValue(f"no valid gzip member: {fault}") from fault
        yield piece, position - len(stream.unused_data)
