"""The logs of a node's partitions: made, opened at the start, closed at the end."""

from typing import TYPE_CHECKING, Final

from ottla.broker.clock import draw_id
from ottla.broker.effects import Notice
from ottla.broker.partition_history import PartitionHistory
from ottla.broker.partitions import Partition, name_of
from ottla.broker.topic_options import read_topic_options
from ottla.broker.topics import Topic
from ottla.core.partition.leader import PartitionLeader
from ottla.storage.directories import Directories, Placed
from ottla.storage.handles import Handles
from ottla.storage.recovery import Opening, open_log
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node import Node

FILES_MAX: Final = 4096
RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
LOG_STARTS: Final = "log-start-offset-checkpoint"
HIGH_WATERMARKS: Final = "replication-offset-checkpoint"
LEADER_EPOCH: Final = 0


class PartitionLogs:
    """What lies in the log directories."""

    def __init__(self, directories: Directories) -> None:
        self.directories = directories
        self._handles = {one.path: Handles(one.disk, FILES_MAX) for one in directories.opened}
        self._placed: dict[TopicPartition, Placed] = {}

    def open_all(self, node: "Node") -> None:
        """Open every log that is there, and lead its partition."""
        marks, _ = self.directories.take_clean_epoch()
        found = self.directories.load()
        offsets = {
            one.path: (one.read_offsets(LOG_STARTS), one.read_offsets(RECOVERY_POINTS))
            for one in self.directories.live
        }
        for name, placed in sorted(found.current.items()):
            if placed.found.topic_id is None:
                continue
            topic = self._topic(node, name.topic, placed.found.topic_id)
            topic.partition_count = max(topic.partition_count, name.partition + 1)
            path = placed.directory.path
            starts, points = offsets[path]
            opening = Opening(
                node.clock.wall_ms,
                marks.get(path) is not None,
                starts.get(name, 0),
                points.get(name, 0),
            )
            self._lead(node, topic, name.partition, placed, opening)

    def create(self, node: "Node", topic: Topic) -> None:
        """Make the logs of a new topic."""
        counts: dict[str, int] = {}
        for placed in self._placed.values():
            path = placed.directory.path
            counts[path] = counts.get(path, 0) + 1
        for index in range(topic.partition_count):
            name = TopicPartition(topic.name, index)
            placed = self.directories.create(name, topic.id, counts)
            counts[placed.directory.path] = counts.get(placed.directory.path, 0) + 1
            self._lead(node, topic, index, placed, Opening(node.clock.wall_ms, is_clean=True))

    def close_all(self, node: "Node") -> None:
        """Close every log, so that the next start need not look at the batches."""
        for directory in self.directories.live:
            offsets: dict[TopicPartition, Partition] = {}
            for partition in node.partitions:
                name = name_of(partition)
                if self._placed[name].directory is directory and not partition.is_offline:
                    partition.log.close(node.clock.wall_ms)
                    offsets[name] = partition
            directory.write_offsets(
                RECOVERY_POINTS, {name: one.log.recovery_point for name, one in offsets.items()}
            )
            directory.write_offsets(
                LOG_STARTS,
                {
                    name: one.log.log_start_offset
                    for name, one in offsets.items()
                    if one.log.log_start_offset
                },
            )
            directory.write_offsets(
                HIGH_WATERMARKS,
                {name: one.leader.high_watermark for name, one in offsets.items()},
            )
            directory.mark_clean(-1)
        self.directories.release()

    def _topic(self, node: "Node", name: str, topic_id: Uuid) -> Topic:
        topic = node.topics.named(name)
        if topic is None:
            topic = Topic(name, topic_id, 0, read_topic_options(node.settings.topic({})))
            node.topics.add(topic)
        return topic

    def _lead(
        self, node: "Node", topic: Topic, index: int, placed: Placed, opening: Opening
    ) -> None:
        history = PartitionHistory()
        handles = self._handles[placed.directory.path]
        log, findings = open_log(handles, placed.path, topic.options.log, history, opening)
        for cut in findings.cuts:
            node.effects.append(Notice("log-cut", cut.path, f"{cut.size_bytes} bytes"))
        leader = PartitionLeader(
            node.identity.node_id, LEADER_EPOCH, [node.identity.node_id], log.end_offset
        )
        leader.in_sync_min = topic.options.in_sync_min
        history.leader_epochs.assign(LEADER_EPOCH, log.end_offset)
        leader.start(log.end_offset, log.end_offset)
        history.state.move_high_watermark(leader.high_watermark)
        partition = Partition(topic, index, log, history, leader)
        self._placed[name_of(partition)] = placed
        node.partitions.add(partition)
        for producer in history.producers():
            node.producer_ids.pass_over(producer.producer_id)


def create_topic(node: "Node", name: str, partition_count: int, configs: dict[str, str]) -> Topic:
    """Let there be a topic, with its logs."""
    options = read_topic_options(node.settings.topic(configs))
    topic = Topic(name, draw_id(node.chance), partition_count, options, configs)
    node.logs.create(node, topic)
    node.topics.add(topic)
    return topic
