"""What is committed becomes what this broker does: topics, logs, leaderships, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.broker.effects import Notice
from ottla.broker.topic_options import read_topic_options
from ottla.broker.topics import Topic
from ottla.config.faults import InvalidSettings
from ottla.config.known import KNOWN
from ottla.config.settings import Settings
from ottla.core.metadata.changes import local_changes
from ottla.core.metadata.configs import WHOLE_CLUSTER, ResourceType
from ottla.wire.topics import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.broker.topic_options import TopicOptions
    from ottla.core.metadata.changes import Changes


def publish_settings(node: Node) -> None:
    """Let this broker's settings be its file's and what is set for all brokers and for it."""
    configs = node.committed.image.configs
    own = configs.of(ResourceType.BROKER, str(node.identity.node_id))
    try:
        node.settings = Settings.of_broker(KNOWN, node.static, configs.of(*WHOLE_CLUSTER), own)
    except InvalidSettings as fault:
        # What an older or newer controller let pass must not stop the broker.
        node.effects.append(Notice("settings-refused", str(node.identity.node_id), str(fault)))


def publish_topics(node: Node) -> None:
    """Know all topics, at a start."""
    publish_settings(node)
    for name, told in sorted(node.committed.image.topics.by_name.items()):
        node.topics.add(Topic(name, told.id, len(told.partitions), _options(node, name)))


def publish(node: Node, changes: Changes) -> None:
    """Follow what has changed."""
    local = local_changes(node.identity.node_id, changes, node.committed.image.topics)
    # What goes comes first: a new topic may have the name of an old one.
    for place in local.deleted:
        topic = node.topics.of_id(place.topic_id)
        if topic is not None:
            node.logs.delete(TopicPartition(topic.name, place.partition))
    for topic_id in changes.topics_deleted:
        topic = node.topics.of_id(topic_id)
        if topic is not None:
            node.topics.remove(topic)
    _publish_configs(node, changes)
    told = node.committed.image.topics
    for topic_id, name in changes.topics_created.items():
        node.topics.add(Topic(name, topic_id, 0, _options(node, name)))
    for place in changes.partitions:
        topic = node.topics.of_id(place.topic_id)
        if topic is not None:
            topic.partition_count = len(told.by_id[place.topic_id].partitions)
    for place in (*local.leading, *local.following):
        node.logs.follow(place)


def _publish_configs(node: Node, changes: Changes) -> None:
    own = str(node.identity.node_id)
    kinds = {resource.type for resource in changes.configs if resource.name in ("", own)}
    names = {one.name for one in changes.configs if one.type == ResourceType.TOPIC}
    if ResourceType.BROKER in kinds:
        publish_settings(node)
        names = {topic.name for topic in node.topics}
    for name in sorted(names):
        topic = node.topics.named(name)
        if topic is not None:
            topic.options = _options(node, name)
            for partition in node.partitions.of(topic):
                partition.take_options()


def _options(node: Node, name: str) -> TopicOptions:
    """A topic's options; those of its broker if its own cannot be read."""
    given = node.committed.image.configs.of(ResourceType.TOPIC, name)
    try:
        return read_topic_options(node.settings.topic(given))
    except InvalidSettings as fault:
        node.effects.append(Notice("settings-refused", name, str(fault)))
        return read_topic_options(node.settings.topic({}))
