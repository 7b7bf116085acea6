"""Write batches of magic 2 byte by byte, right or wrong, without any of the code that is tested."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fastcrc.crc32 import iscsi as crc32c

Header = tuple[bytes, bytes | None]

LOG_APPEND_TIME = 8
TRANSACTIONAL = 16
CONTROL = 32


@dataclass(frozen=True)
class Record:
    """A record, with its offset and timestamp as they are written: less those of the batch."""

    offset_delta: int = 0
    timestamp_delta: int = 0
    key: bytes | None = b"key"
    value: bytes | None = b"value"
    headers: Sequence[Header] = ()

    def written(self) -> bytes:
        parts = [b"\0", zigzag(self.timestamp_delta), zigzag(self.offset_delta)]
        parts += [nullable(self.key), nullable(self.value), zigzag(len(self.headers))]
        for name, value in self.headers:
            parts += [nullable(name), nullable(value)]
        body = b"".join(parts)
        return zigzag(len(body)) + body


def zigzag(number: int) -> bytes:
    left = ((number << 1) ^ (number >> 63)) & ((1 << 64) - 1)
    written = bytearray()
    while left > 127:
        written.append(left & 127 | 128)
        left >>= 7
    written.append(left)
    return bytes(written)


def nullable(content: bytes | None) -> bytes:
    return zigzag(-1) if content is None else zigzag(len(content)) + content


@dataclass(frozen=True)
class Batch:
    """A batch; what is None is worked out of the records."""

    records: Sequence[Record] = (Record(),)
    base_offset: int = 0
    attributes: int = 0
    base_timestamp: int = 1000
    max_timestamp: int | None = None
    last_offset_delta: int | None = None
    record_count: int | None = None
    producer_id: int = -1
    leader_epoch: int = 0
    compress: Callable[[bytes], bytes] = bytes

    def written(self) -> bytes:
        section = self.compress(b"".join(record.written() for record in self.records))
        return with_section(self, section)


def with_section(batch: Batch, section: bytes) -> bytes:
    """A batch around records that were written elsewhere, or badly."""
    last = max((record.offset_delta for record in batch.records), default=0)
    latest = max((record.timestamp_delta for record in batch.records), default=0)
    checked = struct.pack(
        ">hiqqqhii",
        batch.attributes,
        last if batch.last_offset_delta is None else batch.last_offset_delta,
        batch.base_timestamp,
        batch.base_timestamp + latest if batch.max_timestamp is None else batch.max_timestamp,
        batch.producer_id,
        0,
        -1,
        len(batch.records) if batch.record_count is None else batch.record_count,
    )
    checked += section
    front = (batch.base_offset, 9 + len(checked), batch.leader_epoch, 2, crc32c(checked))
    return struct.pack(">qiibI", *front) + checked


def marker(base_offset: int, producer_id: int, *, commit: bool) -> bytes:
    """The end of a transaction."""
    key = struct.pack(">hh", 0, commit)
    return Batch(
        [Record(key=key, value=bytes(6))],
        base_offset,
        CONTROL | TRANSACTIONAL,
        producer_id=producer_id,
    ).written()
