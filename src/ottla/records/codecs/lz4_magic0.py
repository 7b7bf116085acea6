"""LZ4 in message sets of magic 0: the frame whose header checksum covers its magic number too."""

from ottla.records.codecs import lz4
from ottla.wire.fields import Buffer


def compress(data: Buffer, level: int) -> bytes:
    """Write one frame."""
    return lz4.compress(data, level, legacy_checksum=True)


def decompress(data: Buffer, limit_bytes: int) -> bytes:
    """Read the first frame, whatever its header's checksum."""
    return lz4.decompress(data, limit_bytes, legacy_checksum=True)


def decompress_into(data: Buffer, out: memoryview) -> int:
    """Read the first frame into a buffer, whatever its header's checksum."""
    return lz4.decompress_into(data, out, legacy_checksum=True)
