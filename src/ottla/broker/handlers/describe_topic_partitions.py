"""DescribeTopicPartitions: the partitions of topics, page by page."""

from typing import cast

from ottla.api.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from ottla.broker.connections import Request
from ottla.broker.described import TOPIC_OPERATIONS, described
from ottla.broker.dispatch import RequestRefused
from ottla.broker.node import Node
from ottla.broker.topics import INTERNAL_TOPICS
from ottla.config.broker import MAX_REQUEST_PARTITION_SIZE_LIMIT
from ottla.core.metadata.topics import Topic
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import NO_ID, Message
from ottla.wire.topics import check_topic

_Told = DescribeTopicPartitionsResponse.Topic
_Cursor = DescribeTopicPartitionsResponse.NextCursor


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("DescribeTopicPartitionsRequest", message)
    topics = node.committed.image.topics.by_name
    first, start = "", 0
    if asked.cursor is not None:
        first, start = asked.cursor.topic_name, asked.cursor.partition_index
        if start < 0:
            raise RequestRefused(ErrorCode.INVALID_REQUEST)
    names = sorted({one.name for one in asked.topics} if asked.topics else topics)
    limit = node.settings[MAX_REQUEST_PARTITION_SIZE_LIMIT]
    left = max(0, min(asked.response_partition_limit, limit))
    response = DescribeTopicPartitionsResponse(throttle_time_ms=0, topics=[])
    for name in [name for name in names if name >= first]:
        topic = topics.get(name)
        if topic is None:
            response.topics.append(_unknown(name))
            continue
        begin = start if name == first else 0
        numbers = [number for number in sorted(topic.partitions) if number >= begin]
        if numbers and not left:
            response.next_cursor = _Cursor(topic_name=name, partition_index=numbers[0])
            break
        listener = request.connection.listener
        response.topics.append(_told(node, topic, numbers[:left], listener))
        if len(numbers) > left:
            response.next_cursor = _Cursor(topic_name=name, partition_index=numbers[left])
            break
        left -= len(numbers)
    return response


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DescribeTopicPartitionsRequest", message)
    return DescribeTopicPartitionsResponse(
        throttle_time_ms=0,
        topics=[
            _Told(error_code=code, name=one.name, topic_id=NO_ID, partitions=[])
            for one in asked.topics
        ],
    )


def _unknown(name: str) -> _Told:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    try:
        check_topic(name)
    except InvalidValue:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return _Told(error_code=code, name=name, topic_id=NO_ID, partitions=[])


def _told(node: Node, topic: Topic, numbers: list[int], listener: str) -> _Told:
    image = node.committed.image
    partitions: list[_Told.Partition] = []
    for number in numbers:
        one = topic.partitions[number]
        error_code, leader_id, offline = described(image, one, listener)
        told = _Told.Partition(
            error_code=error_code,
            partition_index=number,
            leader_id=leader_id,
            leader_epoch=one.leader_epoch,
            replica_nodes=[*one.replicas],
            isr_nodes=[*one.isr],
            eligible_leader_replicas=[*one.elr],
            last_known_elr=[*one.last_known_elr],
            offline_replicas=offline,
        )
        partitions.append(told)
    return _Told(
        error_code=0,
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
        topic_authorized_operations=TOPIC_OPERATIONS,
    )
