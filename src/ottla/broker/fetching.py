"""Reading what a fetch asks of one partition: bounds, epochs, the range of the file.

What is read stays a range of a file, so that it goes to the peer without passing through here. Only
what an old consumer cannot understand is read and converted.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.broker.fetch_sessions import TOPIC_IDS, Wanted
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.errors import ErrorCode
from ottla.kernels.faults import Malformed, Unencodable
from ottla.records.compression import Codec
from ottla.records.conversion import CodecNotSupported, DownConversion
from ottla.storage.log import LogPlace
from ottla.storage.segment import Slice

COMMITTED_ONLY: Final = 1
NO_OFFSET: Final = -1
INT32_MAX: Final = 2**31 - 1
SENDS_CUT_BATCHES: Final = 2
"""The last version whose consumers are sent the start of a batch that is too large for them."""
_KNOWS_BATCHES: Final = 4
_KNOWS_TIMES: Final = 2
_KNOWS_ZSTD: Final = 10
_KNOWS_STORAGE_ERROR: Final = 6
_Asked = FetchRequest.Topic.Partition
_Answer = FetchResponse.Topic.Partition


@dataclass(slots=True)
class Allowance:
    """How much of an answer is left, while it is put together."""

    bytes_left: int
    must_give: bool
    """May the next batch be larger than what is left, so that a consumer gets on?"""


class Reading(NamedTuple):
    """What a partition answers, and how many bytes of records that are."""

    answer: _Answer
    size_bytes: int = 0


def find_partition(node: Node, wanted: Wanted, version: int) -> Partition | ErrorCode:
    """The partition that somebody wants to read, or why there is none."""
    if version >= TOPIC_IDS:
        partition = node.partitions.of_id(wanted.topic_id, wanted.asked.partition)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
        if partition is None and node.topics.of_id(wanted.topic_id) is not None:
            unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        partition = node.partitions.get(wanted.topic, wanted.asked.partition)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if partition is None:
        return unknown
    if partition.is_offline:
        is_known = version >= _KNOWS_STORAGE_ERROR
        return ErrorCode.KAFKA_STORAGE_ERROR if is_known else ErrorCode.NOT_LEADER_OR_FOLLOWER
    return partition


def end_place(partition: Partition, isolation_level: int) -> LogPlace:
    """Up to where a consumer may read."""
    if isolation_level == COMMITTED_ONLY:
        return partition.place_of(partition.last_stable_offset)
    return partition.place_of(partition.leader.high_watermark)


def read(
    node: Node, wanted: Wanted, isolation_level: int, version: int, allowance: Allowance
) -> Reading:
    """Read one partition, within what is left of the answer."""
    asked = wanted.asked
    partition = find_partition(node, wanted, version)
    if isinstance(partition, ErrorCode):
        return refused(asked.partition, partition)
    code = _why_not(partition, asked, version)
    if code:
        return refused(asked.partition, code)
    log = partition.log
    answer = _Answer(
        partition_index=asked.partition,
        error_code=0,
        high_watermark=partition.leader.high_watermark,
        last_stable_offset=partition.last_stable_offset,
        log_start_offset=log.log_start_offset,
        aborted_transactions=None,
        records=b"",
    )
    if asked.last_fetched_epoch >= 0 and _note_divergence(partition, asked, answer):
        return Reading(answer)
    try:
        return _read_log(partition, wanted.asked, answer, isolation_level, version, allowance)
    except OSError:
        partition.is_offline = True
        return refused(asked.partition, ErrorCode.KAFKA_STORAGE_ERROR)
    except Malformed:
        return refused(asked.partition, ErrorCode.CORRUPT_MESSAGE)


def _read_log(
    partition: Partition,
    asked: _Asked,
    answer: _Answer,
    isolation_level: int,
    version: int,
    allowance: Allowance,
) -> Reading:
    """Read what the log has; raises what its disk or its bytes are to blame for."""
    bytes_max = min(asked.partition_max_bytes, allowance.bytes_left)
    end = end_place(partition, isolation_level)
    found = partition.log.read(asked.fetch_offset, max(bytes_max, 0), end)
    if isolation_level == COMMITTED_ONLY:
        answer.aborted_transactions = _aborted(partition, asked.fetch_offset, end.offset)
    if found is not None:
        found = _within(found, bytes_max, version, allowance)
    if found is None:
        return Reading(answer)
    return _give(answer, found, version, allowance, asked.fetch_offset)


def refused(index: int, code: ErrorCode) -> Reading:
    """The answer of a partition that cannot be read."""
    answer = _Answer(partition_index=index, error_code=code, high_watermark=NO_OFFSET, records=b"")
    return Reading(answer)


def _why_not(partition: Partition, asked: _Asked, version: int) -> ErrorCode:
    code = partition.leader.why_not_epoch(asked.current_leader_epoch)
    if code:
        return code
    log = partition.log
    if not log.log_start_offset <= asked.fetch_offset <= log.end_offset:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    if version < _KNOWS_ZSTD and partition.topic.options.codec is Codec.ZSTD:
        return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    return ErrorCode.NONE


def _note_divergence(partition: Partition, asked: _Asked, answer: _Answer) -> bool:
    """See whether the reader has followed another leader, and tell it where to cut (KIP-595)."""
    epochs = partition.history.leader_epochs
    ended = epochs.end_offset_for(asked.last_fetched_epoch, partition.log.end_offset)
    if ended.epoch < 0:
        answer.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
        answer.high_watermark = answer.last_stable_offset = answer.log_start_offset = NO_OFFSET
        return True
    if ended.epoch == asked.last_fetched_epoch and ended.end_offset >= asked.fetch_offset:
        return False
    answer.diverging_epoch = _Answer.DivergingEpoch(epoch=ended.epoch, end_offset=ended.end_offset)
    return True


def _within(found: Slice, bytes_max: int, version: int, allowance: Allowance) -> Slice | None:
    """Hold a range to the bounds, but for a first batch that must come whole."""
    if found.size_bytes <= bytes_max:
        return found if found.size_bytes else None
    if version <= SENDS_CUT_BATCHES:
        return found._replace(size_bytes=bytes_max) if bytes_max > 0 else None
    return found if allowance.must_give else None


def _give(
    answer: _Answer,
    found: Slice,
    version: int,
    allowance: Allowance,
    fetch_offset: int,
) -> Reading:
    size_bytes = found.size_bytes
    if version < _KNOWS_BATCHES:
        magic = 0 if version < _KNOWS_TIMES else 1
        try:
            records = _converted(found, magic, fetch_offset)
        except CodecNotSupported:
            return refused(answer.partition_index, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        except Unencodable:
            return refused(answer.partition_index, ErrorCode.UNSUPPORTED_VERSION)
        answer.records, size_bytes = records, len(records)
    else:
        # The encoder takes a range of a file for the bytes that it stands for.
        answer.records = cast("memoryview", found)
    allowance.bytes_left -= size_bytes
    if size_bytes:
        allowance.must_give = False
    return Reading(answer, size_bytes)


def _converted(found: Slice, magic: int, fetch_offset: int) -> bytes:
    """The batches of a range in an older format."""
    data = found.file.read(found.position, found.size_bytes)
    conversion = DownConversion(data, magic, fetch_offset)
    return b"".join(conversion.chunks())


def _aborted(
    partition: Partition, offset: int, end_offset: int
) -> list[_Answer.AbortedTransaction]:
    """The aborted transactions that a consumer may meet in what it is given."""
    return [
        _Answer.AbortedTransaction(producer_id=one.producer_id, first_offset=one.first_offset)
        for one in partition.log.aborted(offset, end_offset)
    ]
