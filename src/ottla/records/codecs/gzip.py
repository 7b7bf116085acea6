"""Gzip: one or more members, one after the other."""

import zlib
from typing import Final

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.fields import Buffer

# What zlib calls a gzip stream with the largest window.
_GZIP: Final = 31
_MEMBER_START: Final = b"\x1f\x8b\x08"
# No member is shorter than 20 bytes; the Java client does not look at less after the first one.
_MEMBER_BYTES_MIN: Final = 19
# Input is fed in steps, so that what one of them can yield, a thousand times as much, stays small.
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
    view = memoryview(data)
    output, position = _member(view, limit_bytes, _FIRST_STEP_BYTES)
    if not _is_member(view, position):
        return output
    parts, total = [output], len(output)
    while _is_member(view, position):
        output, size = _member(view[position:], limit_bytes - total, _STEP_BYTES)
        position += size
        total += len(output)
        parts.append(output)
    return b"".join(parts)


def decompress_into(data: Buffer, out: memoryview) -> int:
    """Read all members into a buffer."""
    output = decompress(data, len(out))
    out[: len(output)] = output
    return len(output)


def _is_member(view: memoryview, position: int) -> bool:
    return (
        len(view) - position >= _MEMBER_BYTES_MIN
        and bytes(view[position : position + 3]) == _MEMBER_START
    )


def _member(view: memoryview, limit_bytes: int, step_bytes: int) -> tuple[bytes, int]:
    """Read one member; give its content and its size."""
    stream = zlib.decompressobj(_GZIP)
    parts: list[bytes] = []
    total = position = 0
    while not stream.eof:
        if position >= len(view):
            raise Truncated("a gzip member is cut off", len(view))
        try:
            output = stream.decompress(
                view[position : position + step_bytes], limit_bytes - total + 1
            )
        except zlib.error as fault:
            raise InvalidValue(f"no valid gzip member: {fault}") from fault
        position += step_bytes
        total += len(output)
        if total > limit_bytes:
            raise LimitExceeded(f"gzip: more than {limit_bytes} bytes come out")
        parts.append(output)
    size = min(position, len(view)) - len(stream.unused_data)
    return parts[0] if len(parts) == 1 else b"".join(parts), size
