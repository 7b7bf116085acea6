"""The partitions that a node leads: each a log, what is known over it, and a leader's decisions."""

from collections.abc import Iterator

from ottla.broker.partition_history import PartitionHistory
from ottla.broker.topics import Topic
from ottla.core.partition.leader import PartitionLeader
from ottla.records.scan import BatchRow
from ottla.storage.log import Log, LogPlace
from ottla.wire.fields import Buffer, Uuid
from ottla.wire.topics import TopicPartition


class Partition:
    """One partition of which this node is the leader."""

    __slots__ = ("_stable_place", "history", "index", "is_offline", "leader", "log", "topic")

    def __init__(
        self,
        topic: Topic,
        index: int,
        log: Log,
        history: PartitionHistory,
        leader: PartitionLeader,
    ) -> None:
        self.topic = topic
        self.index = index
        self.log = log
        self.history = history
        self.leader = leader
        self.is_offline = False
        self._stable_place = LogPlace(0, 0, -1)

    @property
    def last_stable_offset(self) -> int:
        """Before which every transaction is decided."""
        return self.history.state.last_stable_offset(
            self.log.log_start_offset, self.leader.high_watermark
        )

    def append(self, data: Buffer, rows: list[BatchRow], now_ms: int) -> bool:
        """Append batches that have their offsets; answer whether the high watermark moved."""
        log, leader = self.log, self.leader
        log.append([(data, rows)], now_ms)
        leader.appended(log.end_offset)
        if not leader.reached(leader.node_id, log.end_offset):
            return False
        self.history.state.move_high_watermark(leader.high_watermark)
        return True

    def place_of(self, offset: int) -> LogPlace:
        """Where an offset lies up to which somebody may read; most often it is the log's end."""
        if offset == self.log.end_offset:
            return self.log.end_place
        if offset != self._stable_place.offset or self._stable_place.position < 0:
            self._stable_place = self.log.place_of(offset)
        return self._stable_place


class Partitions:
    """All of them, found by the name of their topic or by its id."""

    __slots__ = ("_by_id", "_by_name")

    def __init__(self) -> None:
        self._by_name: dict[str, dict[int, Partition]] = {}
        self._by_id: dict[Uuid, dict[int, Partition]] = {}

    def __iter__(self) -> Iterator[Partition]:
        return (one for name in sorted(self._by_name) for one in self._by_name[name].values())

    def __len__(self) -> int:
        return sum(map(len, self._by_name.values()))

    def add(self, partition: Partition) -> None:
        """Lead one more."""
        topic = partition.topic
        within = self._by_name.setdefault(topic.name, {})
        self._by_id[topic.id] = within
        within[partition.index] = partition

    def remove(self, topic: Topic) -> list[Partition]:
        """Lead those of a topic no more."""
        self._by_id.pop(topic.id, None)
        return list(self._by_name.pop(topic.name, {}).values())

    def get(self, name: str, index: int) -> Partition | None:
        """The partition of a topic's name."""
        within = self._by_name.get(name)
        return None if within is None else within.get(index)

    def of_id(self, topic_id: Uuid, index: int) -> Partition | None:
        """The partition of a topic's id."""
        within = self._by_id.get(topic_id)
        return None if within is None else within.get(index)


def name_of(partition: Partition) -> TopicPartition:
    """How a partition is called."""
    return TopicPartition(partition.topic.name, partition.index)
