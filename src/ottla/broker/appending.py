"""Appending what a client sent for one partition: checked, placed, written, counted.

A batch stays the bytes that came, in the connection's own buffer: what is assigned lies in its
header. Only what the topic demands otherwise, another codec or format, is written anew.
"""

from dataclasses import replace
from typing import Final, NamedTuple

from ottla.broker.clock import Clock
from ottla.broker.partitions import Partition
from ottla.core.partition.producer_state import KnownBatch
from ottla.errors import ErrorCode
from ottla.records.batch import LENGTH_END, BatchHeader, WritableBuffer
from ottla.records.check import Rules, admit, check
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set
from ottla.records.rebuild import recompress
from ottla.records.scan import BatchRow, new_row, scan
from ottla.records.verdicts import RecordError, Verdict
from ottla.storage.writes import DISK_FULL

NO_OFFSET: Final = -1
NO_TIME: Final = -1
BATCHES_ONLY: Final = 3
"""The version of Produce from which on only batches of magic 2 are taken, one a partition."""
TAKES_ZSTD: Final = 7


class Outcome(NamedTuple):
    """What became of a partition's records."""

    error: ErrorCode
    base_offset: int = NO_OFFSET
    end_offset: int = NO_OFFSET
    append_time: int = NO_TIME
    reason: str | None = None
    record_errors: tuple[RecordError, ...] = ()
    has_moved: bool = False
    """Has the high watermark moved?"""


NOTHING: Final = Outcome(ErrorCode.NONE)
_NO_BATCH: Final = Outcome(
    ErrorCode.INVALID_RECORD, reason="a partition's records are exactly one batch"
)


def append(
    partition: Partition, records: memoryview | None, clock: Clock, *, version: int, acks: int
) -> Outcome:
    """Append the records of one partition of a Produce request, or say why not."""
    refused = partition.leader.why_not_append(acks)
    if refused:
        return Outcome(refused)
    if not records:
        return _NO_BATCH if version >= BATCHES_ONLY else NOTHING
    rules = partition.topic.options.rules
    if version < TAKES_ZSTD:
        rules = replace(rules, takes_zstd=False)
        if version < BATCHES_ONLY and (len(records) < 17 or records[16] < 2):
            return _append_set(partition, records, rules, clock)
    return _append_batch(partition, records, rules, clock)


def _append_batch(partition: Partition, records: memoryview, rules: Rules, clock: Clock) -> Outcome:
    """Append what has to be one batch."""
    verdict = check(records, rules, clock.wall_ms)
    if verdict.error:
        return Outcome(verdict.error, reason=verdict.reason, record_errors=verdict.record_errors)
    header = verdict.header
    assert header is not None, "a sound batch has a header"
    if header.producer_id >= 0:
        decision = partition.history.state.decide(header)
        if decision.duplicate is not None:
            return _as_before(partition, decision.duplicate)
        if decision.error:
            return Outcome(decision.error, reason=decision.reason)
    data, rows = place(partition, records, verdict, header, clock.wall_ms)
    return _write(partition, data, rows, clock)


def place(
    partition: Partition,
    records: memoryview,
    verdict: Verdict,
    header: BatchHeader,
    wall_ms: int,
) -> tuple[WritableBuffer, list[BatchRow]]:
    """Give a sound batch its place, and what else the topic demands."""
    options = partition.topic.options
    rules, codec = options.rules, options.codec
    epoch = partition.leader.leader_epoch
    offset = partition.log.end_offset
    data: WritableBuffer = records
    if codec is not None and codec != header.codec:
        data = recompress(records, codec, options.level, inflated=verdict.inflated)
    admit(data, verdict, rules, (offset, epoch), wall_ms)
    if rules.is_append_time or data is not records or verdict.max_timestamp != header.max_timestamp:
        return data, scan(data).rows
    _, length, _, magic, crc, attributes, last_offset_delta, base_timestamp, *rest = header
    max_timestamp, producer_id, producer_epoch, base_sequence, records_count = rest
    row = new_row(
        BatchRow,
        (
            0,
            length + LENGTH_END,
            magic,
            attributes,
            offset,
            offset + last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            records_count,
            epoch,
            crc,
        ),
    )
    return data, [row]


def _append_set(partition: Partition, records: memoryview, rules: Rules, clock: Clock) -> Outcome:
    """Append a message set of magic 0 or 1, which becomes a batch."""
    verdict = check_message_set(records, rules, clock.wall_ms)
    if verdict.error:
        return Outcome(verdict.error, reason=verdict.reason, record_errors=verdict.record_errors)
    if not verdict.messages:
        return NOTHING
    options = partition.topic.options
    append_time = clock.wall_ms if rules.is_append_time else None
    target = AppendTarget(
        base_offset=partition.log.end_offset,
        codec=verdict.codec if options.codec is None else options.codec,
        level=options.level,
        append_time=append_time,
        partition_leader_epoch=partition.leader.leader_epoch,
    )
    data = assign_offsets(records, verdict, target).data
    return _write(partition, data, scan(data).rows, clock)


def _write(
    partition: Partition, data: WritableBuffer | bytes, rows: list[BatchRow], clock: Clock
) -> Outcome:
    options = partition.topic.options
    size_bytes = len(data)
    if size_bytes > options.log.segment_bytes:
        reason = f"{size_bytes} bytes, where a segment has {options.log.segment_bytes}"
        return Outcome(ErrorCode.RECORD_LIST_TOO_LARGE, reason=reason)
    if size_bytes > options.rules.batch_bytes_max:
        # Only a batch that was written anew can have grown since it was checked.
        reason = f"a batch of {size_bytes} bytes after its conversion"
        return Outcome(ErrorCode.MESSAGE_TOO_LARGE, reason=reason)
    try:
        has_moved = partition.append(data, rows, clock.wall_ms)
    except OSError as fault:
        # Without room an append leaves nothing behind, and there may be room again.
        partition.is_offline = fault.errno not in DISK_FULL
        return Outcome(ErrorCode.KAFKA_STORAGE_ERROR, reason=fault.strerror)
    append_time = clock.wall_ms if options.rules.is_append_time else NO_TIME
    end_offset = partition.log.end_offset
    return Outcome(
        ErrorCode.NONE, rows[0].base_offset, end_offset, append_time, None, (), has_moved
    )


def _as_before(partition: Partition, known: KnownBatch) -> Outcome:
    """Answer a batch that came again as it was answered the first time."""
    is_append_time = partition.topic.options.rules.is_append_time
    append_time = known.timestamp if is_append_time else NO_TIME
    return Outcome(ErrorCode.NONE, known.first_offset, known.last_offset + 1, append_time)
