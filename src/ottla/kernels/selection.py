"""What is asked of a run of batches: which columns, which rows, and how large a piece may be."""

from dataclasses import dataclass
from typing import Final, TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

OFFSET: Final = 1
TIMESTAMP: Final = 2
KEY: Final = 4
VALUE: Final = 8
HEADERS: Final = 16
TIMESTAMP_TYPE: Final = 32
LEADER_EPOCH: Final = 64
PRODUCER_ID: Final = 128
OF_RECORDS: Final = OFFSET | TIMESTAMP | KEY | VALUE | HEADERS

INT32_MAX: Final = (1 << 31) - 1
INT64_MIN: Final = -(1 << 63)
INT64_MAX: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows within [start, end) of offset and of timestamp; the largest timestamp has no end.

    A piece ends at `rows_max` rows or before `bytes_max` bytes of keys, values and headers (each
    takes eight beside its own), but has at least one row. With `large`, variable-length columns
    count in 64 bits, not in 32.
    """

    columns: int
    start_offset: int = 0
    end_offset: int = INT64_MAX
    start_timestamp: int = INT64_MIN
    end_timestamp: int = INT64_MAX
    rows_max: int = 8192
    bytes_max: int = 1 << 20
    large: bool = False
    timestamp_factor: int = 1
    decompressed_bytes_max: int = 32 << 20

    def __post_init__(self) -> None:
        if self.rows_max < 1 or self.bytes_max < 1:
            raise ValueError("a piece holds at least one row and one byte")
        is_counted_in_64_bits = self.large and not self.columns & HEADERS
        if self.rows_max > INT32_MAX or (self.bytes_max > INT32_MAX and not is_counted_in_64_bits):
            raise ValueError("a piece of more than 2 GiB needs large columns, and has no headers")

    @property
    def last_timestamp(self) -> int:
        """The end of the timestamps, inclusive: a record may have the largest number there is."""
        return self.end_timestamp - (self.end_timestamp < INT64_MAX)
