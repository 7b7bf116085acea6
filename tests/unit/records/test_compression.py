"""Codecs by number: what every one of them does, whatever its library."""

import subprocess
import sys
from random import Random

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated
from ottla.records.compression import (
    LEVELS,
    RATIO_FREE_BYTES,
    Codec,
    InvalidLevel,
    compress,
    decompress,
    decompress_into,
    level_of,
)
from tests.costs import peak_bytes

CODECS = list(Codec)
TEXT = b"".join(b'{"id": %d, "name": "record %d"}' % (n, n * n) for n in range(5000))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("content", [b"", b"a", b"\0" * 100_000, TEXT], ids=len)
@pytest.mark.parametrize("legacy_checksum", [False, True])
def test_what_was_compressed_comes_back(
    codec: Codec, content: bytes, legacy_checksum: bool
) -> None:
    compressed = compress(codec, content, legacy_checksum=legacy_checksum)
    view = memoryview(bytearray(compressed))
    room = bytearray(len(content) + 3)
    assert decompress(codec, view, len(content), legacy_checksum=legacy_checksum) == content
    assert decompress_into(codec, view, room, legacy_checksum=legacy_checksum) == len(content)
    assert room[: len(content)] == content


@pytest.mark.parametrize("size", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
@pytest.mark.parametrize("unlike", [False, True])
def test_gzip_that_comes_out_in_pieces(size: int, unlike: bool) -> None:
    """Pieces end within the input, or with it; one that is cut off stays so."""
    content = Random(size).randbytes(size) if unlike else bytes(size)
    compressed = compress(Codec.GZIP, content)
    room = bytearray(2 * size)
    assert decompress(Codec.GZIP, compressed + compressed, 2 * size) == content * 2
    assert decompress_into(Codec.GZIP, compressed + compressed, room) == 2 * size
    assert room == content * 2
    with pytest.raises(Truncated):
        decompress(Codec.GZIP, compressed[:-1], size)
    with pytest.raises(LimitExceeded):
        decompress_into(Codec.GZIP, compressed + compressed, bytearray(2 * size - 1))


@pytest.mark.parametrize("codec", CODECS)
def test_a_byte_too_many_is_refused(codec: Codec) -> None:
    compressed = compress(codec, TEXT)
    with pytest.raises(LimitExceeded):
        decompress(codec, compressed, len(TEXT) - 1)
    with pytest.raises(LimitExceeded):
        decompress_into(codec, compressed, bytearray(len(TEXT) - 1))


def test_the_ratio_bounds_what_is_beyond_the_free_bytes() -> None:
    content = bytes(RATIO_FREE_BYTES)
    assert decompress(Codec.ZSTD, compress(Codec.ZSTD, content), 1 << 30, 1) == content
    compressed = compress(Codec.ZSTD, content + b"\0")
    with pytest.raises(LimitExceeded):
        decompress(Codec.ZSTD, compressed, 1 << 30, 1)
    ratio = len(content) // len(compressed) + 1
    assert len(decompress(Codec.ZSTD, compressed, 1 << 30, ratio)) == len(content) + 1


@pytest.mark.parametrize("codec", [-1, 5, 6, 7, 300])
def test_an_unknown_codec_is_an_invalid_value(codec: int) -> None:
    with pytest.raises(InvalidValue):
        decompress(codec, b"", 10)


@pytest.mark.parametrize(("codec", "levels"), LEVELS.items())
def test_levels_are_those_of_kafka(codec: int, levels: object) -> None:
    bounds = LEVELS[codec]
    assert levels is bounds
    for level in (bounds.first, bounds.last, bounds.default, None):
        assert decompress(codec, compress(codec, TEXT[:2000], level), 2000) == TEXT[:2000]
    for level in (bounds.first - 1, bounds.last + 1):
        with pytest.raises(InvalidLevel, match="has no level"):
            compress(codec, b"", level)


def test_a_codec_without_levels_refuses_any() -> None:
    assert level_of(Codec.SNAPPY, None) == 0
    with pytest.raises(InvalidLevel):
        level_of(Codec.SNAPPY, 1)


def test_higher_levels_compress_better() -> None:
    for codec, levels in LEVELS.items():
        fast, slow = compress(codec, TEXT, levels.first), compress(codec, TEXT, levels.last)
        assert len(slow) < len(fast)


@pytest.mark.parametrize("codec", CODECS[1:])
def test_every_cut_is_refused(codec: Codec) -> None:
    compressed = compress(codec, TEXT[:3000])
    # A framed snappy stream may end after any block, and up to three bytes of a size are ignored.
    sound = {16, 17, 18, 19} if codec == Codec.SNAPPY else {0} if codec == Codec.ZSTD else set()
    for size in set(range(len(compressed))) - sound:
        with pytest.raises(Malformed):
            decompress(codec, compressed[:size], 1 << 20)


def test_libraries_are_loaded_only_when_they_are_used() -> None:
    program = (
        "import sys; from ottla.records import compression; "
        "print(sorted({'zlib', 'cramjam', 'zstandard'} & set(sys.modules)))"
    )
    shown = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)},
    )  # fmt: skip
    assert shown.stdout == "[]\n"


@pytest.mark.parametrize(
    "front", [b"", compress(Codec.ZSTD, b"a"), bytes.fromhex("28b52ffd0007010000")]
)
@pytest.mark.parametrize("said_bytes", [1, 64])
def test_a_zstd_frame_holds_what_it_says(front: bytes, said_bytes: int) -> None:
    """Its only block is empty."""
    data = front + bytes.fromhex(f"28b52ffd20{said_bytes:02x}010000")
    with pytest.raises(InvalidValue, match="no valid zstd frame"):
        decompress(Codec.ZSTD, data, 100)
    for size in (said_bytes + 1, 100):
        with pytest.raises(InvalidValue, match="no valid zstd frame"):
            decompress_into(Codec.ZSTD, data, bytearray(size))


@pytest.mark.parametrize(
    ("codec", "head", "block"),
    [
        (Codec.SNAPPY, b"\x82SNAPPY\0\0\0\0\1\0\0\0\1", b"\0\0\0\3\1\0a"),
        (Codec.LZ4, b"\x04\x22\x4d\x18\x60\x40\x82", b"\1\0\0\x80a"),
    ],
)
def test_tiny_blocks_cost_no_more_than_large_ones(codec: Codec, head: bytes, block: bytes) -> None:
    count = 20_000
    data = head + block * count + (bytes(4) if codec == Codec.LZ4 else b"")
    assert decompress(codec, data, count) == b"a" * count
    assert peak_bytes(lambda: decompress(codec, data, count)) < 4 * len(data)
