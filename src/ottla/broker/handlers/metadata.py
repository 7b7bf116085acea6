"""Metadata: the brokers, and the topics with their partitions and leaders."""

from typing import Final, cast

from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.broker.partition_logs import create_topic
from ottla.broker.topics import INTERNAL_TOPICS, Topic
from ottla.config import topics as rows
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import NO_ID, Message
from ottla.wire.topics import check_topic

TOPIC_OPERATIONS: Final = 0b1101_1111_1000
"""Read, write, create, delete, alter, describe, and both for configs, as bits."""
CLUSTER_OPERATIONS: Final = 0b1_1111_1010_0000
_NOT_ASKED: Final = -0x8000_0000
_Topic = MetadataResponse.Topic


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("MetadataRequest", message)
    identity = node.identity
    endpoint = identity.endpoints[request.connection.listener]
    topics = _asked_topics(node, asked, request.version)
    if asked.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = _NOT_ASKED if topic.error_code else TOPIC_OPERATIONS
    is_cluster_asked = asked.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=[
            MetadataResponse.Broker(
                node_id=identity.node_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=identity.rack,
            )
        ],
        cluster_id=identity.cluster_id,
        controller_id=identity.node_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS if is_cluster_asked else _NOT_ASKED,
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return MetadataResponse(brokers=[], topics=[], error_code=code)


def _asked_topics(node: Node, asked: MetadataRequest, version: int) -> list[_Topic]:
    if asked.topics is None or (version == 0 and not asked.topics):
        return [_described(node, topic) for topic in node.topics]
    may_create = asked.allow_auto_topic_creation and node.settings[rows.AUTO_CREATE_TOPICS_ENABLE]
    return [_asked_topic(node, one, may_create=may_create) for one in asked.topics]


def _asked_topic(node: Node, one: MetadataRequest.Topic, *, may_create: bool) -> _Topic:
    if one.name is None:
        topic = node.topics.of_id(one.topic_id)
        if topic is None:
            return _unknown(None, ErrorCode.UNKNOWN_TOPIC_ID, one)
        return _described(node, topic)
    topic = node.topics.named(one.name)
    if topic is None:
        try:
            check_topic(one.name)
        except InvalidValue:
            return _unknown(one.name, ErrorCode.INVALID_TOPIC_EXCEPTION, one)
        if not may_create or one.name in INTERNAL_TOPICS:
            return _unknown(one.name, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, one)
        topic = create_topic(node, one.name, node.settings[rows.NUM_PARTITIONS], {})
    return _described(node, topic)


def _unknown(name: str | None, code: ErrorCode, one: MetadataRequest.Topic) -> _Topic:
    topic_id = one.topic_id if name is None else NO_ID
    return _Topic(error_code=code, name=name, topic_id=topic_id, partitions=[])


def _described(node: Node, topic: Topic) -> _Topic:
    """A topic of which this node has every replica."""
    return _Topic(
        error_code=0,
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        partitions=[_partition(node, topic, index) for index in range(topic.partition_count)],
    )


def _partition(node: Node, topic: Topic, index: int) -> _Topic.Partition:
    node_id = node.identity.node_id
    partition = node.partitions.get(topic.name, index)
    is_offline = partition is None or partition.is_offline
    return _Topic.Partition(
        error_code=ErrorCode.LEADER_NOT_AVAILABLE if is_offline else 0,
        partition_index=index,
        leader_id=-1 if is_offline else node_id,
        leader_epoch=-1 if partition is None else partition.leader.leader_epoch,
        replica_nodes=[node_id],
        isr_nodes=[node_id],
        offline_replicas=[node_id] if is_offline else [],
    )
