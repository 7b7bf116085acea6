"""The partitions that a node leads: each a log, what is known over it, and a leader's decisions."""

from collections.abc import Iterator

from ottla.broker.partition_history import PartitionHistory
from ottla.broker.topics import Topic
from ottla.core.partition.leader import PartitionLeader
from ottla.records.scan import BatchRow
from ottla.storage.directory_logs import HostedLog
from ottla.storage.log import LogPlace
from ottla.wire.fields import Buffer, Uuid


class Partition:
    """One partition of which this node is the leader."""

    __slots__ = (
        "_segments",
        "_stable_place",
        "has_left",
        "history",
        "hosted",
        "index",
        "is_durable",
        "is_internal",
        "is_offline",
        "leader",
        "log",
        "must_flush",
        "topic",
    )

    def __init__(
        self,
        topic: Topic,
        hosted: HostedLog,
        history: PartitionHistory,
        leader: PartitionLeader,
        *,
        is_durable: bool,
    ) -> None:
        """With `is_durable` what is appended counts only once it is on the device."""
        self.topic = topic
        self.index = hosted.partition.partition
        self.hosted = hosted
        self.log = hosted.log
        self.history = history
        self.leader = leader
        self.is_durable = is_durable
        self.is_internal = topic.is_internal
        self.is_offline = False
        self.has_left = False
        """Is it led elsewhere or in another epoch now, or gone?"""
        self.must_flush = is_durable or topic.options.log.asks_for_flushes
        self._segments = self.log.segments
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
        log.append(((data, rows),), now_ms)
        leader.end_offset = end_offset = log.end_offset
        return not self.is_durable and self.commit(end_offset)

    def commit(self, end_offset: int) -> bool:
        """What lies before an offset counts here; answer whether the high watermark moved."""
        leader = self.leader
        if not leader.reached(leader.node_id, end_offset):
            return False
        self.take_high_watermark()
        return True

    def take_high_watermark(self) -> None:
        """Let all who go by the high watermark know it."""
        self.hosted.high_watermark = high_watermark = self.leader.high_watermark
        if self.history.state.transactions.has_decided:
            self.history.state.move_high_watermark(high_watermark)

    def has_rolled(self) -> bool:
        """Has the log begun a new segment since it was last asked?"""
        if self.log.segments is self._segments:
            return False
        self._segments = self.log.segments
        return True

    def take_options(self) -> None:
        """Keep to the options of its topic as they are now."""
        options = self.topic.options
        self.log.set_options(options.log)
        self.leader.in_sync_min = options.in_sync_min
        self.must_flush = self.is_durable or options.log.asks_for_flushes

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

    def remove(self, partition: Partition) -> None:
        """Lead one no more."""
        topic = partition.topic
        within = self._by_name[topic.name]
        del within[partition.index]
        if not within:
            del self._by_name[topic.name], self._by_id[topic.id]

    def of(self, topic: Topic) -> list[Partition]:
        """Those of a topic."""
        return list(self._by_id.get(topic.id, {}).values())

    def get(self, name: str, index: int) -> Partition | None:
        """The partition of a topic's name."""
        within = self._by_name.get(name)
        return None if within is None else within.get(index)

    def of_id(self, topic_id: Uuid, index: int) -> Partition | None:
        """The partition of a topic's id."""
        within = self._by_id.get(topic_id)
        return None if within is None else within.get(index)
