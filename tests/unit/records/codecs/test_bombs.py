"""Ten gigabytes of zeros in each codec are refused, and cost next to nothing.

The bombs are written by hand, block for block, since every format lets a block be repeated.
"""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.records.compression import Codec, decompress

BOMB_BYTES = 10 << 30
LIMIT_BYTES = 16 << 20
GROWTH_BYTES_MAX = 64 << 20

# Peak memory cannot go down, so whatever the refusal took beyond the bomb itself is seen. It is
# read from /proc where that is, since the peak of `getrusage` includes that of the parent.
PROGRAM = """
import pathlib, resource, sys
from ottla.kernels.faults import LimitExceeded
from ottla.records import compression

def peak_bytes():
    status = pathlib.Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024

codec, path, limit = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
compression.decompress(codec, compression.compress(codec, bytes(100)), 100)
with open(path, "rb", buffering=0) as file:
    bomb = file.read()
before = peak_bytes()
try:
    compression.decompress(codec, bomb, limit, 1 << 40)
except LimitExceeded:
    print(peak_bytes() - before)
"""


def growth_bytes(codec: Codec, path: Path, limit_bytes: int) -> int:
    """What a fresh process takes at most to refuse a bomb."""
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(codec)), str(path), str(limit_bytes)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(shown.stdout)


def gzip_bomb(bomb_bytes: int = BOMB_BYTES) -> bytes:
    """Deflate blocks of a mebibyte that end on a byte, so that they can follow one another."""
    stream = zlib.compressobj(9, zlib.DEFLATED, -15)
    size = 1 << 20
    block = stream.compress(bytes(size)) + stream.flush(zlib.Z_FULL_FLUSH)
    header = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
    return header + block * (bomb_bytes // size) + b"\x03\0" + bytes(8)


def snappy_bomb(bomb_bytes: int = BOMB_BYTES) -> bytes:
    """Framed blocks of 64 MiB: 64 literal zeros, then copies of 64 bytes."""
    copies = (64 << 20) // 64 - 1
    block = b"\x80\x80\x80\x20" + b"\xf0\x3f" + bytes(64) + b"\xfe\x01\0" * copies
    framed = struct.pack(">i", len(block)) + block
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + framed * (bomb_bytes >> 26)


def lz4_bomb(bomb_bytes: int = BOMB_BYTES) -> bytes:
    """One frame of blocks of 4 MiB."""
    header = b"\x04\x22\x4d\x18" + b"\x60\x70"
    size = 4 << 20
    # A literal zero, then one copy of all the rest but the five bytes that must be literals.
    copied = size - 6
    more, rest = divmod(copied - 4 - 15, 255)
    block = b"\x1f\0\x01\0" + b"\xff" * more + bytes((rest,)) + b"\x50" + bytes(5)
    framed = struct.pack("<I", len(block)) + block
    return header + b"\x73" + framed * (bomb_bytes // size) + bytes(4)


def zstd_bomb(bomb_bytes: int = BOMB_BYTES) -> bytes:
    """One frame of blocks of 128 KiB, each one byte repeated; it does not say how much it holds."""
    size = 128 * 1024
    block = struct.pack("<I", size << 3 | 1 << 1)[:3] + b"\0"
    last = struct.pack("<I", 1)[:3]
    return b"\x28\xb5\x2f\xfd" + b"\0\x38" + block * (bomb_bytes // size) + last


BOMBS: dict[Codec, Callable[..., bytes]] = {
    Codec.GZIP: gzip_bomb,
    Codec.SNAPPY: snappy_bomb,
    Codec.LZ4: lz4_bomb,
    Codec.ZSTD: zstd_bomb,
}


@pytest.mark.parametrize("codec", BOMBS)
def test_a_bomb_is_refused_and_costs_little(codec: Codec, tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(BOMBS[codec]())
    assert growth_bytes(codec, path, LIMIT_BYTES) < GROWTH_BYTES_MAX


def test_the_measure_sees_what_a_larger_limit_costs(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(zstd_bomb())
    assert growth_bytes(Codec.ZSTD, path, 128 << 20) > GROWTH_BYTES_MAX


@pytest.mark.parametrize("codec", BOMBS)
def test_the_bombs_are_sound(codec: Codec) -> None:
    """Small ones hold the zeros that they should, so the large ones are refused for their size."""
    blocks = {Codec.GZIP: 1 << 20, Codec.SNAPPY: 64 << 20, Codec.LZ4: 4 << 20, Codec.ZSTD: 1 << 17}
    size = blocks[codec]
    small = BOMBS[codec](size)
    if codec == Codec.GZIP:
        small = small[:-8] + struct.pack("<II", zlib.crc32(bytes(size)), size)
    assert decompress(codec, small, size) == bytes(size)
