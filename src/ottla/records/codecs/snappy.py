"""Snappy: written in the block framing of the Java client, read in that framing or bare.

The framing is a header of 16 bytes, then blocks with their size in front, each compressed alone.
Streams may follow one another, so the header may come again where a block's size is due.
"""

import struct
from collections.abc import Iterator
from typing import Final

import cramjam

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.fields import Buffer

_MAGIC: Final = b"\x82SNAPPY\0"
_HEADER: Final = _MAGIC + struct.pack(">ii", 1, 1)
_BLOCK_BYTES: Final = 32 * 1024
_SIZE: Final = struct.Struct(">i")
# Three bytes of input can name a copy of 64 bytes; nothing in the format yields more.
_RATIO_MAX: Final = 22


def compress(data: Buffer, level: int) -> bytes:
    """Write blocks of 32 KiB; snappy has no levels."""
    del level
    view = memoryview(data)
    parts: list[Buffer] = [_HEADER]
    for start in range(0, len(view), _BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _BLOCK_BYTES]))
        parts += (_SIZE.pack(len(block)), block)
    return b"".join(parts)


def decompress(data: Buffer, limit_bytes: int) -> bytes:
    """Read either form."""
    view = memoryview(data)
    out = bytearray(_total_bytes(view, limit_bytes))
    _decompress_blocks(view, memoryview(out))
    return bytes(out)


def decompress_into(data: Buffer, out: memoryview) -> int:
    """Read either form into a buffer."""
    view = memoryview(data)
    total = _total_bytes(view, len(out))
    _decompress_blocks(view, out)
    return total


def _total_bytes(view: memoryview, limit_bytes: int) -> int:
    """What all blocks say they hold, checked against the limit before any is read."""
    total = 0
    for _, size in _blocks(view):
        total += size
        if total > limit_bytes:
            raise LimitExceeded(f"snappy: more than {limit_bytes} bytes come out")
    return total


def _blocks(view: memoryview) -> Iterator[tuple[memoryview, int]]:
    """Find each block and what it says it holds.

    One at a time: a list of blocks that are all tiny would take fifty times the bytes given.
    """
    for block in _framed(view) if bytes(view[:8]) == _MAGIC and len(view) >= 16 else [view]:
        yield block, _content_bytes(block)


def _framed(view: memoryview) -> Iterator[memoryview]:
    """Cut framed input into blocks; like the Java client, up to three bytes may be left over."""
    position = len(_HEADER)
    while len(view) - position >= _SIZE.size:
        if bytes(view[position : position + 4]) == _MAGIC[:4]:
            position += len(_HEADER)
            continue
        (size,) = _SIZE.unpack_from(view, position)
        position += _SIZE.size
        if size <= 0:
            raise InvalidValue(f"a snappy block of {size} bytes", position)
        if size > len(view) - position:
            raise Truncated(f"a snappy block of {size} bytes is cut off", position)
        yield view[position : position + size]
        position += size


def _content_bytes(block: memoryview) -> int:
    """What a block says it holds; more than its bytes could yield is refused at once."""
    try:
        size = cramjam.snappy.decompress_raw_len(block)
    except cramjam.DecompressionError as fault:
        raise InvalidValue(f"no valid snappy block: {fault}") from fault
    if size > _RATIO_MAX * len(block):
        raise InvalidValue(f"a snappy block of {len(block)} bytes cannot hold {size}")
    return size


def _decompress_blocks(view: memoryview, out: memoryview) -> None:
    position = 0
    for block, size in _blocks(view):
        try:
            written = cramjam.snappy.decompress_raw_into(block, out[position : position + size])
        except cramjam.DecompressionError as fault:
            raise InvalidValue(f"no valid snappy block: {fault}") from fault
        if written != size:
            raise InvalidValue(f"a snappy block holds {written} bytes and says {size}")
        position += size
