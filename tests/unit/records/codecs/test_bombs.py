"""Ten gigabytes of zeros in each codec are refused, and cost next to nothing.

The bombs are written by hand, block for block, since every format lets a block be repeated. Each is
sent through every way that compressed bytes can take: alone and without the bound on the ratio,
and as the records of a batch under the bounds that a broker or a reader has by default.
"""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ottla.records.builder import BatchOptions, write_batch
from ottla.records.compression import INFLATED_BYTES_MAX, Codec, decompress
from tests.unit.records.batch_bytes import Batch, with_section

BOMB_BYTES = 10 << 30
GROWTH_BYTES_MAX = 64 << 20

# Peak memory cannot go down, so whatever the refusal took beyond the bomb itself is seen. It is
# read from /proc where that is, since the peak of `getrusage` includes that of the parent.
PROGRAM = """
import pathlib, resource, sys
from ottla.kernels.faults import LimitExceeded
from ottla.records import check, columns, compression, reader

def peak_bytes():
    status = pathlib.Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024

def alone(data):
    compression.decompress(codec, memoryview(data)[61:], limit, 1 << 40)

def produced(data):
    verdict = check.check(data, check.Rules(batch_bytes_max=1 << 31), 0)
    if verdict.error == 10:
        raise LimitExceeded(verdict.reason)

def as_records(data):
    list(reader.read_records(data, limit))

def as_columns(data):
    columns.Columns(["value"]).table(data)

codec, way, limit = int(sys.argv[1]), globals()[sys.argv[2]], int(sys.argv[3])
with open(sys.argv[4], "rb") as file:
    way(file.read())
with open(sys.argv[5], "rb", buffering=0) as file:
    bomb = file.read()
before = peak_bytes()
try:
    way(bomb)
except LimitExceeded:
    print(peak_bytes() - before)
"""
WAYS = ("alone", "produced", "as_records", "as_columns")


def growth_bytes(codec: Codec, way: str, path: Path, limit_bytes: int = INFLATED_BYTES_MAX) -> int:
    """What a fresh process takes at most to refuse a bomb, after a small batch went that way."""
    small = path.with_name("small")
    small.write_bytes(write_batch([(0, 0, None, bytes(100), [])], BatchOptions(codec=codec)))
    shown = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(int(codec)), way, str(limit_bytes), small, path],
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
    """Framed blocks of a mebibyte: 64 literal zeros, then copies of 64 bytes."""
    copies = (1 << 20) // 64 - 1
    block = b"\x80\x80\x40" + b"\xf0\x3f" + bytes(64) + b"\xfe\x01\0" * copies
    framed = struct.pack(">i", len(block)) + block
    return b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1) + framed * (bomb_bytes >> 20)


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


@pytest.fixture(scope="module", params=BOMBS, ids=lambda codec: codec.name.lower())
def bomb(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Codec, Path]]:
    """A batch in a file; it may take half a gigabyte, so that it does not stay."""
    codec = request.param
    path = tmp_path_factory.mktemp("bomb") / "bomb"
    path.write_bytes(with_section(Batch(attributes=codec), BOMBS[codec]()))
    yield codec, path
    path.unlink()


@pytest.mark.parametrize("way", WAYS)
def test_a_bomb_is_refused_and_costs_little(bomb: tuple[Codec, Path], way: str) -> None:
    assert growth_bytes(bomb[0], way, bomb[1]) < GROWTH_BYTES_MAX


def test_the_measure_sees_what_a_larger_limit_costs(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(with_section(Batch(attributes=Codec.ZSTD), zstd_bomb()))
    assert growth_bytes(Codec.ZSTD, "alone", path, 128 << 20) > GROWTH_BYTES_MAX


@pytest.mark.parametrize("codec", BOMBS)
def test_the_bombs_are_sound(codec: Codec) -> None:
    """Small ones hold the zeros that they should, so the large ones are refused for their size."""
    blocks = {Codec.GZIP: 1 << 20, Codec.SNAPPY: 1 << 20, Codec.LZ4: 4 << 20, Codec.ZSTD: 1 << 17}
    size = blocks[codec]
    small = BOMBS[codec](size)
    if codec == Codec.GZIP:
        small = small[:-8] + struct.pack("<II", zlib.crc32(bytes(size)), size)
    assert decompress(codec, small, size) == bytes(size)
