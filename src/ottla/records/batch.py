"""The header of a batch of magic 2, read in place, and the few changes made in place.

Base offset and partition leader epoch lie outside of the checksum, so a leader writes them into
the bytes that came. A new time type or largest time lies within, so those cost a new checksum.
"""

import struct
from struct import Struct
from typing import Final, NamedTuple, Self, TypeAlias

from fastcrc.crc32 import iscsi as crc32c

from ottla.kernels.faults import InvalidValue, Truncated, Unencodable
from ottla.wire.fields import Buffer

WritableBuffer: TypeAlias = bytearray | memoryview

HEADER_BYTES: Final = 61
LENGTH_END: Final = 12
"""Where `batch_length` begins to count."""
CHECKSUM_START: Final = 21
CHECKSUM_PLACE: Final = 17
SEQUENCE_MAX: Final = 2**31 - 1
NO_TIMESTAMP: Final = -1

# Bits of a batch's attributes.
CODEC_BITS: Final = 0b111
APPEND_TIME_BIT: Final = 1 << 3
TRANSACTIONAL_BIT: Final = 1 << 4
CONTROL_BIT: Final = 1 << 5
DELETE_HORIZON_BIT: Final = 1 << 6

HEADER: Final = Struct(">qiibIhiqqqhii")
_OFFSET: Final = Struct(">q")
_EPOCH: Final = Struct(">i")
_CHECKSUM: Final = Struct(">I")
_ATTRIBUTES: Final = Struct(">h")


class BatchHeader(NamedTuple):
    """The sixty-one bytes before the records, field by field as they lie."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @classmethod
    def parse(cls, data: Buffer, position: int = 0) -> Self:
        """Read the header at a position; the records after it need not be there."""
        if position < 0 or len(data) - position < HEADER_BYTES:
            raise Truncated(f"a batch's header has {HEADER_BYTES} bytes", position)
        header = cls._make(HEADER.unpack_from(data, position))
        if header.magic != 2:
            raise InvalidValue(f"magic {header.magic} is no batch's", position + 16)
        if header.batch_length < HEADER_BYTES - LENGTH_END:
            raise InvalidValue(f"a batch of {header.batch_length} bytes", position + 8)
        return header

    def to_bytes(self) -> bytes:
        """The header as it lies in a log."""
        try:
            return HEADER.pack(*self)
        except struct.error as error:
            raise Unencodable(f"no header of a batch: {error}") from error

    @property
    def size_bytes(self) -> int:
        """The whole batch with its header."""
        return LENGTH_END + self.batch_length

    @property
    def codec(self) -> int:
        """The number of the codec, which need not be one that there is."""
        return self.attributes & CODEC_BITS

    @property
    def is_append_time(self) -> bool:
        """Are all records of the time `max_timestamp`, at which a leader appended them?"""
        return self.attributes & APPEND_TIME_BIT != 0

    @property
    def is_transactional(self) -> bool:
        """Does the batch belong to a transaction?"""
        return self.attributes & TRANSACTIONAL_BIT != 0

    @property
    def is_control(self) -> bool:
        """Are these control records, which no application sees?"""
        return self.attributes & CONTROL_BIT != 0

    @property
    def delete_horizon_ms(self) -> int | None:
        """When tombstones may go, if a cleaner has said so; the base time holds it then."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def last_offset(self) -> int:
        """The last offset that the batch stands for; its record may have been cleaned away."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """The last record's sequence, which comes after 2**31 - 1 back to 0; -1 is none."""
        if self.base_sequence < 0:
            return -1
        return (self.base_sequence + self.last_offset_delta) & SEQUENCE_MAX


def checksum(batch: Buffer) -> int:
    """The CRC-32C of a whole batch, from its attributes to its end."""
    return crc32c(memoryview(batch)[CHECKSUM_START:])


def seal(batch: WritableBuffer) -> None:
    """Write the checksum of a whole batch into it."""
    _CHECKSUM.pack_into(batch, CHECKSUM_PLACE, checksum(batch))


def batch_at(data: Buffer, position: int = 0) -> memoryview:
    """A view of the one whole batch that begins at a position."""
    header = BatchHeader.parse(data, position)
    if header.size_bytes > len(data) - position:
        raise Truncated(f"{header.size_bytes} bytes of batch in {len(data) - position}", position)
    return memoryview(data)[position : position + header.size_bytes]


def assign_offsets(batch: WritableBuffer, base_offset: int, partition_leader_epoch: int) -> None:
    """Give a batch its place in the log; its checksum stays right."""
    _OFFSET.pack_into(batch, 0, base_offset)
    _EPOCH.pack_into(batch, LENGTH_END, partition_leader_epoch)


def set_max_timestamp(batch: WritableBuffer, max_timestamp: int, *, is_append_time: bool) -> None:
    """Set the time type and the largest time, and the checksum if that changes anything."""
    (attributes,) = _ATTRIBUTES.unpack_from(batch, 21)
    (before,) = _OFFSET.unpack_from(batch, 35)
    wanted = attributes & ~APPEND_TIME_BIT | (APPEND_TIME_BIT if is_append_time else 0)
    if wanted == attributes and before == max_timestamp:
        return
    _ATTRIBUTES.pack_into(batch, 21, wanted)
    _OFFSET.pack_into(batch, 35, max_timestamp)
    seal(batch)
