"""The topics that a node knows: by name, and by the id that tells a new one from an old."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ottla.broker.topic_options import TopicOptions
from ottla.wire.fields import Uuid

INTERNAL_TOPICS: Final = frozenset({"__consumer_offsets", "__transaction_state"})


@dataclass(eq=False, slots=True)
class Topic:
    """One topic."""

    name: str
    id: Uuid
    partition_count: int
    options: TopicOptions

    @property
    def is_internal(self) -> bool:
        """Is it one that the cluster keeps for itself?"""
        return self.name in INTERNAL_TOPICS


class Topics:
    """All topics, in the order of their names when listed."""

    __slots__ = ("_by_id", "_by_name")

    def __init__(self) -> None:
        self._by_name: dict[str, Topic] = {}
        self._by_id: dict[Uuid, Topic] = {}

    def __iter__(self) -> Iterator[Topic]:
        return (self._by_name[name] for name in sorted(self._by_name))

    def __len__(self) -> int:
        return len(self._by_name)

    def add(self, topic: Topic) -> None:
        """Know a new topic."""
        assert topic.name not in self._by_name, topic.name
        self._by_name[topic.name] = self._by_id[topic.id] = topic

    def remove(self, topic: Topic) -> None:
        """Know a topic no more."""
        del self._by_name[topic.name], self._by_id[topic.id]

    def named(self, name: str) -> Topic | None:
        """The topic of a name."""
        return self._by_name.get(name)

    def of_id(self, topic_id: Uuid) -> Topic | None:
        """The topic of an id."""
        return self._by_id.get(topic_id)
