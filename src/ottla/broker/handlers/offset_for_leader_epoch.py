"""OffsetForLeaderEpoch: where an epoch ended, so that who followed it sees whether logs diverge."""

from typing import cast

from ottla.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_Asked = OffsetForLeaderEpochRequest.Topic.Partition
_Topic = OffsetForLeaderEpochResponse.Topic


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("OffsetForLeaderEpochRequest", message)
    return OffsetForLeaderEpochResponse(
        topics=[
            _Topic(
                topic=topic.topic,
                partitions=[_answer(node, topic.topic, one) for one in topic.partitions],
            )
            for topic in asked.topics
        ]
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("OffsetForLeaderEpochRequest", message)
    return OffsetForLeaderEpochResponse(
        topics=[
            _Topic(
                topic=topic.topic,
                partitions=[
                    _Topic.Partition(error_code=code, partition=one.partition)
                    for one in topic.partitions
                ],
            )
            for topic in asked.topics
        ]
    )


def _answer(node: Node, topic: str, one: _Asked) -> _Topic.Partition:
    partition = node.partitions.get(topic, one.partition)
    if partition is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif partition.is_offline:
        code = ErrorCode.KAFKA_STORAGE_ERROR
    else:
        code = partition.leader.why_not_epoch(one.current_leader_epoch)
    if code or partition is None:
        return _Topic.Partition(error_code=code, partition=one.partition)
    epochs = partition.history.leader_epochs
    ended = epochs.end_offset_for(one.leader_epoch, partition.log.end_offset)
    return _Topic.Partition(
        error_code=0,
        partition=one.partition,
        leader_epoch=ended.epoch,
        end_offset=ended.end_offset,
    )
