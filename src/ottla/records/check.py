"""Decide whether the bytes of a batch may be appended.

`check` holds what a client sends to every rule. `check_copied` takes what a leader or the node's
own disk holds already: only what would break the log is refused there, since records that were
accepted once must stay readable.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, NamedTuple
from zlib import crc32

from ottla.errors import ErrorCode
from ottla.kernels import records as kernel
from ottla.kernels.faults import LimitExceeded, Malformed
from ottla.records.batch import (
    APPEND_TIME_BIT,
    CODEC_BITS,
    CONTROL_BIT,
    HEADER,
    HEADER_BYTES,
    LENGTH_END,
    TRANSACTIONAL_BIT,
    BatchHeader,
    WritableBuffer,
    assign_offsets,
    checksum,
    set_max_timestamp,
)
from ottla.records.compression import INFLATED_BYTES_MAX, Codec, decompress
from ottla.records.scan import BatchRow, Stop, scan
from ottla.records.verdicts import (
    APPEND_TIME_MESSAGE,
    NO_KEY_MESSAGE,
    RECORD_ERRORS_MAX,
    RecordError,
    Verdict,
)
from ottla.wire.fields import Buffer

INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)

_ENTRY_BYTES_MIN: Final = 17

# By a getter, as the type checkers do not know the type of a tuple's own `__new__`.
_new_header: Final[Callable[[type[BatchHeader], Iterable[int]], BatchHeader]] = attrgetter(
    "__new__"
)(tuple)
_LENGTH_MIN: Final = 14


@dataclass(frozen=True, slots=True)
class Rules:
    """What a topic and the version of a Produce request demand of a client's batch."""

    batch_bytes_max: int = 1_048_588
    inflated_bytes_max: int = INFLATED_BYTES_MAX
    is_compacted: bool = False
    is_append_time: bool = False
    before_max_ms: int = INT64_MAX
    after_max_ms: int = 3_600_000
    magic: int = 2
    takes_zstd: bool = True


def check(data: Buffer, rules: Rules, now_ms: int) -> Verdict:
    """Check what a client sent for one partition: exactly one batch that breaks no rule."""
    size = len(data)
    if size < HEADER_BYTES or data[16] != 2:
        return _refuse_framing(data)
    header = _new_header(BatchHeader, HEADER.unpack_from(data))
    if header.batch_length != size - LENGTH_END:
        return _refuse_framing(data)
    if header.base_offset != 0:
        return _invalid(header, f"a client's base offset is 0, not {header.base_offset}")
    if size > rules.batch_bytes_max:
        reason = f"a batch of {size} bytes, where {rules.batch_bytes_max} are allowed"
        return Verdict(ErrorCode.MESSAGE_TOO_LARGE, reason, header=header)
    if checksum(data) != header.crc:
        reason = "the checksum is not that of the bytes"
        return Verdict(ErrorCode.CORRUPT_MESSAGE, reason, header=header)
    return _refuse_header(header, rules) or _check_records(data, header, rules, now_ms)


def _invalid(header: BatchHeader | None, reason: str) -> Verdict:
    return Verdict(ErrorCode.INVALID_RECORD, reason, header=header)


def _refuse_framing(data: Buffer) -> Verdict:
    """Say why bytes are not exactly one batch."""
    size = len(data)
    if size < _ENTRY_BYTES_MIN:
        return _invalid(None, "a partition's records are at least one whole batch")
    length = int.from_bytes(data[8:LENGTH_END], "big", signed=True)
    magic = data[16]
    if length < _LENGTH_MIN or magic > 2:
        reason = f"an entry of magic {magic} and {length} bytes"
        return Verdict(ErrorCode.CORRUPT_MESSAGE, reason)
    if magic < 2:
        return _invalid(None, f"magic {magic}, where only batches of magic 2 are taken")
    if length > size - LENGTH_END:
        return _invalid(None, "a partition's records are at least one whole batch")
    if length < HEADER_BYTES - LENGTH_END:
        return Verdict(ErrorCode.CORRUPT_MESSAGE, f"a batch of {length} bytes")
    return _invalid(None, "a partition's records are one batch and nothing more")


def _refuse_header(header: BatchHeader, rules: Rules) -> Verdict | None:
    """Judge the numbers of a client's header, in the order in which Kafka does."""
    count = header.last_offset_delta + 1
    attributes = header.attributes
    codec = attributes & CODEC_BITS
    is_idempotent = header.producer_id >= 0
    if count <= 0 or header.records_count != count:
        reason = f"{header.records_count} records, where the offsets are {count}"
        return _invalid(header, reason)
    if attributes & CONTROL_BIT:
        return _invalid(header, "clients do not write control records")
    if is_idempotent and header.base_sequence < 0:
        reason = f"sequence {header.base_sequence} of producer {header.producer_id}"
        return _invalid(header, reason)
    if rules.magic < 2 and (is_idempotent or attributes & TRANSACTIONAL_BIT):
        reason = f"magic {rules.magic} has no producers and no transactions"
        return Verdict(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, reason, header=header)
    if codec and (codec > Codec.ZSTD or (codec == Codec.ZSTD and not rules.takes_zstd)):
        reason = f"codec {codec} is not taken here"
        return Verdict(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reason, header=header)
    return None


