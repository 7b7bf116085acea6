"""Compressed bytes that the Java client wrote, and its verdict on some that it would not write."""

import zlib
from pathlib import Path

import pytest

from ottla.kernels.faults import Malformed
from ottla.records.compression import Codec, compress, decompress

FOLDER = Path(__file__).parent / "compression"
# A frame that is cut off after a whole one: the Java client returns what the first held, silently.
STRICTER = {"zstd trunc 2nd", "zstd trunc 2nd hdr"}


def rows(name: str) -> list[list[str]]:
    """The columns of a golden file's lines, without its header."""
    lines = (FOLDER / name).read_text().splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


def unhex(text: str) -> bytes:
    """Bytes of a column; a dash is none."""
    return bytes.fromhex(text.strip("-"))


@pytest.mark.parametrize("row", rows("read.txt"), ids=lambda row: row[3])
def test_reads_what_the_java_client_reads_and_refuses_what_it_refuses(row: list[str]) -> None:
    (codec, magic), data, verdict = row[0].split(), unhex(row[1]), row[2]
    legacy_checksum = magic == "0"
    if verdict == "refused" or row[3] in STRICTER:
        with pytest.raises(Malformed):
            decompress(int(codec), data, 1 << 20, legacy_checksum=legacy_checksum)
    else:
        content = decompress(int(codec), data, 1 << 20, legacy_checksum=legacy_checksum)
        assert f"{len(content)} {zlib.crc32(content)}" == verdict


@pytest.mark.parametrize("row", rows("written.txt"), ids=lambda row: f"{row[0]} {row[1][:8]}")
def test_reads_and_writes_what_the_java_client_writes(row: list[str]) -> None:
    codec, legacy_checksum = int(row[0][0]), row[0].endswith("0")
    content, compressed = unhex(row[1]), unhex(row[2])
    assert decompress(codec, compressed, len(content), legacy_checksum=legacy_checksum) == content
    ours = compress(codec, content, legacy_checksum=legacy_checksum)
    if codec in (Codec.SNAPPY, Codec.LZ4):
        assert ours == compressed
    else:
        assert decompress(codec, ours, len(content)) == content
