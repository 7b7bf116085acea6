"""Rewrite batches for consumers that know only older message formats.

A batch becomes a wrapper message with the same codec, or plain messages if it is not compressed.
Headers, producer fields and, in magic 0, times are lost; control batches are left out. Zstd cannot
be had in the older formats. The way up, for producers, is `message_set_append`.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue, Unencodable
from ottla.records.batch import HEADER_BYTES, BatchHeader
from ottla.records.compression import INFLATED_BYTES_MAX, Codec
from ottla.records.message_set import (
    ENTRY_HEADER_BYTES,
    LOG_APPEND_TIME,
    MESSAGE_BYTES_MIN,
    Row,
    entries,
    messages_of,
    write_counted_set,
)
from ottla.records.reader import read_records
from ottla.wire.fields import Buffer

CHUNK_BYTES: Final = 128 * 1024
"""How many bytes of batches are converted at a time."""
_BATCH_START_BYTES: Final = 17


class CodecNotSupported(Unencodable):
    """A batch is compressed in a way that the older formats do not know."""


class Converted(NamedTuple):
    """Some batches in an older format, and what the conversion meters count."""

    data: bytes
    records_count: int
    memory_bytes: int


def down_convert(
    data: Buffer, magic: int, first_offset: int = 0, bytes_max: int = INFLATED_BYTES_MAX
) -> Converted:
    """Rewrite batches of any magic as `magic` 0 or 1; those that are old enough stay as they are.

    Records below `first_offset` are dropped where they are not compressed: older consumers skip
    them in a wrapper, but do not expect plain messages that they did not ask for. `bytes_max`
    bounds what one batch may hold. What the older format cannot hold is `Unencodable`.
    """
    return _converted(list(_batches(data)), magic, first_offset, bytes_max)


def _batches(data: Buffer) -> Iterator[memoryview]:
    """Cut bytes into whole batches or entries of any magic."""
    view = memoryview(data)
    position = 0
    while len(view) - position >= _BATCH_START_BYTES:
        size = int.from_bytes(view[position + 8 : position + 12], "big", signed=True)
        size += ENTRY_HEADER_BYTES
        magic = view[position + 16]
        if magic > 2 or size < ENTRY_HEADER_BYTES + MESSAGE_BYTES_MIN[0]:
            raise InvalidValue(f"magic {magic}, {size} bytes: no batch begins here", position)
        if size > len(view) - position:
            return
        yield view[position : position + size]
        position += size


def _converted(
    batches: list[memoryview], magic: int, first_offset: int, bytes_max: int
) -> Converted:
    wanted = [batch for batch in batches if not _is_left_out(batch)]
    parts: list[Buffer] = []
    records_count = memory_bytes = 0
    for batch in wanted:
        if batch[16] <= magic:
            parts.append(batch)
            memory_bytes += len(batch)
            continue
        codec, append_time, rows = _opened(batch, bytes_max)
        if not codec:
            rows = (row for row in rows if row[0] >= first_offset)
        written = write_counted_set(magic, codec, rows, append_time=append_time)
        if written.messages_count:
            parts.append(written.data)
            records_count += written.messages_count
            memory_bytes += len(batch) + written.uncompressed_bytes
    return Converted(b"".join(parts), records_count, memory_bytes)


def _is_left_out(batch: memoryview) -> bool:
    """Is this a control batch? One of zstd ends the conversion before anything is done."""
    if batch[16] < 2:
        return False
    header = BatchHeader.parse(batch)
    if not header.is_control and header.codec > Codec.LZ4:
        raise CodecNotSupported(f"codec {header.codec} is not known to older formats")
    return header.is_control


def _opened(batch: memoryview, bytes_max: int) -> tuple[int, int | None, Iterator[Row]]:
    """A batch's codec, the time at which it was appended if that is what it has, and its rows.

    The rows are made while they are written: a small batch can hold very many.
    """
    rows: Iterator[Row]
    if batch[16] == 2:
        header = BatchHeader.parse(batch)
        rows = (
            (record.offset, record.timestamp, record.key, record.value)
            for record in read_records(batch, bytes_max, as_views=True)
        )
        append_time = header.max_timestamp if header.is_append_time else None
        return header.codec, append_time, rows
    (entry,) = entries(batch)
    found = messages_of(entry, bytes_max)
    rows = ((one.offset, one.timestamp, one.key, one.value) for one in found)
    append_time = entry.timestamp if entry.timestamp_type == LOG_APPEND_TIME else None
    return entry.codec, append_time, rows


class DownConversion:
    """A fetched run of batches, converted while it is sent, since it may be large.

    How many bytes there are must be said before all are converted. It is the size of the run, or of
    its first converted batch if that is more, so that a consumer always gets one; what comes out
    too long is cut off, what comes out too short ends in an entry that seems cut off.
    """

    def __init__(
        self, data: Buffer, magic: int, first_offset: int = 0, bytes_max: int = INFLATED_BYTES_MAX
    ) -> None:
        """Convert the first batch; `CodecNotSupported` is raised here if that is impossible."""
        self.records_count = 0
        self.memory_bytes = 0
        self._target = (magic, first_offset, bytes_max)
        self._batches = list(_batches(data))
        self._next = 0
        self._first = self._chunk(0)
        self.size_bytes = max(len(data), len(self._first)) if self._first else 0
        if self._batches and not self._first:
            self.size_bytes = ENTRY_HEADER_BYTES

    def _chunk(self, chunk_bytes: int) -> bytes:
        """Convert at least one batch, and as many as fit; no bytes mean that none are left."""
        while self._next < len(self._batches):
            start, size = self._next, 0
            while self._next < len(self._batches):
                size += len(self._batches[self._next])
                if size > chunk_bytes and self._next > start:
                    break
                self._next += 1
            converted = _converted(self._batches[start : self._next], *self._target)
            self.records_count += converted.records_count
            self.memory_bytes += converted.memory_bytes
            if converted.data:
                return converted.data
        return b""

    def chunks(self, chunk_bytes: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Give exactly as many bytes as were announced; a batch of zstd ends what can be had."""
        left = self.size_bytes
        chunk = self._first
        while left > 0:
            if not chunk:
                yield from _filler(left)
                return
            yield chunk[:left]
            left -= len(chunk)
            if left > 0:
                try:
                    chunk = self._chunk(chunk_bytes)
                except CodecNotSupported:
                    chunk = b""


def _filler(left: int) -> Iterator[bytes]:
    """The start of an entry that claims to be longer than what is left, then nothing but zeros."""
    claimed_bytes = max(left + 1, HEADER_BYTES)
    start = (-1).to_bytes(8, "big", signed=True) + claimed_bytes.to_bytes(4, "big")
    yield start[:left]
    left -= len(start)
    while left > 0:
        yield bytes(min(left, CHUNK_BYTES))
        left -= CHUNK_BYTES
