"""Read the records of a batch of magic 2, compressed or not."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.kernels import records as kernel
from ottla.records.batch import HEADER_BYTES, BatchHeader
from ottla.records.compression import decompress
from ottla.wire.fields import Buffer

ROWS_AT_ONCE: Final = 256


class Record(NamedTuple):
    """One record; its headers are pairs of name and value, in order, names may repeat."""

    offset: int
    timestamp: int
    key: Buffer | None
    value: Buffer | None
    headers: list[tuple[str, Buffer | None]]


def inflate(batch: Buffer, bytes_max: int) -> bytes | None:
    """The records section of a compressed batch, at most so large; None if it lies open."""
    codec = BatchHeader.parse(batch).codec
    if codec == 0:
        return None
    return decompress(codec, memoryview(batch)[HEADER_BYTES:], bytes_max)


def read_records(batch: Buffer, bytes_max: int, *, as_views: bool = False) -> Iterator[Record]:
    """The records of one whole batch; keys and values are bytes, or views that cost no copy."""
    walk = kernel.open_records(batch, inflate(batch, bytes_max))
    while rows := kernel.read_records(walk, ROWS_AT_ONCE, as_views):
        for row in rows:
            yield Record(*row)
