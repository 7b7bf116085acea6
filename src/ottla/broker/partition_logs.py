"""The logs of a node's partitions, in the node's time: opened, made, tended, closed.

`storage` says what is to be done and gives it as jobs; here they become effects, and what came of
them becomes high watermarks. A stop goes in three steps, each once all jobs of the one before have
ended: what is under way, closing every log, marking every directory.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.clock import draw_id
from ottla.broker.effects import Notice, Run, Stopped
from ottla.broker.events import Job, JobEnded
from ottla.broker.partition_history import PartitionHistory
from ottla.broker.partitions import Partition
from ottla.broker.topic_options import read_topic_options
from ottla.broker.topics import Topic
from ottla.core.partition.leader import PartitionLeader
from ottla.storage.commits import Commits
from ottla.storage.directories import Directories
from ottla.storage.directory_logs import HostedLog
from ottla.storage.history import History
from ottla.storage.loading import plan_loading
from ottla.storage.log_options import LogOptions
from ottla.storage.partition_folders import FoundFolder
from ottla.storage.schedule import schedule_of
from ottla.storage.stopping import CloseLog, MarkDirectory, Stop
from ottla.storage.upkeep import Upkeep
from ottla.wire.topics import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.storage.logs import Logs

LEADER_EPOCH: Final = 0
NO_BROKER_EPOCH: Final = -1
STOP_LOOK_MS: Final = 1000


class FoundTopics:
    """The topics that the folders of a node speak of: as long as nothing else says which there are.

    The options of a topic that was made with its own are the broker's after a start.
    """

    def __init__(self, node: "Node") -> None:
        self._node = node

    def is_known(self, found: FoundFolder) -> bool:
        """Every folder that has its id is one of a topic."""
        if found.topic_id is None:
            return False
        name = found.folder.partition
        topic = self._node.topics.named(name.topic)
        if topic is None:
            options = read_topic_options(self._node.settings.topic({}))
            topic = Topic(name.topic, found.topic_id, 0, options)
            self._node.topics.add(topic)
        topic.partition_count = max(topic.partition_count, name.partition + 1)
        return topic.id == found.topic_id

    def options(self, partition: TopicPartition) -> LogOptions:
        """The options of a partition's topic."""
        topic = self._node.topics.named(partition.topic)
        assert topic is not None, "a folder was asked about before its log"
        return topic.options.log

    def history(self, partition: TopicPartition) -> History:
        """An empty history."""
        del partition
        return PartitionHistory(must_verify=True)


