"""Message sets, magic 0 and 1: read from bytes and written as bytes.

A set is entries without a count in front, each an offset, a size and a message with its own
checksum; a set that was cut for its size may end within an entry. A compressed set is one wrapper
message whose value holds the compressed set of all the others, never deeper than one level:

- magic 0: the inner offsets are absolute, the wrapper has the last of them;
- magic 1: the inner offsets count from 0 within the wrapper, which has the last absolute one. If
  the wrapper says that its time is when the log appended it, that is the time of all within.
"""

import struct
from collections.abc import Iterable, Iterator
from itertools import islice
from struct import Struct
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated, Unencodable
from ottla.records import compression
from ottla.records.compression import INFLATED_BYTES_MAX, Codec
from ottla.wire.fields import Buffer

NO_TIMESTAMP: Final = -1
NO_TIMESTAMP_TYPE: Final = -1
CREATE_TIME: Final = 0
LOG_APPEND_TIME: Final = 1

ENTRY_HEADER_BYTES: Final = 12
"""The offset and the size in front of each message."""
MESSAGE_BYTES_MIN: Final = (14, 22)
"""What an empty message of magic 0, and of magic 1, takes without its offset and size."""

MESSAGES_MAX: Final = 50_000
"""How many messages one wrapper or one produced set may hold.

Each is an object here, of several hundred bytes, and takes only 26 of a set; compressed it takes a
fraction of one. Producers of the time filled sets of 16 KiB.
"""

CODEC_BITS: Final = 0x07
APPEND_TIME_BIT: Final = 0x08

_ENTRY_HEADER: Final = Struct(">qi")
_OFFSET: Final = Struct(">q")
_SIZE: Final = Struct(">i")
_CHECKSUM: Final = Struct(">I")
# What the checksum covers, up to the key.
_FRONT: Final = (Struct(">bb"), Struct(">bbq"))
_MAGIC_PLACE: Final = 16
_TIMESTAMP_PLACE: Final = 18
_OFFSET_DELTA_MAX: Final = 2**31 - 1


class Entry(NamedTuple):
    """One message as it lies in a set, with its offset and the place where it begins.

    In a compressed set this is the wrapper, or one of the messages that were within it.
    """

    position: int
    size_bytes: int
    offset: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    key: memoryview | None
    value: memoryview | None

    @property
    def codec(self) -> int:
        """The number of the codec; other than 0 means that this is a wrapper."""
        return self.attributes & CODEC_BITS

    @property
    def timestamp_type(self) -> int:
        """What the timestamp is: none in magic 0, of creation or of appending in magic 1."""
        if self.magic == 0:
            return NO_TIMESTAMP_TYPE
        return LOG_APPEND_TIME if self.attributes & APPEND_TIME_BIT else CREATE_TIME


class Message(NamedTuple):
    """One message as its reader sees it, whether or not it lay in a wrapper."""

    offset: int
    timestamp: int
    timestamp_type: int
    key: Buffer | None
    value: Buffer | None


class WrongChecksum(InvalidValue):
    """A message within a wrapper whose checksum is not that of its bytes."""


Row: TypeAlias = tuple[int, int, Buffer | None, Buffer | None]
"""What a writer takes for one message: its offset, timestamp, key and value."""


def entries(data: Buffer, position: int = 0) -> Iterator[Entry]:
    """Walk the entries of a set, wrappers as they are; one that is cut off at the end is left out.

    Checksums are not looked at: `checksum` does that.
    """
    view = memoryview(data)
    while len(view) - position >= ENTRY_HEADER_BYTES:
        size = _SIZE.unpack_from(view, position + 8)[0]
        if size < MESSAGE_BYTES_MIN[0]:
            raise InvalidValue(f"a message of {size} bytes", position + 8)
        if len(view) - position <= _MAGIC_PLACE:
            return
        magic = view[position + _MAGIC_PLACE]
        if magic > 1:
            raise InvalidValue(f"magic {magic} is not that of a message set", position + 16)
        if len(view) - position - ENTRY_HEADER_BYTES < size:
            return
        yield _entry(view, position, size)
        position += ENTRY_HEADER_BYTES + size


