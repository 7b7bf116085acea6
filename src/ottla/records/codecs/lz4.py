"""LZ4 frames with independent blocks, as Kafka's clients write and read them.

Message sets of magic 0 have a frame whose header checksum covers the frame's magic number too, an
old client's mistake that became the format; readers of magic 0 do not look at that byte at all.
A checksum of the whole content, a content size and anything after the frame are not looked at.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

import cramjam

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.kernels.xxh32 import xxh32
from ottla.wire.fields import Buffer

_MAGIC: Final = b"\x04\x22\x4d\x18"
# Version 1 with independent blocks, of at most 64 KiB each, and no checksums.
_HEADER: Final = _MAGIC + b"\x60\x40"
_BLOCK_BYTES: Final = 64 * 1024
_END: Final = bytes(4)
_WORD: Final = struct.Struct("<I")
_STORED: Final = 1 << 31
# Bits of the frame's flags.
_INDEPENDENT: Final = 0x20
_BLOCK_CHECKSUM: Final = 0x10
_CONTENT_SIZE: Final = 0x08
_CONTENT_CHECKSUM: Final = 0x04
# One byte of a block can lengthen a copy by 255 bytes; nothing in the format yields more.
_RATIO_MAX: Final = 255
# The level that Kafka calls the default means the fast compressor, not the ninth of the slow one.
_LEVEL_FAST: Final = 9
_LEVEL_MIN: Final = 3
_LEVEL_MAX: Final = 12
# What stands before the first block of a frame without a content size.
_FRAME_HEADER_BYTES: Final = 7

_Block = tuple[memoryview, bool]


class _Frame(NamedTuple):
    """What a frame's header says, and where it ends."""

    view: memoryview
    flags: int
    block_bytes_max: int
    position: int


def compress(data: Buffer, level: int, *, legacy_checksum: bool = False) -> bytes:
    """Write one frame; a block that would grow is stored as it is."""
    checksum = xxh32(_HEADER if legacy_checksum else _HEADER[4:]) >> 8 & 0xFF
    parts: list[Buffer] = [_HEADER, bytes((checksum,))]
    view = memoryview(data)
    for start in range(0, len(view), _BLOCK_BYTES):
        content = view[start : start + _BLOCK_BYTES]
        block = _compressed_block(content, level)
        if len(block) < len(content):
            parts += (_WORD.pack(len(block)), block)
        else:
            parts += (_WORD.pack(len(content) | _STORED), content)
    return b"".join([*parts, _END])


def _compressed_block(content: memoryview, level: int) -> bytes:
    if level == _LEVEL_FAST:
        return bytes(cramjam.lz4.compress_block(content, store_size=False))
    # The slow compressor has levels 3 to 12; Kafka allows 1 to 17, which its own library treats as
    # the nearest of these. Here it is reached through a frame, of which the only block is taken.
    stream = cramjam.lz4.Compressor(
        level=min(max(level, _LEVEL_MIN), _LEVEL_MAX), content_checksum=False, block_linked=False
    )
    stream.compress(bytes(content))
    frame = bytes(stream.finish())
    (word,) = _WORD.unpack_from(frame, _FRAME_HEADER_BYTES)
    start = _FRAME_HEADER_BYTES + _WORD.size
    return frame[start : start + (word & ~_STORED)]


def decompress(data: Buffer, limit_bytes: int, *, legacy_checksum: bool = False) -> bytes:
    """Read the first frame."""
    frame = _frame(memoryview(data), legacy_checksum=legacy_checksum)
    out = memoryview(bytearray(min(_content_bytes_max(frame), limit_bytes)))
    return bytes(out[: _decompress_blocks(frame, out)])


def decompress_into(data: Buffer, out: memoryview, *, legacy_checksum: bool = False) -> int:
    """Read the first frame into a buffer."""
    frame = _frame(memoryview(data), legacy_checksum=legacy_checksum)
    _content_bytes_max(frame)
    return _decompress_blocks(frame, out)


