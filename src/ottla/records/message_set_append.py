"""Give an accepted message set its offsets and times: in place where that is possible.

In place only offsets change, which lie outside of the checksums, and in magic 1 the time of an
entry. A set is rebuilt when its codec or its magic are not those of the log, when it is compressed
in magic 0, whose inner offsets are absolute, and when a client counted wrongly within a wrapper.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ottla.records.batch import HEADER_BYTES, BatchHeader
from ottla.records.builder import BatchOptions, Row, assemble, write_batch
from ottla.records.compression import Codec, compress
from ottla.records.message_set import (
    CREATE_TIME,
    ENTRY_HEADER_BYTES,
    LOG_APPEND_TIME,
    MESSAGE_BYTES_MIN,
    NO_TIMESTAMP,
    Entry,
    set_offset,
    set_timestamp,
    write_counted_set,
)
from ottla.records.message_set_check import MessageSetVerdict


@dataclass(frozen=True, slots=True)
class AppendTarget:
    """What the log that a set goes to is like; `append_time` is set where the log gives times."""

    base_offset: int
    magic: int = 2
    codec: int = Codec.NONE
    level: int | None = None
    append_time: int | None = None
    partition_leader_epoch: int = -1


class Appendable(NamedTuple):
    """A set as the log takes it, and what the conversion meters count."""

    data: bytes | bytearray | memoryview
    next_offset: int
    timestamp_max: int
    converted_count: int
    memory_bytes: int


def assign_offsets(
    data: bytearray | memoryview, verdict: MessageSetVerdict, target: AppendTarget
) -> Appendable:
    """Turn a set that was found good into what is appended, in place if that can be."""
    count = len(verdict.messages)
    next_offset = target.base_offset + count
    is_plain = verdict.codec == target.codec == Codec.NONE
    if verdict.codec != target.codec or verdict.magic != target.magic:
        is_in_place = False
    else:
        is_in_place = is_plain or (target.magic != 0 and verdict.are_offsets_right)
    if is_in_place:
        _assign_in_place(data, verdict, target)
        whole = verdict.entries[-1].position + verdict.entries[-1].size_bytes
        memory_bytes = 0 if is_plain else _content_bytes(verdict, target.magic)
        view = memoryview(data)[:whole]
        timestamp_max = _timestamp_max(verdict, target) if target.magic else NO_TIMESTAMP
        return Appendable(view, next_offset, timestamp_max, 0, memory_bytes)
    rebuilt, memory_bytes = _rebuilt(verdict, target)
    if not is_plain:
        memory_bytes += _content_bytes(verdict, target.magic)
    return Appendable(rebuilt, next_offset, _timestamp_max(verdict, target), count, memory_bytes)


def _timestamp_max(verdict: MessageSetVerdict, target: AppendTarget) -> int:
    if target.append_time is not None:
        return target.append_time
    return verdict.timestamp_max if target.magic else NO_TIMESTAMP


def _assign_in_place(
    data: bytearray | memoryview, verdict: MessageSetVerdict, target: AppendTarget
) -> None:
    """A wrapper takes the last offset and the largest time, messages that lie open their own."""
    is_append_time = target.append_time is not None
    timestamp_type = LOG_APPEND_TIME if is_append_time else CREATE_TIME
    last_offset = target.base_offset - 1
    for entry in verdict.entries:
        last_offset += len(verdict.messages) if entry.codec else 1
        set_offset(data, entry.position, last_offset)
        if entry.magic:
            own_time = verdict.timestamp_max if entry.codec else entry.timestamp
            time = own_time if target.append_time is None else target.append_time
            set_timestamp(data, entry, timestamp_type, time)


def _rebuilt(verdict: MessageSetVerdict, target: AppendTarget) -> tuple[bytes | bytearray, int]:
    """Write all messages anew; give how many bytes they take uncompressed, too."""
    if target.magic == 2:
        return up_convert(verdict.messages, target)
    rows = (
        (offset, one.timestamp, one.key, one.value)
        for offset, one in enumerate(verdict.messages, target.base_offset)
    )
    rebuilt = write_counted_set(
        target.magic, target.codec, rows, append_time=target.append_time, level=target.level
    )
    return rebuilt.data, rebuilt.uncompressed_bytes


def up_convert(messages: tuple[Entry, ...], target: AppendTarget) -> tuple[bytearray, int]:
    """Write messages as one batch of magic 2; give how many bytes that is uncompressed, too."""
    options = BatchOptions(
        base_offset=target.base_offset,
        partition_leader_epoch=target.partition_leader_epoch,
        append_timestamp=target.append_time,
    )
    rows: list[Row] = [
        (offset, one.timestamp, one.key, one.value, ())
        for offset, one in enumerate(messages, target.base_offset)
    ]
    batch = write_batch(rows, options)
    if target.codec == Codec.NONE:
        return batch, len(batch)
    header = BatchHeader.parse(batch)._replace(attributes=options.attributes | target.codec)
    section = compress(target.codec, memoryview(batch)[HEADER_BYTES:], target.level)
    return assemble(header, section), len(batch)


def _content_bytes(verdict: MessageSetVerdict, magic: int) -> int:
    """What the meters count as the size of a set that was opened: headers and messages."""
    header_bytes = 0
    if magic == 2:
        header_bytes = HEADER_BYTES * len(verdict.entries)
    elif verdict.codec:
        header_bytes = ENTRY_HEADER_BYTES + MESSAGE_BYTES_MIN[magic]
    return header_bytes + sum(message.size_bytes for message in verdict.messages)