class PartitionLogs:
    """All logs that a node hosts."""

    def __init__(self, node: "Node", directories: Directories, *, is_durable: bool = False) -> None:
        """Open every log that is there, and lead its partition."""
        self._node = node
        clock = node.clock
        loading = plan_loading(
            directories,
            FoundTopics(node),
            clock.wall_ms,
            make_id=lambda: draw_id(node.chance),
        )
        for job in loading.in_turn():
            job.run()
            for cut in job.findings.cuts if job.findings is not None else ():
                node.effects.append(Notice("log-cut", cut.path, f"{cut.size_bytes} bytes"))
        self.logs: Logs = loading.finish()
        for aside in self.logs.set_aside:
            node.effects.append(Notice("log-set-aside", aside.placed.path, str(aside.fault)))
        self._commits = Commits(is_durable=is_durable)
        schedule = schedule_of(node.settings, clock.wall_ms)
        self._upkeep = Upkeep(self.logs, self._commits, schedule, clock.wall_ms)
        self.next_deadline_ms = clock.now_ms
        """When something is due, on the monotonic clock; the wall's may jump."""
        self._open_jobs = 0
        self._stop: Stop | None = None
        self._is_stopping = self._is_marking = False
        self._led: dict[HostedLog, Partition] = {}
        for name, hosted in sorted(self.logs.current.items()):
            topic = node.topics.named(name.topic)
            assert topic is not None, "its folder was known"
            self._lead(topic, hosted)

    def create(self, topic: Topic) -> None:
        """Make the logs of a new topic."""
        for index in range(topic.partition_count):
            name = TopicPartition(topic.name, index)
            history = PartitionHistory(must_verify=True)
            wall_ms = self._node.clock.wall_ms
            hosted = self.logs.create(name, topic.id, (topic.options.log, history), wall_ms)
            self._lead(topic, hosted)

    def tend(self) -> None:
        """Begin what is due, and know when something is again."""
        clock = self._node.clock
        if self._is_stopping:
            # Only jobs are waited for, and they tell when they have ended.
            self.next_deadline_ms = clock.now_ms + STOP_LOOK_MS
            return
        if self._upkeep.next_ms <= clock.wall_ms:
            self._run(*self._upkeep.plan(clock.wall_ms))
        self.next_deadline_ms = clock.now_ms + max(0, self._upkeep.next_ms - clock.wall_ms)

    def appended(self, partition: Partition) -> None:
        """Hear of an append to a log that is to be brought to the device by its options."""
        self._commits.appended(partition.hosted, self._node.clock.wall_ms)
        self._run(*self._commits.plan())

    def ended(self, event: JobEnded) -> None:
        """Go on with what a job was for."""
        self._open_jobs -= 1
        if event.fault is not None:
            self._node.effects.append(
                Notice("job-failed", type(event.job).__name__, str(event.fault))
            )
        if not isinstance(event.job, CloseLog | MarkDirectory):
            self._upkeep_ended(event)
        if self._is_stopping and not self._open_jobs:
            self._go_on_stopping()

    def stop(self) -> None:
        """Close everything; `Stopped` is the last effect."""
        self._is_stopping = True
        if not self._open_jobs:
            self._go_on_stopping()

    def _upkeep_ended(self, event: JobEnded) -> None:
        wall_ms = self._node.clock.wall_ms
        for hosted in self._upkeep.ended(event.job, event.fault, wall_ms):
            partition = self._led.get(hosted)
            if partition is not None and partition.is_durable:
                partition.commit(hosted.log.durable_offset)
                self._node.waiting.wake(partition)
        for hosted in self.logs.drop_offline():
            partition = self._led.pop(hosted, None)
            if partition is not None:
                partition.is_offline = True
                self._node.waiting.wake(partition)
        if not self._is_stopping:
            self._run(*self._commits.plan())
            self.next_deadline_ms = self._node.clock.now_ms

    def _go_on_stopping(self) -> None:
        """Take the next step of a stop; one without jobs is over at once."""
        while not self._open_jobs:
            if self._stop is None:
                self._stop = Stop(self.logs, self._node.clock.wall_ms)
                self._run(*self._stop.close_jobs)
            elif not self._is_marking:
                self._is_marking = True
                self._run(*self._stop.mark_jobs(NO_BROKER_EPOCH))
            else:
                self.logs.directories.release()
                self._node.effects.append(Stopped())
                return

    def _run(self, *jobs: Job) -> None:
        for job in jobs:
            self._open_jobs += 1
            self._node.effects.append(Run(job))

    def _lead(self, topic: Topic, hosted: HostedLog) -> None:
        node, log = self._node, hosted.log
        node_id = node.identity.node_id
        history = log.history
        assert isinstance(history, PartitionHistory)
        leader = PartitionLeader(node_id, LEADER_EPOCH, [node_id], log.end_offset)
        leader.in_sync_min = topic.options.in_sync_min
        history.leader_epochs.assign(LEADER_EPOCH, log.end_offset)
        partition = Partition(topic, hosted, history, leader, is_durable=self._commits.is_durable)
        leader.start(log.end_offset, log.end_offset)
        partition.take_high_watermark()
        self._led[hosted] = partition
        node.partitions.add(partition)
        for producer in history.producers():
            node.producer_ids.pass_over(producer.producer_id)


def create_topic(node: "Node", name: str, partition_count: int, configs: dict[str, str]) -> Topic:
    """Let there be a topic, with its logs."""
    options = read_topic_options(node.settings.topic(configs))
    topic = Topic(name, draw_id(node.chance), partition_count, options, configs)
    node.logs.create(topic)
    node.topics.add(topic)
    return topic
