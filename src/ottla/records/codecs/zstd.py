"""Zstandard frames, one or more.

The library's reader is bounded and quick but does not notice a frame that is cut off; so frames are
first walked block by block. The walk also tells how much they can hold at most, whatever they say.
"""

import struct
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, Protocol, cast

import zstandard

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.fields import Buffer

# What the Java client's library allows a reader to set aside for a frame's window.
_WINDOW_BYTES_MAX: Final = 1 << 27
_BLOCK_BYTES_MAX: Final = 128 * 1024
_FRAME_HEADER_BYTES_MAX: Final = 18
_WORD: Final = struct.Struct("<I")
_SKIPPABLE_MAGIC: Final = 0x184D2A50
_FRAME_MAGIC: Final = 0xFD2FB528
_UNKNOWN: Final = zstandard.CONTENTSIZE_UNKNOWN
# Kinds of block.
_STORED, _REPEATED, _COMPRESSED, _RESERVED = range(4)


class _Reader(Protocol):
    """What is used of the library's reader, which its own stubs leave without a type."""

    def readinto(self, room: memoryview, /) -> int: ...

    def read(self, size: int, /) -> bytes: ...


# Contexts that nobody uses at the moment: to make one costs as much as to use it on a small batch,
# and two threads may not use the same. Taking from a list and giving back are atomic.
_idle_decompressors: Final[list[zstandard.ZstdDecompressor]] = []
_idle_compressors: Final[dict[int, list[zstandard.ZstdCompressor]]] = {}


def compress(data: Buffer, level: int) -> bytes:
    """Write one frame."""
    idle = _idle_compressors.setdefault(level, [])
    try:
        compressor = idle.pop()
    except IndexError:
        compressor = zstandard.ZstdCompressor(level=level)
    compressed = compressor.compress(data)
    idle.append(compressor)
    return compressed


@contextmanager
def _reader(data: Buffer) -> Generator[_Reader, None, None]:
    """A reader over all frames, with a context that goes back to the others afterwards."""
    try:
        decompressor = _idle_decompressors.pop()
    except IndexError:
        decompressor = zstandard.ZstdDecompressor(max_window_size=_WINDOW_BYTES_MAX)
    try:
        with decompressor.stream_reader(data, read_across_frames=True) as reader:
            yield cast("_Reader", reader)
    except zstandard.ZstdError as fault:
        raise InvalidValue(f"no valid zstd frame: {fault}") from fault
    finally:
        _idle_decompressors.append(decompressor)


def decompress(data: Buffer, limit_bytes: int) -> bytes:
    """Read all frames."""
    said = _content_bytes(memoryview(data), limit_bytes)
    with _reader(data) as reader:
        # One byte more than there can be: only then is a frame read to its end, where its checksum
        # is compared, and one more than is allowed shows that there is more.
        output = reader.read(min(said[-1], limit_bytes) + 1)
    if len(output) > limit_bytes:
        raise LimitExceeded(f"zstd: more than {limit_bytes} bytes come out")
    _compare(len(output), said)
    return output


def decompress_into(data: Buffer, out: memoryview) -> int:
    """Read all frames into a buffer."""
    said = _content_bytes(memoryview(data), len(out))
    with _reader(data) as reader:
        size = reader.readinto(out) if out else 0
        if size == len(out) and reader.read(1):
            raise LimitExceeded(f"zstd: more than {len(out)} bytes come out")
    _compare(size, said)
    return size


def _compare(size: int, said: range) -> None:
    """The library compares what a frame says with what it holds, but not if it ends emptily."""
    if size not in said:
        raise InvalidValue(f"no valid zstd frame: {size} bytes come out, {said[0]} are said to")


def _content_bytes(view: memoryview, limit_bytes: int) -> range:
    """Walk all frames; give how many bytes they can hold, which is one number if they say so."""
    least = most = position = 0
    while position < len(view):
        if len(view) - position < 4:
            raise InvalidValue("bytes after the last zstd frame", position)
        (magic,) = _WORD.unpack_from(view, position)
        if magic & ~0xF == _SKIPPABLE_MAGIC:
            position = _skipped(view, position)
        elif magic == _FRAME_MAGIC:
            held, position = _frame(view, position, limit_bytes - least)
            least += held[0]
            most += held[-1]
        else:
            raise InvalidValue("no zstd frame begins here", position)
    return range(least, most + 1)


def _skipped(view: memoryview, position: int) -> int:
    """Step over a frame that is there for other programs."""
    if len(view) - position < 8:
        raise Truncated("a zstd frame is cut off", position)
    position += 8 + _WORD.unpack_from(view, position + 4)[0]
    if position > len(view):
        raise Truncated("a zstd frame is cut off", len(view))
    return position


def _frame(view: memoryview, start: int, limit_bytes: int) -> tuple[range, int]:
    """Walk one frame; give how many bytes it can hold and where it ends."""
    # Copied, because the library looks at the whole of a view even to read 18 bytes.
    header = bytes(view[start : start + _FRAME_HEADER_BYTES_MAX])
    try:
        frame = zstandard.get_frame_parameters(header)
        position = start + zstandard.frame_header_size(header)
    except zstandard.ZstdError as fault:
        kind = Truncated if len(header) < _FRAME_HEADER_BYTES_MAX else InvalidValue
        raise kind(f"no valid header of a zstd frame: {fault}", start) from fault
    if frame.window_size > _WINDOW_BYTES_MAX:
        raise LimitExceeded(f"a zstd window of {frame.window_size} bytes", start)
    bytes_max, position = _blocks_bytes_max(view, position)
    position += 4 if frame.has_checksum else 0
    if position > len(view):
        raise Truncated("a zstd frame is cut off", len(view))
    if frame.content_size == _UNKNOWN:
        return range(bytes_max + 1), position
    if frame.content_size > limit_bytes:
        raise LimitExceeded(
            f"a zstd frame of {frame.content_size} bytes, {limit_bytes} allowed", start
        )
    if frame.content_size > bytes_max:
        reason = f"its blocks hold no {frame.content_size} bytes"
        raise InvalidValue(f"no valid zstd frame: {reason}", start)
    return range(frame.content_size, frame.content_size + 1), position


def _blocks_bytes_max(view: memoryview, position: int) -> tuple[int, int]:
    """Walk a frame's blocks; give the most that they can hold and where they end."""
    total = 0
    is_last = 0
    while not is_last:
        if len(view) - position < 3:
            raise Truncated("a zstd frame is cut off", len(view))
        word = view[position] | view[position + 1] << 8 | view[position + 2] << 16
        is_last, kind, size = word & 1, word >> 1 & 3, word >> 3
        if kind == _RESERVED:
            raise InvalidValue("a zstd block of no known kind", position)
        position += 3 + (1 if kind == _REPEATED else size)
        total += _BLOCK_BYTES_MAX if kind == _COMPRESSED else size
    if position > len(view):
        raise Truncated("a zstd block is cut off", len(view))
    return total, position
