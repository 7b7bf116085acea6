"""Metadata: the brokers, and the topics with their partitions and leaders."""

from typing import cast

from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.broker.connections import Request
from ottla.broker.described import CLUSTER_OPERATIONS, NOT_ASKED, TOPIC_OPERATIONS, described
from ottla.broker.dispatch import RequestRefused
from ottla.broker.node import Node
from ottla.broker.topics import INTERNAL_TOPICS
from ottla.config import topics as rows
from ottla.core.controller.topic_creation import decide_creation
from ottla.core.metadata.topics import Topic
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import NO_ID, Message
from ottla.wire.topics import check_topic

_Topic = MetadataResponse.Topic


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("MetadataRequest", message)
    listener = request.connection.listener
    topics = _asked_topics(node, asked, request.version, listener)
    if asked.include_topic_authorized_operations:
        for topic in topics:
            topic.topic_authorized_operations = NOT_ASKED if topic.error_code else TOPIC_OPERATIONS
    is_cluster_asked = asked.include_cluster_authorized_operations
    return MetadataResponse(
        brokers=_brokers(node, listener),
        cluster_id=node.identity.cluster_id,
        controller_id=node.identity.node_id,
        topics=topics,
        cluster_authorized_operations=CLUSTER_OPERATIONS if is_cluster_asked else NOT_ASKED,
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return MetadataResponse(brokers=[], topics=[], error_code=code)


def _brokers(node: Node, listener: str) -> list[MetadataResponse.Broker]:
    """Those that serve, as clients of a listener reach them."""
    found: list[MetadataResponse.Broker] = []
    for id_, broker in sorted(node.committed.image.cluster.brokers.items()):
        point = broker.end_point(listener)
        if point is not None and not broker.is_fenced:
            told = MetadataResponse.Broker(
                node_id=id_, host=point.host, port=point.port, rack=broker.rack
            )
            found.append(told)
    return found


def _asked_topics(node: Node, asked: MetadataRequest, version: int, listener: str) -> list[_Topic]:
    topics = node.committed.image.topics
    if asked.topics is None or (version == 0 and not asked.topics):
        return [_described(node, topic, listener) for _, topic in sorted(topics.by_name.items())]
    may_create = asked.allow_auto_topic_creation and node.settings[rows.AUTO_CREATE_TOPICS_ENABLE]
    answers: list[_Topic] = []
    missing: list[str] = []
    for one in asked.topics:
        topic = topics.by_id.get(one.topic_id) if one.name is None else topics.by_name.get(one.name)
        if topic is not None:
            answers.append(_described(node, topic, listener))
            continue
        code = _why_none(one.name)
        if may_create and one.name is not None and code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            missing.extend([] if one.name in INTERNAL_TOPICS else [one.name])
        answers.append(_unknown(code, one))
    if missing:
        _create(node, missing)
    return answers


def _why_none(name: str | None) -> ErrorCode:
    """What to say of a topic that is not there."""
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    try:
        check_topic(name)
    except InvalidValue:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _create(node: Node, names: list[str]) -> None:
    """Let there be topics; who asked for them asks again, and finds them."""
    request = CreateTopicsRequest(
        topics=[
            CreateTopicsRequest.Topic(
                name=name, num_partitions=-1, replication_factor=-1, assignments=[], configs=[]
            )
            for name in names
        ]
    )
    try:
        node.controller.append(decide_creation(node.controller.state, request, node.chance))
    except RequestRefused:
        # The client asks again, and is heard once there is a controller.
        return


def _unknown(code: ErrorCode, one: MetadataRequest.Topic) -> _Topic:
    topic_id = one.topic_id if one.name is None else NO_ID
    return _Topic(
        error_code=code,
        name=one.name,
        topic_id=topic_id,
        is_internal=one.name in INTERNAL_TOPICS,
        partitions=[],
    )


def _described(node: Node, topic: Topic, listener: str) -> _Topic:
    image = node.committed.image
    partitions: list[_Topic.Partition] = []
    for number, one in sorted(topic.partitions.items()):
        error_code, leader_id, offline = described(image, one, listener)
        told = _Topic.Partition(
            error_code=error_code,
            partition_index=number,
            leader_id=leader_id,
            leader_epoch=one.leader_epoch,
            replica_nodes=[*one.replicas],
            isr_nodes=[*one.isr],
            offline_replicas=offline,
        )
        partitions.append(told)
    return _Topic(
        error_code=0,
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
    )