def _check_records(data: Buffer, header: BatchHeader, rules: Rules, now_ms: int) -> Verdict:
    """Go over the records; any bad one refuses the batch, and then all bad ones are listed."""
    inflated = None
    codec = header.attributes & CODEC_BITS
    is_append_time = header.attributes & APPEND_TIME_BIT != 0
    if codec:
        try:
            section = memoryview(data)[HEADER_BYTES:]
            inflated = decompress(codec, section, rules.inflated_bytes_max)
        except LimitExceeded as fault:
            return Verdict(ErrorCode.MESSAGE_TOO_LARGE, str(fault), header=header)
        except Malformed as fault:
            return _invalid(header, f"the records do not decompress: {fault}")
    earliest = max(now_ms - rules.before_max_ms, INT64_MIN)
    latest = min(now_ms + rules.after_max_ms, INT64_MAX)
    demands = kernel.CONSECUTIVE
    if rules.is_compacted:
        demands |= kernel.KEYS
    if not rules.is_append_time:
        demands |= kernel.TIMES
    fault_number, index, max_timestamp, max_index, no_keys, bad_times = kernel.check_records(
        data, inflated, demands, earliest, latest
    )
    if fault_number:
        return _invalid(header, f"record {index}: {kernel.FAULTS[fault_number]}")
    if no_keys or bad_times or is_append_time:
        found = kernel.list_objections(data, inflated, demands, earliest, latest, RECORD_ERRORS_MAX)
        bad_count = header.records_count if is_append_time else no_keys + bad_times
        is_time = is_append_time or bad_times > 0
        return _refuse_records(header, dict(found), (earliest, latest), (bad_count, is_time))
    return Verdict(ErrorCode.NONE, "", (), header, inflated, max_timestamp, max_index)


def _refuse_records(
    header: BatchHeader,
    found: dict[int, int],
    timestamps: tuple[int, int],
    facts: tuple[int, bool],
) -> Verdict:
    """List the first bad records; a bad time anywhere names the batch's error.

    Every record of a batch that claims the append time is bad, be it for a reason of its own.
    `facts` are how many are bad, and whether a time is.
    """
    bad_count, is_time = facts
    range_message = f"the time is not within {timestamps[0]} and {timestamps[1]}"
    messages = {kernel.NO_KEY: NO_KEY_MESSAGE, kernel.BAD_TIME: range_message}
    listed_count = min(header.records_count, RECORD_ERRORS_MAX)
    indexes = range(listed_count) if header.is_append_time else sorted(found)
    errors = tuple(
        RecordError(index, messages[found[index]] if index in found else APPEND_TIME_MESSAGE)
        for index in indexes
    )
    error = ErrorCode.INVALID_TIMESTAMP if is_time else ErrorCode.INVALID_RECORD
    return Verdict(error, f"{bad_count} records are not taken", errors, header)


def admit(
    batch: WritableBuffer, verdict: Verdict, rules: Rules, place: tuple[int, int], now_ms: int
) -> None:
    """Make a batch that was found good the log's own, in place: `place` is offset and epoch.

    The time type becomes the topic's, and the largest time what it is, whatever the client said.
    """
    assert verdict.error == ErrorCode.NONE, "only a batch found good is admitted"
    header = verdict.header
    assert header is not None, "a sound batch has a header"
    assign_offsets(batch, *place)
    if rules.is_append_time:
        set_max_timestamp(batch, now_ms, is_append_time=True)
    elif verdict.max_timestamp != header.max_timestamp:
        set_max_timestamp(batch, verdict.max_timestamp, is_append_time=False)


class Copied(NamedTuple):
    """The batches of a run that may be appended as they are, up to `end_position`.

    `stop` is why the run ends there; at `CHECKSUM` the next batch is whole but damaged.
    """

    rows: list[BatchRow]
    end_position: int
    stop: Stop


def check_copied(
    data: Buffer,
    position: int = 0,
    *,
    offset_min: int = 0,
    leader_epoch_max: int | None = None,
) -> Copied:
    """Check what a leader sent or a log holds: framing, rising offsets, checksums.

    A run ends before the first batch that fails, or that is of a leader epoch not known yet.
    """
    rows: list[BatchRow] = []
    view = memoryview(data)
    while True:
        found = scan(view, position)
        for row in found.rows:
            if row.base_offset < offset_min:
                return Copied(rows, row.position, Stop.ORDER)
            if leader_epoch_max is not None and row.partition_leader_epoch > leader_epoch_max:
                return Copied(rows, row.position, Stop.LATER_EPOCH)
            if entry_checksum(view, row) != row.crc:
                return Copied(rows, row.position, Stop.CHECKSUM)
            offset_min = row.last_offset + 1
            rows.append(row)
        position = found.end_position
        if found.stop is not Stop.FULL:
            return Copied(rows, position, found.stop)


def entry_checksum(data: Buffer, row: BatchRow) -> int:
    """The checksum that an entry of any magic ought to have."""
    whole = memoryview(data)[row.position : row.position + row.size_bytes]
    return checksum(whole) if row.magic == 2 else crc32(whole[16:])
