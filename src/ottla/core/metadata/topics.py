"""The topics of a cluster and their partitions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ottla.api.metadata_records import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from ottla.core.metadata.levels import DIRECTORIES
from ottla.core.metadata.partition import Partition, PartitionId, partition_of
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Uuid
from ottla.wire.topics import may_collide
from ottla.wire.uuids import MIGRATING


@dataclass(slots=True)
class Topic:
    """A topic and its partitions by number."""

    name: str
    id: Uuid
    partitions: dict[int, Partition] = field(default_factory=dict[int, Partition])


class Topics:
    """All topics, by name and by id."""

    __slots__ = ("_alike", "by_id", "by_name", "created", "deleted", "partitions_before")

    def __init__(self) -> None:
        self.by_name: Final[dict[str, Topic]] = {}
        self.by_id: Final[dict[Uuid, Topic]] = {}
        # The names that metrics cannot tell apart, by what they see.
        self._alike: Final[dict[str, dict[str, None]]] = {}
        self.created: dict[Uuid, str] = {}
        self.deleted: dict[Uuid, str] = {}
        self.partitions_before: dict[PartitionId, Partition | None] = {}

    def __iter__(self) -> Iterator[tuple[Topic, int, Partition]]:
        """Every partition, with its topic."""
        for topic in self.by_id.values():
            for number, partition in topic.partitions.items():
                yield topic, number, partition

    def partition(self, topic_id: Uuid, number: int) -> Partition | None:
        """A partition, if there is such a one."""
        topic = self.by_id.get(topic_id)
        return topic.partitions.get(number) if topic else None

    def alike(self, name: str) -> str | None:
        """A topic whose name metrics cannot tell from this one; maybe of this very name."""
        if not may_collide(name):
            return None
        return next(iter(self._alike.get(name.replace(".", "_"), ())), None)

    def copy(self) -> "Topics":
        """The same, to be changed by itself."""
        made = Topics()
        for topic in self.by_id.values():
            made._put(Topic(topic.name, topic.id, topic.partitions.copy()))
        return made

    def replay_topic(self, record: TopicRecord) -> None:
        """Take in a new topic."""
        if record.name in self.by_name or record.topic_id in self.by_id:
            raise InvalidValue(f"the topic {record.name} is there already, by name or by id")
        self._put(Topic(record.name, record.topic_id))
        self.created[record.topic_id] = record.name

    def replay_end(self, record: RemoveTopicRecord) -> Topic:
        """Forget a topic, and give what it was."""
        topic = self._known(record.topic_id)
        del self.by_id[topic.id], self.by_name[topic.name]
        if may_collide(topic.name):
            seen = topic.name.replace(".", "_")
            del self._alike[seen][topic.name]
            if not self._alike[seen]:
                del self._alike[seen]
        if self.created.pop(topic.id, None) is None:
            self.deleted[topic.id] = topic.name
        for number, partition in topic.partitions.items():
            place = PartitionId(topic.id, number)
            if self.partitions_before.setdefault(place, partition) is None:
                del self.partitions_before[place]
        return topic

    def replay_partition(self, record: PartitionRecord) -> None:
        """Take in a new partition."""
        topic = self._known(record.topic_id)
        if record.partition_id in topic.partitions or record.partition_id < 0:
            raise InvalidValue(f"{topic.name} has a partition {record.partition_id}, or cannot")
        made = partition_of(record)
        self.partitions_before.setdefault(PartitionId(topic.id, record.partition_id), None)
        topic.partitions[record.partition_id] = made

    def replay_change(self, record: PartitionChangeRecord) -> None:
        """Take in what changed of a partition."""
        topic = self._known(record.topic_id)
        present = topic.partitions.get(record.partition_id)
        if present is None:
            raise InvalidValue(f"{topic.name} has no partition {record.partition_id}")
        made = present.merged(record)
        self.partitions_before.setdefault(PartitionId(topic.id, record.partition_id), present)
        topic.partitions[record.partition_id] = made

    def replay_cleared(self, record: ClearElrRecord) -> None:
        """Forget the eligible leader replicas of a topic or of all."""
        topics: Iterable[Topic] = self.by_id.values()
        if record.topic_name:
            if record.topic_name not in self.by_name:
                raise InvalidValue(f"no topic {record.topic_name} to clear")
            topics = [self.by_name[record.topic_name]]
        for topic in topics:
            for number, partition in topic.partitions.items():
                if partition.elr or partition.last_known_elr:
                    place = PartitionId(topic.id, number)
                    change = PartitionChangeRecord(
                        partition_id=number,
                        topic_id=topic.id,
                        eligible_leader_replicas=[],
                        last_known_elr=[],
                    )
                    self.partitions_before.setdefault(place, partition)
                    topic.partitions[number] = partition.merged(change)

    def records(
        self, level: int, lost: list[str], *, has_elr: bool
    ) -> Iterator[TopicRecord | PartitionRecord]:
        """What a snapshot at a metadata.version says of them, each topic before its partitions."""
        for _, topic in sorted(self.by_name.items()):
            yield TopicRecord(name=topic.name, topic_id=topic.id)
            for number, partition in sorted(topic.partitions.items()):
                if level < DIRECTORIES and any(one != MIGRATING for one in partition.directories):
                    lost.append("the directory assignment state of one or more replicas")
                yield partition.record(PartitionId(topic.id, number), level, has_elr=has_elr)

    def _known(self, topic_id: Uuid) -> Topic:
        topic = self.by_id.get(topic_id)
        if topic is None:
            raise InvalidValue(f"there is no topic of the id {topic_id.hex()}")
        return topic

    def _put(self, topic: Topic) -> None:
        self.by_name[topic.name] = self.by_id[topic.id] = topic
        if may_collide(topic.name):
            self._alike.setdefault(topic.name.replace(".", "_"), {})[topic.name] = None