def _entry(view: memoryview, position: int, size: int) -> Entry:
    """Read a message that is there as a whole; any magic but 0 has the fields of 1."""
    end = position + ENTRY_HEADER_BYTES + size
    (offset,) = _OFFSET.unpack_from(view, position)
    (crc,) = _CHECKSUM.unpack_from(view, position + ENTRY_HEADER_BYTES)
    magic, attributes = view[position + 16], view[position + 17]
    timestamp, at = NO_TIMESTAMP, position + _TIMESTAMP_PLACE
    if magic != 0:
        if size < MESSAGE_BYTES_MIN[1]:
            raise InvalidValue(f"a message of {size} bytes with a timestamp", position + 8)
        (timestamp,) = _OFFSET.unpack_from(view, at)
        at += _OFFSET.size
    key, at = _nullable(view, at, end)
    value, at = _nullable(view, at, end)
    size_bytes = ENTRY_HEADER_BYTES + size
    return Entry(position, size_bytes, offset, crc, magic, attributes, timestamp, key, value)


def _nullable(view: memoryview, at: int, end: int) -> tuple[memoryview | None, int]:
    """Read a length and so many bytes; like the Java client, any negative length is a null."""
    start = at + _SIZE.size
    if start > end:
        raise Truncated("a message ends within a length", at)
    (length,) = _SIZE.unpack_from(view, at)
    if length < 0:
        return None, start
    if length > end - start:
        raise Truncated(f"{length} bytes of a message in which {end - start} are left", at)
    return view[start : start + length], start + length


def checksum(data: Buffer, entry: Entry) -> int:
    """The CRC-32 that an entry's bytes have; a sound one has the same as its `crc`."""
    start = entry.position + ENTRY_HEADER_BYTES
    return crc32(memoryview(data)[start + 4 : entry.position + entry.size_bytes])


def inner_entries(
    wrapper: Entry, bytes_max: int = INFLATED_BYTES_MAX, *, with_checksums: bool = False
) -> tuple[bytes, list[Entry]]:
    """Decompress a wrapper: give what it held, and its entries with absolute offsets and times.

    Their positions are in the bytes given. A wrapper of magic 1 whose offset is 0 was written by a
    client that left offsets to the broker, so its inner offsets are taken as they are. Checksums
    are looked at when asked for, but not of messages of another magic than the wrapper's.
    """
    codec = wrapper.codec
    if codec > Codec.LZ4:
        raise InvalidValue(f"a message set has no codec {codec}", wrapper.position)
    if wrapper.value is None:
        raise InvalidValue("a compressed message set is null", wrapper.position)
    data = compression.decompress(
        codec, wrapper.value, bytes_max, legacy_checksum=wrapper.magic == 0
    )
    inner = _inner(memoryview(data), wrapper.magic if with_checksums else -1)
    found = list(islice(inner, MESSAGES_MAX + 1))
    if len(found) > MESSAGES_MAX:
        raise LimitExceeded(f"more than {MESSAGES_MAX} messages", wrapper.position)
    if not found:
        raise InvalidValue("a compressed message set is empty", wrapper.position)
    if wrapper.magic == 0:
        return data, found
    base_offset = 0
    if wrapper.offset != 0:
        base_offset = wrapper.offset - found[-1].offset
        if base_offset < 0:
            reason = f"offset {wrapper.offset} of a wrapper is below {found[-1].offset} within it"
            raise InvalidValue(reason, wrapper.position)
    return data, [_seen_through(wrapper, entry, base_offset) for entry in found]


def _inner(view: memoryview, checked_magic: int) -> Iterator[Entry]:
    position = 0
    while len(view) - position >= ENTRY_HEADER_BYTES:
        (size,) = _SIZE.unpack_from(view, position + 8)
        if size < MESSAGE_BYTES_MIN[0]:
            raise InvalidValue(f"a message of {size} bytes", position + 8)
        if len(view) - position - ENTRY_HEADER_BYTES < size:
            return
        end = position + ENTRY_HEADER_BYTES + size
        if view[position + _MAGIC_PLACE] == checked_magic:
            # Before its fields are read: a damaged length is first of all damage.
            (crc,) = _CHECKSUM.unpack_from(view, position + ENTRY_HEADER_BYTES)
            if crc32(view[position + _MAGIC_PLACE : end]) != crc:
                raise WrongChecksum("a checksum within is not that of the bytes", position)
        yield _entry(view, position, size)
        position = end


def _seen_through(wrapper: Entry, entry: Entry, base_offset: int) -> Entry:
    """An inner entry with its absolute offset, and the time that the wrapper gives it."""
    time_bit = wrapper.attributes & APPEND_TIME_BIT if entry.magic else 0
    return entry._replace(
        offset=base_offset + entry.offset,
        attributes=entry.attributes & ~APPEND_TIME_BIT | time_bit,
        timestamp=wrapper.timestamp if time_bit else entry.timestamp,
    )


