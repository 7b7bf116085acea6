"""ListOffsets: the offset of a time, or of a place that has a name."""

from collections import Counter
from typing import Final, NamedTuple, cast

from ottla.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.errors import ErrorCode
from ottla.kernels.faults import Malformed
from ottla.wire.fields import Message

LATEST: Final = -1
EARLIEST: Final = -2
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6
_SINCE: Final = {
    LATEST: 0,
    EARLIEST: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
"""The version from which on a name may be asked for."""
CONSUMER: Final = -1
DEBUGGER: Final = -2
COMMITTED_ONLY: Final = 1
_KNOWS_EPOCHS: Final = 4
_KNOWS_NOT_AVAILABLE: Final = 5
_Asked = ListOffsetsRequest.Topic.Partition
_Answer = ListOffsetsResponse.Topic.Partition


class Found(NamedTuple):
    """An offset with the time of its record, where it was found by one, and its leader epoch."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


_NOTHING: Final = Found()


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("ListOffsetsRequest", message)
    topics: list[ListOffsetsResponse.Topic] = []
    named = Counter(
        (topic.name, one.partition_index) for topic in asked.topics for one in topic.partitions
    )
    for topic in asked.topics:
        answers: list[_Answer] = []
        for one in topic.partitions:
            if named[topic.name, one.partition_index] > 1:
                answers.append(_refused(one, ErrorCode.INVALID_REQUEST))
            else:
                partition = node.partitions.get(topic.name, one.partition_index)
                answers.append(_answer(partition, asked, one, request.version, node.clock.wall_ms))
        topics.append(ListOffsetsResponse.Topic(name=topic.name, partitions=answers))
    return ListOffsetsResponse(topics=topics)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("ListOffsetsRequest", message)
    return ListOffsetsResponse(
        topics=[
            ListOffsetsResponse.Topic(
                name=topic.name, partitions=[_refused(one, code) for one in topic.partitions]
            )
            for topic in asked.topics
        ]
    )


def _refused(one: _Asked, code: ErrorCode) -> _Answer:
    return _Answer(partition_index=one.partition_index, error_code=code)


def _answer(
    partition: Partition | None,
    asked: ListOffsetsRequest,
    one: _Asked,
    version: int,
    wall_ms: int,
) -> _Answer:
    if one.timestamp < 0 and version < _SINCE.get(one.timestamp, version + 1):
        return _refused(one, ErrorCode.UNSUPPORTED_VERSION)
    if partition is None:
        return _refused(one, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    code = _why_not(partition, one, version)
    if code:
        return _refused(one, code)
    try:
        return _looked_up(partition, asked, one, version, wall_ms)
    except OSError:
        partition.is_offline = True
        return _refused(one, ErrorCode.KAFKA_STORAGE_ERROR)
    except Malformed:
        return _refused(one, ErrorCode.CORRUPT_MESSAGE)


def _looked_up(
    partition: Partition,
    asked: ListOffsetsRequest,
    one: _Asked,
    version: int,
    wall_ms: int,
) -> _Answer:
    if version == 0:
        offsets = _old_style(partition, asked.replica_id, one, wall_ms)
        return _Answer(partition_index=one.partition_index, error_code=0, old_style_offsets=offsets)
    found = _found(partition, asked, one.timestamp)
    return _Answer(
        partition_index=one.partition_index,
        error_code=0,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if version >= _KNOWS_EPOCHS else -1,
    )


def _why_not(partition: Partition, one: _Asked, version: int) -> ErrorCode:
    if partition.is_offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    code = partition.leader.why_not_epoch(one.current_leader_epoch)
    if code:
        return code
    is_end = one.timestamp >= 0 or one.timestamp in (LATEST, MAX_TIMESTAMP)
    if is_end and not partition.leader.is_latest_known():
        is_known = version >= _KNOWS_NOT_AVAILABLE
        return ErrorCode.OFFSET_NOT_AVAILABLE if is_known else ErrorCode.LEADER_NOT_AVAILABLE
    return ErrorCode.NONE


def _end_offset(partition: Partition, asked: ListOffsetsRequest) -> int:
    """Past the last offset that the one who asks may see."""
    if asked.replica_id != CONSUMER:
        return partition.log.end_offset
    if asked.isolation_level == COMMITTED_ONLY:
        return partition.last_stable_offset
    return partition.leader.high_watermark


def _found(partition: Partition, asked: ListOffsetsRequest, timestamp: int) -> Found:
    log, epochs = partition.log, partition.history.leader_epochs
    end_offset = _end_offset(partition, asked)
    if timestamp == LATEST:
        latest = epochs.latest_epoch
        return Found(end_offset, -1, -1 if latest is None else latest)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        first = next(iter(epochs.entries()), None)
        is_of_epoch = first is not None and first.start_offset <= log.log_start_offset
        epoch = first.epoch if first is not None and is_of_epoch else -1
        return Found(log.log_start_offset, -1, epoch)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        # Nothing is in a remote tier, and nothing is on its way there.
        return _NOTHING
    found = log.find_latest() if timestamp == MAX_TIMESTAMP else log.find_timestamp(timestamp)
    if found is None or found.offset >= end_offset:
        return _NOTHING
    epoch_at = epochs.epoch_at(found.offset)
    return Found(found.offset, found.timestamp, -1 if epoch_at is None else epoch_at)


def _old_style(partition: Partition, replica_id: int, one: _Asked, wall_ms: int) -> list[int]:
    """The starts of segments that were last written before a time, newest first (version 0)."""
    log = partition.log
    times: list[tuple[int, int]] = []
    for segment in log.segments:
        status = log.files.disk.status(f"{segment.stem}.log")
        modified_ms = 0 if status is None else status.modified_ms
        times.append((max(segment.base_offset, log.log_start_offset), modified_ms))
    if log.segments.active.size_bytes:
        times.append((log.end_offset, wall_ms))
    if one.timestamp == LATEST:
        place = len(times) - 1
    elif one.timestamp == EARLIEST:
        place = 0
    else:
        place = max((n for n, (_, time) in enumerate(times) if time <= one.timestamp), default=-1)
    count = min(max(one.max_num_offsets, 0), place + 1)
    offsets = sorted((times[place - step][0] for step in range(count)), reverse=True)
    high_watermark = partition.leader.high_watermark
    if replica_id == DEBUGGER or not any(offset > high_watermark for offset in offsets):
        return offsets
    return [high_watermark, *(offset for offset in offsets if offset < high_watermark)]
