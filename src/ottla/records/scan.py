"""Find batches in a run of them, such as a segment, a fetched answer, or a part of either."""

from collections.abc import Callable, Iterable
from enum import IntEnum
from operator import attrgetter
from typing import Final, NamedTuple

from ottla.kernels import batches as kernel
from ottla.kernels import records as record_kernel
from ottla.records.message_set import messages
from ottla.records.reader import inflate
from ottla.wire.fields import Buffer

ROWS_MAX: Final = 1024
INT64_MIN: Final = -(2**63)
_MAGIC_AT: Final = 16


class Stop(IntEnum):
    """Why a walk over batches ended."""

    END = 0  # The bytes ended where a batch did.
    FULL = 1  # As many rows as were asked for; there may be more.
    FOUND = 2  # At what was looked for.
    TORN = 3  # The bytes ended within a batch.
    LENGTH = 4  # A length that no batch has, as in a tail of zeros.
    MAGIC = 5  # A magic that there is not.
    FIELDS = 6  # Offsets or counts that no batch has.
    ORDER = 7  # An offset not past the one before.
    CHECKSUM = 8  # A checksum that is not that of the bytes.
    LATER_EPOCH = 9  # A leader epoch later than the one known.


class BatchRow(NamedTuple):
    """One batch by its header, or a message of magic 0 or 1 by its own.

    A message has no producer and no epoch, its base offset is the last one, and the count is -1.
    """

    position: int
    size_bytes: int
    magic: int
    attributes: int
    base_offset: int
    last_offset: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int
    partition_leader_epoch: int
    crc: int


# By a getter, as the type checkers do not know the type of a tuple's own `__new__`.
new_row: Final[Callable[[type[BatchRow], Iterable[int]], BatchRow]] = attrgetter("__new__")(tuple)


class Scan(NamedTuple):
    """The batches met, where the walk ended, and why."""

    rows: list[BatchRow]
    end_position: int
    stop: Stop


def scan(data: Buffer, position: int = 0, rows_max: int = ROWS_MAX) -> Scan:
    """List batches by their headers; checksums are not looked at."""
    columns = kernel.COLUMNS
    cells = bytearray(8 * columns * rows_max)
    count, end_position, stop = kernel.scan(data, position, cells)
    rows = rows_of(memoryview(cells).cast("q")[: columns * count])
    return Scan(rows, end_position, Stop(stop))


def rows_of(cells: memoryview) -> list[BatchRow]:
    """The rows whose columns lie one after the other."""
    values = iter(cells)
    # As `_make` does, at a third of its cost, which is paid for every batch.
    return [new_row(BatchRow, row) for row in zip(*[values] * kernel.COLUMNS, strict=True)]


class Place(NamedTuple):
    """Where a batch that was looked for lies; of size 0, and why, if there is none."""

    position: int
    size_bytes: int
    stop: Stop


def find_offset(data: Buffer, offset: int, position: int = 0) -> Place:
    """The first batch that ends at or past an offset."""
    at, size_bytes, stop = kernel.find_batch(data, position, offset, INT64_MIN)
    return Place(at, size_bytes, Stop(stop))


def find_timestamp(
    data: Buffer, timestamp: int, position: int = 0, *, offset_min: int = 0
) -> Place:
    """The first batch that has a record at or past a time, by its header, and reaches an offset."""
    at, size_bytes, stop = kernel.find_batch(data, position, offset_min, timestamp)
    return Place(at, size_bytes, Stop(stop))


class TimedOffset(NamedTuple):
    """A record's offset and time."""

    offset: int
    timestamp: int


def find_record(
    batch: Buffer, timestamp: int, offset_min: int, bytes_max: int
) -> TimedOffset | None:
    """The first record of a batch, or of a message, at or past a time, and at or past an offset."""
    if batch[_MAGIC_AT] < 2:
        for message in messages(batch, bytes_max):
            if message.timestamp >= timestamp and message.offset >= offset_min:
                return TimedOffset(message.offset, message.timestamp)
        return None
    inflated = inflate(batch, bytes_max)
    found = TimedOffset(*record_kernel.find_timestamp(batch, inflated, timestamp, offset_min))
    return found if found.offset >= 0 else None
