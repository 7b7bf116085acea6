"""DescribeProducers: the producers that partitions remember."""

from typing import cast

from ottla.api.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_Topic = DescribeProducersResponse.Topic


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("DescribeProducersRequest", message)
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            _Topic(
                name=topic.name,
                partitions=[_told(node, topic.name, index) for index in topic.partition_indexes],
            )
            for topic in asked.topics
        ],
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DescribeProducersRequest", message)
    return DescribeProducersResponse(
        throttle_time_ms=0,
        topics=[
            _Topic(
                name=topic.name,
                partitions=[_refused(index, code) for index in topic.partition_indexes],
            )
            for topic in asked.topics
        ],
    )


def _told(node: Node, topic: str, index: int) -> _Topic.Partition:
    partition = node.partitions.get(topic, index)
    if partition is None:
        return _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.is_offline:
        return _refused(index, ErrorCode.KAFKA_STORAGE_ERROR)
    producers = partition.history.state.describe()
    return _Topic.Partition(partition_index=index, error_code=0, active_producers=producers)


def _refused(index: int, code: ErrorCode) -> _Topic.Partition:
    return _Topic.Partition(partition_index=index, error_code=code, active_producers=[])
