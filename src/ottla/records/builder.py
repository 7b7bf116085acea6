"""Write batches of magic 2."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ottla.kernels import record_writer as kernel
from ottla.kernels.faults import Unencodable
from ottla.records.batch import (
    APPEND_TIME_BIT,
    CODEC_BITS,
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    LENGTH_END,
    NO_TIMESTAMP,
    TRANSACTIONAL_BIT,
    BatchHeader,
    seal,
)
from ottla.records.compression import Codec, compress
from ottla.wire.fields import Buffer

Headers: TypeAlias = Sequence[tuple[str, Buffer | None]]
Row: TypeAlias = tuple[int, int, Buffer | None, Buffer | None, Headers]
"""Offset, timestamp, key, value, headers; a `reader.Record` is one."""

_INT32_MAX: Final = 2**31 - 1
RECORD_OVERHEAD_BYTES_MAX: Final = 36
"""The most that a record takes beside its key, its value and its headers."""
HEADER_OVERHEAD_BYTES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What a batch says beside its records; `append_timestamp` and `delete_horizon_ms` set bits."""

    base_offset: int = 0
    partition_leader_epoch: int = -1
    codec: int = Codec.NONE
    level: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False
    append_timestamp: int | None = None
    delete_horizon_ms: int | None = None

    @property
    def attributes(self) -> int:
        """The bits of the header."""
        return (
            self.codec
            | (APPEND_TIME_BIT if self.append_timestamp is not None else 0)
            | (TRANSACTIONAL_BIT if self.is_transactional else 0)
            | (CONTROL_BIT if self.is_control else 0)
            | (DELETE_HORIZON_BIT if self.delete_horizon_ms is not None else 0)
        )


PLAIN: Final = BatchOptions()
"""Not compressed, from no producer in particular, at offset 0."""


def write_batch(records: Sequence[Row], options: BatchOptions = PLAIN) -> bytearray:
    """Write records as one batch; there must be one at least, and their offsets must rise."""
    if not records:
        raise Unencodable("a batch of no records is written by `write_empty_batch`")
    base_timestamp = options.delete_horizon_ms
    if base_timestamp is None:
        base_timestamp = records[0][1]
    section, count, last_offset_delta, max_timestamp = kernel.write_records(
        records, options.base_offset, base_timestamp
    )
    if options.append_timestamp is not None:
        max_timestamp = options.append_timestamp
    if options.codec:
        section = compress(options.codec, section, options.level)
    header = BatchHeader(
        options.base_offset,
        0,
        options.partition_leader_epoch,
        2,
        0,
        options.attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        options.producer_id,
        options.producer_epoch,
        options.base_sequence,
        count,
    )
    return assemble(header, section)


def write_empty_batch(
    options: BatchOptions, last_offset: int, max_timestamp: int = NO_TIMESTAMP
) -> bytearray:
    """Write what cleaning leaves of a batch without records whose producer still counts."""
    header = BatchHeader(
        options.base_offset,
        0,
        options.partition_leader_epoch,
        2,
        0,
        options.attributes & ~(DELETE_HORIZON_BIT | CODEC_BITS),
        last_offset - options.base_offset,
        NO_TIMESTAMP,
        max_timestamp,
        options.producer_id,
        options.producer_epoch,
        options.base_sequence,
        0,
    )
    return assemble(header, b"")


def assemble(header: BatchHeader, section: Buffer) -> bytearray:
    """Join a header and a records section as it is to lie; length and checksum are worked out."""
    length = HEADER_BYTES - LENGTH_END + len(section)
    if length > _INT32_MAX:
        raise Unencodable(f"{length} bytes are too many for one batch")
    batch = bytearray(header._replace(batch_length=length).to_bytes())
    batch += section
    seal(batch)
    return batch


@dataclass(slots=True)
class BatchBuilder:
    """Gathers records for one batch, each at the offset after the one before."""

    options: BatchOptions
    bytes_max: int = 1_048_588
    rows: list[Row] = field(default_factory=list[Row])
    size_bytes_max: int = HEADER_BYTES

    def append(
        self,
        timestamp: int,
        key: Buffer | None,
        value: Buffer | None,
        headers: Headers = (),
    ) -> bool:
        """Take a record, unless the batch might become too large, uncompressed; say if taken.

        The first record is always taken: whether one record is too large is its topic's matter.
        """
        size = RECORD_OVERHEAD_BYTES_MAX + len(key or b"") + len(value or b"")
        for name, content in headers:
            size += HEADER_OVERHEAD_BYTES_MAX + len(name.encode()) + len(content or b"")
        if self.rows and self.size_bytes_max + size > self.bytes_max:
            return False
        offset = self.options.base_offset + len(self.rows)
        self.rows.append((offset, timestamp, key, value, headers))
        self.size_bytes_max += size
        return True

    def extend(self, records: Iterable[tuple[int, Buffer | None, Buffer | None]]) -> int:
        """Take (timestamp, key, value) as long as there is room; give how many were taken."""
        before = len(self.rows)
        for timestamp, key, value in records:
            if not self.append(timestamp, key, value):
                break
        return len(self.rows) - before

    def build(self) -> bytearray:
        """The batch of all records taken."""
        return write_batch(self.rows, self.options)