def messages(data: Buffer, bytes_max: int = INFLATED_BYTES_MAX) -> Iterator[Message]:
    """Read all messages of a set, those in wrappers too; checksums are not looked at."""
    for entry in entries(data):
        yield from messages_of(entry, bytes_max)


def messages_of(entry: Entry, bytes_max: int = INFLATED_BYTES_MAX) -> Iterator[Message]:
    """Read the message that an entry is, or those that it wraps."""
    found = inner_entries(entry, bytes_max)[1] if entry.codec else [entry]
    for inner in found:
        if entry.codec and inner.codec:
            raise InvalidValue("a compressed message set within another", entry.position)
        yield Message(inner.offset, inner.timestamp, inner.timestamp_type, inner.key, inner.value)


def write_message_set(
    magic: int,
    codec: int,
    rows: Iterable[Row],
    *,
    append_time: int | None = None,
    level: int | None = None,
) -> bytes:
    """Write a set; with a codec it is one wrapper. No rows are no bytes.

    With `append_time` all messages have that time, and say that the log gave it to them.
    """
    return write_counted_set(magic, codec, rows, append_time=append_time, level=level).data


class CountedSet(NamedTuple):
    """A set that was written, how many messages it holds, and their bytes before compression."""

    data: bytes
    messages_count: int
    uncompressed_bytes: int


def write_counted_set(
    magic: int,
    codec: int,
    rows: Iterable[Row],
    *,
    append_time: int | None = None,
    level: int | None = None,
) -> CountedSet:
    """Write a set as `write_message_set` does; rows are taken one by one, so many cost little."""
    if codec > Codec.LZ4 or codec < 0 or magic not in (0, 1):
        raise Unencodable(f"magic {magic} has no codec {codec}")
    content = bytearray()
    count = 0
    base_offset = offset_before = -1
    timestamp_max = NO_TIMESTAMP
    attributes = APPEND_TIME_BIT if magic and append_time is not None else 0
    for offset, timestamp, key, value in rows:
        if not count:
            base_offset = offset
        elif not offset_before < offset <= base_offset + _OFFSET_DELTA_MAX:
            raise Unencodable(f"offset {offset} does not rise, or is too far from the first")
        offset_before = offset
        time = timestamp if append_time is None else append_time
        timestamp_max = max(timestamp_max, time)
        shown = offset - base_offset if codec and magic else offset
        content += _message(magic, attributes, (shown, time, key, value))
        count += 1
    if not codec or not count:
        return CountedSet(bytes(content), count, len(content))
    wrapped = compression.compress(codec, content, level, legacy_checksum=magic == 0)
    data = _message(magic, attributes | codec, (offset_before, timestamp_max, None, wrapped))
    wrapper_bytes = ENTRY_HEADER_BYTES + MESSAGE_BYTES_MIN[magic]
    return CountedSet(data, count, wrapper_bytes + len(content))


def _message(magic: int, attributes: int, row: Row) -> bytes:
    """Write one entry."""
    offset, timestamp, key, value = row
    if timestamp < NO_TIMESTAMP:
        raise Unencodable(f"a message has no timestamp {timestamp}")
    fields = (magic, attributes, timestamp) if magic else (magic, attributes)
    try:
        body = b"".join((_FRONT[magic].pack(*fields), *_sized(key), *_sized(value)))
        header = _ENTRY_HEADER.pack(offset, 4 + len(body))
    except struct.error as error:
        raise Unencodable(f"no message at offset {offset}: {error}") from error
    return b"".join((header, _CHECKSUM.pack(crc32(body)), body))


def _sized(value: Buffer | None) -> tuple[Buffer, ...]:
    return (_SIZE.pack(-1),) if value is None else (_SIZE.pack(len(value)), value)


def set_offset(data: bytearray | memoryview, position: int, offset: int) -> None:
    """Give an entry its offset; its checksum stays right."""
    _OFFSET.pack_into(data, position, offset)


def set_timestamp(
    data: bytearray | memoryview, entry: Entry, timestamp_type: int, timestamp: int
) -> None:
    """Set the time of an entry of magic 1, and its checksum if that changes anything."""
    if entry.timestamp_type == timestamp_type and entry.timestamp == timestamp:
        return
    position = entry.position
    time_bit = APPEND_TIME_BIT if timestamp_type == LOG_APPEND_TIME else 0
    _FRONT[1].pack_into(data, position + 16, 1, entry.codec | time_bit, timestamp)
    _CHECKSUM.pack_into(data, position + ENTRY_HEADER_BYTES, checksum(data, entry))
