"""The logs of a node's partitions, in the node's time: opened, made, tended, closed.

`storage` says what is to be done and gives it as jobs; here they become effects, and what came of
them becomes high watermarks. A stop goes in three steps, each once all jobs of the one before have
ended: what is under way, closing every log, marking every directory.
"""

from typing import TYPE_CHECKING, Final

from ottla.broker.clock import draw_id
from ottla.broker.effects import Notice, Run
from ottla.broker.events import Job, JobEnded
from ottla.broker.partition_history import PartitionHistory
from ottla.broker.partitions import Partition
from ottla.broker.topics import Topic
from ottla.core.metadata import partition as metadata
from ottla.core.metadata.partition import PartitionId
from ottla.core.partition.leader import PartitionLeader
from ottla.storage.cleaning.cleanings import Cleanings
from ottla.storage.cleaning.options import cleaner_options_of
from ottla.storage.commits import Commits
from ottla.storage.directories import Directories
from ottla.storage.directory_faults import OtherTopic
from ottla.storage.directory_logs import Busy, HostedLog
from ottla.storage.history import History
from ottla.storage.loading import plan_loading
from ottla.storage.log_options import LogOptions
from ottla.storage.partition_folders import FoundFolder
from ottla.storage.schedule import schedule_of
from ottla.storage.stopping import CloseLog, MarkDirectory, Stop
from ottla.storage.upkeep import Upkeep
from ottla.storage.writes import DiskFull
from ottla.wire.topics import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.storage.logs import Logs

STOP_LOOK_MS: Final = 1000
AGAIN_MS: Final = 200
"""When a log that could not be made is tried again."""


