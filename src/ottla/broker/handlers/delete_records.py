"""DeleteRecords: let partitions begin at later offsets."""

from typing import Final, cast

from ottla.api.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

HIGH_WATERMARK: Final = -1
NO_OFFSET: Final = -1
_Told = DeleteRecordsResponse.Topic.Partition


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("DeleteRecordsRequest", message)
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsResponse.Topic(
                name=topic.name,
                partitions=[
                    _deleted(node.partitions.get(topic.name, one.partition_index), one)
                    for one in topic.partitions
                ],
            )
            for topic in asked.topics
        ],
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DeleteRecordsRequest", message)
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsResponse.Topic(
                name=topic.name,
                partitions=[_refused(one.partition_index, code) for one in topic.partitions],
            )
            for topic in asked.topics
        ],
    )


def _deleted(partition: Partition | None, one: DeleteRecordsRequest.Topic.Partition) -> _Told:
    if partition is None:
        return _refused(one.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.is_offline:
        return _refused(one.partition_index, ErrorCode.KAFKA_STORAGE_ERROR)
    options = partition.topic.options.log
    if options.is_compacted and not options.is_deleted:
        return _refused(one.partition_index, ErrorCode.POLICY_VIOLATION)
    high_watermark = partition.leader.high_watermark
    offset = high_watermark if one.offset == HIGH_WATERMARK else one.offset
    if not 0 <= offset <= high_watermark:
        return _refused(one.partition_index, ErrorCode.OFFSET_OUT_OF_RANGE)
    partition.log.move_log_start(offset)
    return _Told(
        partition_index=one.partition_index,
        low_watermark=partition.log.log_start_offset,
        error_code=0,
    )


def _refused(index: int, code: ErrorCode) -> _Told:
    return _Told(partition_index=index, low_watermark=NO_OFFSET, error_code=code)
