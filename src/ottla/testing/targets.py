"""Which topics and partitions a request is about, whatever its API calls its fields."""

from copy import copy
from typing import Any, Final, NamedTuple

from ottla.api.fetch import FetchRequest
from ottla.api.metadata import MetadataRequest
from ottla.broker.node import Node
from ottla.wire.fields import NO_ID, Message, Uuid

_TOPICS: Final = ("topics", "topic_data")
_PARTITIONS: Final = ("partitions", "partition_data")
_NAMES: Final = ("name", "topic")
_INDEXES: Final = ("index", "partition", "partition_index")


class Target(NamedTuple):
    """A topic, or one of its partitions; without a topic, everything."""

    topic: str | None
    partition: int | None = None

    def is_within(self, other: "Target") -> bool:
        """Is it part of another one? A request that names only the topic is about all of it."""
        if other.topic not in (None, self.topic):
            return False
        return None in (other.partition, self.partition) or other.partition == self.partition

    def __str__(self) -> str:
        topic = self.topic or "?"
        return topic if self.partition is None else f"{topic}-{self.partition}"


def targets_of(node: Node, message: Message) -> list[Target]:
    """All that a request is about; of a fetch, also what its session remembers."""
    if isinstance(message, MetadataRequest) and message.topics is None:
        return [Target(topic.name) for topic in node.topics]
    found = [
        target
        for topic in _field(message, _TOPICS) or ()
        for target in _targets_of_topic(node, topic)
    ]
    if isinstance(message, FetchRequest):
        session = node.fetch_sessions.get(message.session_id)
        for one in session.wanted.values() if session is not None else ():
            target = Target(_name(node, one.topic, one.topic_id), one.asked.partition)
            if target not in found:
                found.append(target)
    return found


def split(node: Node, message: Message, targets: tuple[Target, ...]) -> tuple[Message, Message]:
    """One request about some targets only, and one about all others."""
    return _kept(node, message, targets, is_wanted=True), _kept(
        node, message, targets, is_wanted=False
    )


def topics_of(message: Message) -> list[Any]:
    """The entries of a message that are about a topic each."""
    return list(_field(message, (*_TOPICS, "responses")) or ())


def append_topics(message: Message, more: Message) -> None:
    """Add to the entries of a message those of another of its kind."""
    entries: list[Any] = _field(message, (*_TOPICS, "responses"))
    entries.extend(topics_of(more))


def name_of(node: Node, topic: Any) -> str | None:
    """The name of the topic that an entry is about."""
    if isinstance(topic, str):
        return topic
    return _name(node, _field(topic, _NAMES), _field(topic, ("topic_id",)))


def _kept(node: Node, message: Message, targets: tuple[Target, ...], *, is_wanted: bool) -> Message:
    kept = copy(message)
    topics: list[Any] = []
    for topic in topics_of(message):
        name, partitions = name_of(node, topic), _field(topic, _PARTITIONS)
        if partitions is None:
            if (Target(name) in targets) == is_wanted:
                topics.append(topic)
            continue
        left = [one for one in partitions if (Target(name, _index(one)) in targets) == is_wanted]
        if left:
            changed = copy(topic)
            _set(changed, _PARTITIONS, left)
            topics.append(changed)
    _set(kept, _TOPICS, topics)
    return kept


def _targets_of_topic(node: Node, topic: Any) -> list[Target]:
    name, partitions = name_of(node, topic), _field(topic, _PARTITIONS)
    if partitions is None:
        return [Target(name)]
    return [Target(name, _index(one)) for one in partitions]


def _index(partition: Any) -> int | None:
    if isinstance(partition, int):
        return partition
    index = _field(partition, _INDEXES)
    return index if isinstance(index, int) else None


def _name(node: Node, name: str | None, topic_id: Uuid | None) -> str | None:
    if name or topic_id is None or topic_id == NO_ID:
        return name
    topic = node.topics.of_id(topic_id)
    return None if topic is None else topic.name


def _field(entry: Any, names: tuple[str, ...]) -> Any:
    """The field that an API calls by one of some names; None if it has none."""
    return next((getattr(entry, name) for name in names if hasattr(entry, name)), None)


def _set(entry: Any, names: tuple[str, ...], value: Any) -> None:
    setattr(entry, next(name for name in names if hasattr(entry, name)), value)