class KnownTopics:
    """The topics of the metadata, as they are asked for while logs are loaded."""

    def __init__(self, node: "Node") -> None:
        self._node = node

    def is_known(self, found: FoundFolder) -> bool:
        """Has this broker a replica of that partition, of the topic with that id?"""
        name = found.folder.partition
        topic = self._node.committed.image.topics.by_name.get(name.topic)
        if topic is None or topic.id != found.topic_id:
            return False
        partition = topic.partitions.get(name.partition)
        return partition is not None and self._node.identity.node_id in partition.replicas

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
        """Open every log that is there."""
        self._node = node
        clock = node.clock
        loading = plan_loading(
            directories,
            KnownTopics(node),
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
        self.clean_epoch = loading.broker_epoch
        """The epoch of the last stop, if it was clean."""
        self._commits = Commits(is_durable=is_durable)
        schedule = schedule_of(node.settings, clock.wall_ms)
        cleanings = Cleanings(
            self.logs,
            cleaner_options_of(node.settings),
            lambda: node.chance.randbytes(16),
            clock.wall_ms,
        )
        self._upkeep = Upkeep(self.logs, self._commits, schedule, clock.wall_ms, cleanings)
        self.next_deadline_ms = clock.now_ms
        """When something is due, on the monotonic clock; the wall's may jump."""
        self._open_jobs = 0
        self._stop: Stop | None = None
        self._is_stopping = self._is_marking = False
        self._led: dict[HostedLog, Partition] = {}
        # What could not be made yet.
        self._missing: dict[PartitionId, None] = {}

    def follow(self, place: PartitionId) -> None:
        """Do for a partition what the metadata says that this broker is to it."""
        node = self._node
        topic = node.topics.of_id(place.topic_id)
        told = node.committed.image.topics.partition(*place)
        if topic is None or told is None or node.identity.node_id not in told.replicas:
            return
        name = TopicPartition(topic.name, place.partition)
        hosted = self.logs.get(name) or self._create(place, topic)
        if hosted is None:
            return
        partition = self._led.get(hosted)
        if told.leader != node.identity.node_id:
            self._leave(partition)
        elif partition is None:
            self._lead(topic, hosted, told)
        elif partition.leader.leader_epoch != told.leader_epoch:
            self._leave(partition)
            self._lead(topic, hosted, told)

    def delete(self, name: TopicPartition) -> None:
        """Let go of a partition; its files go some time later."""
        self._missing = {
            place: None
            for place in self._missing
            if (topic := self._node.topics.of_id(place.topic_id)) is not None
            and (topic.name, place.partition) != name
        }
        hosted = self.logs.get(name)
        if hosted is None and not any(one.partition == name for one in self.logs.set_aside):
            return
        delay_ms = 0
        if hosted is not None:
            self._leave(self._led.get(hosted))
            self._commits.forget([hosted])
            delay_ms = hosted.log.options.file_delete_delay_ms
        clock = self._node.clock
        try:
            removal = self.logs.delete(name, draw_id(self._node.chance))
        except OSError as fault:
            # At the next start nobody knows it, and it is put aside.
            detail = f"{type(fault).__name__}: {fault}"
            self._node.effects.append(Notice("log-not-deleted", str(name), detail))
            return
        self._upkeep.remove_later(removal, clock.wall_ms + delay_ms)
        self.next_deadline_ms = clock.now_ms

    def tend(self) -> None:
        """Begin what is due, and know when something is again."""
        clock = self._node.clock
        if self._is_stopping:
            # Only jobs are waited for, and they tell when they have ended.
            self.next_deadline_ms = clock.now_ms + STOP_LOOK_MS
            return
        missing, self._missing = self._missing, {}
        for place in missing:
            self.follow(place)
        if self._upkeep.next_ms <= clock.wall_ms:
            self._run(*self._upkeep.plan(clock.wall_ms))
        wait_ms = max(0, self._upkeep.next_ms - clock.wall_ms)
        self.next_deadline_ms = clock.now_ms + min([wait_ms, *[AGAIN_MS][: len(self._missing)]])

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
                self._run(*self._stop.mark_jobs(self._node.life.epoch))
            else:
                self._node.logs_closed()
                return

    def _run(self, *jobs: Job) -> None:
        for job in jobs:
            self._open_jobs += 1
            self._node.effects.append(Run(job))

    def _create(self, place: PartitionId, topic: Topic) -> HostedLog | None:
        """Make the log of a new partition, or try again later."""
        name = TopicPartition(topic.name, place.partition)
        if any(one.partition == name for one in self.logs.set_aside):
            return None
        history = PartitionHistory(must_verify=True)
        wall_ms = self._node.clock.wall_ms
        try:
            return self.logs.create(name, topic.id, (topic.options.log, history), wall_ms)
        except (OSError, Busy, DiskFull, OtherTopic) as fault:
            detail = f"{type(fault).__name__}: {fault}"
            self._node.effects.append(
                Notice("log-not-made", f"{name.topic}-{name.partition}", detail)
            )
            self._missing[place] = None
            self.next_deadline_ms = min(self.next_deadline_ms, self._node.clock.now_ms + AGAIN_MS)
            return None

    def _lead(self, topic: Topic, hosted: HostedLog, told: metadata.Partition) -> None:
        node, log = self._node, hosted.log
        node_id = node.identity.node_id
        history = log.history
        assert isinstance(history, PartitionHistory)
        leader = PartitionLeader(node_id, told.leader_epoch, told.isr, log.end_offset)
        history.leader_epochs.assign(told.leader_epoch, log.end_offset)
        partition = Partition(topic, hosted, history, leader, is_durable=self._commits.is_durable)
        partition.take_options()
        leader.start(log.end_offset, log.end_offset)
        partition.take_high_watermark()
        self._led[hosted] = partition
        node.partitions.add(partition)

    def _leave(self, partition: Partition | None) -> None:
        """Lead a partition no longer, and let those know who wait for it."""
        if partition is None:
            return
        del self._led[partition.hosted]
        partition.has_left = True
        self._node.partitions.remove(partition)
        self._node.waiting.wake(partition)