def _content_bytes_max(frame: _Frame) -> int:
    """Walk to the end of a frame, which has to be there; tell what it can hold at most."""
    total = 0
    for block, is_stored in _blocks(frame):
        size = len(block)
        total += size if is_stored else min(frame.block_bytes_max, _RATIO_MAX * size)
    return total


def _blocks(frame: _Frame) -> Iterator[_Block]:
    """Cut a frame into blocks, each with whether it is stored as it is.

    One at a time: a list of blocks that are all tiny would take seventy times the bytes given.
    """
    view, flags, position = frame.view, frame.flags, frame.position
    while True:
        word, position = _word(view, position)
        size = word & ~_STORED
        if size == 0:
            if flags & _CONTENT_CHECKSUM:
                _word(view, position)
            return
        if size > frame.block_bytes_max:
            reason = f"an lz4 block of {size} bytes, {frame.block_bytes_max} allowed"
            raise InvalidValue(reason, position)
        block = view[position : position + size]
        position += size
        if position > len(view):
            raise Truncated(f"an lz4 block of {size} bytes is cut off", position - size)
        if flags & _BLOCK_CHECKSUM:
            checksum, position = _word(view, position)
            if checksum != xxh32(block):
                raise InvalidValue("an lz4 block's checksum does not match", position - 4)
        yield block, word >= _STORED


def _word(view: memoryview, position: int) -> tuple[int, int]:
    if len(view) - position < 4:
        raise Truncated("an lz4 frame is cut off", len(view))
    return _WORD.unpack_from(view, position)[0], position + 4


def _frame(view: memoryview, *, legacy_checksum: bool) -> _Frame:
    """Read and check a frame's header."""
    if len(view) < 7:
        raise Truncated("an lz4 frame's header is cut off", len(view))
    if bytes(view[:4]) != _MAGIC:
        raise InvalidValue("no lz4 frame begins here", 0)
    flags, descriptor = view[4], view[5]
    # Two reserved bits, of which one came to mean a dictionary, which Kafka never had.
    if flags & 0xC0 != 0x40 or flags & 0x03 or not flags & _INDEPENDENT:
        raise InvalidValue(f"unsupported flags 0x{flags:02x} of an lz4 frame", 4)
    if descriptor & 0x8F or descriptor < 0x40:
        raise InvalidValue(f"an invalid block size 0x{descriptor:02x} of an lz4 frame", 5)
    end = 14 if flags & _CONTENT_SIZE else 6
    if len(view) <= end:
        raise Truncated("an lz4 frame's header is cut off", len(view))
    if not legacy_checksum and view[end] != xxh32(view[4:end]) >> 8 & 0xFF:
        raise InvalidValue("an lz4 frame's header checksum does not match", end)
    return _Frame(view, flags, 1 << (8 + 2 * (descriptor >> 4)), end + 1)


def _decompress_blocks(frame: _Frame, out: memoryview) -> int:
    position = 0
    for block, is_stored in _blocks(frame):
        room = out[position : position + frame.block_bytes_max]
        if not is_stored:
            position += _decompress_block(block, room, frame.block_bytes_max)
        elif len(block) > len(room):
            raise LimitExceeded(f"lz4: more than {len(out)} bytes come out")
        else:
            room[: len(block)] = block
            position += len(block)
    return position


def _decompress_block(block: memoryview, room: memoryview, block_bytes_max: int) -> int:
    try:
        return cramjam.lz4.decompress_block_into(block, room, len(room))
    except cramjam.DecompressionError as fault:
        if len(room) < block_bytes_max and _is_block(block, block_bytes_max):
            raise LimitExceeded(f"lz4: a block does not fit in {len(room)} bytes") from fault
        raise InvalidValue("no valid lz4 block") from fault


def _is_block(block: memoryview, block_bytes_max: int) -> bool:
    """Whether a block that did not fit is sound, for the library does not say."""
    try:
        cramjam.lz4.decompress_block_into(block, bytearray(block_bytes_max), block_bytes_max)
    except cramjam.DecompressionError:
        return False
    return True
