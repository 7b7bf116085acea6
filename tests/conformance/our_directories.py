"""Opens the log directories of a node that does not run, as our own node does, and stops it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from ottla.broker.partition_history import PartitionHistory
from ottla.runtime.disk import SystemDisk
from ottla.storage.directories import open_directories
from ottla.storage.directory import Owner
from ottla.storage.directory_logs import HostedLog
from ottla.storage.file_names import LOG_START_OFFSETS
from ottla.storage.loading import plan_loading
from ottla.storage.log_options import LogOptions
from ottla.storage.logs import Logs
from ottla.storage.partition_folders import FoundFolder
from ottla.storage.recovery import Findings
from ottla.storage.stopping import Stop
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.conformance.kafka_broker import CLUSTER_ID, NODE_ID
from tests.conformance.partition_answers import Answers, OurPartition

FILES_MAX = 64


@dataclass(slots=True)
class AllTopics:
    """Every folder counts as one of the node's."""

    log_options: Mapping[str, LogOptions]

    def is_known(self, _: FoundFolder) -> bool:
        """It is."""
        return True

    def options(self, partition: TopicPartition) -> LogOptions:
        """Kafka's defaults, unless it was said otherwise."""
        return self.log_options.get(partition.topic, LogOptions())

    def history(self, _: TopicPartition) -> PartitionHistory:
        """An empty one for each log; a copy's is not that of what it copies."""
        return PartitionHistory()


@dataclass(slots=True)
class OurNode:
    """All logs of a node; the partitions of topics are their first ones."""

    logs: Logs
    findings: dict[str, Findings]
    """What opening each log found, by topic."""
    broker_epoch: int | None
    """That of the last stop if it was clean; the next one writes it down too."""

    def __getitem__(self, topic: str) -> HostedLog:
        return self.logs[TopicPartition(topic, 0)]

    def history(self, topic: str) -> PartitionHistory:
        """What is known of a topic's log."""
        history = self[topic].log.history
        assert isinstance(history, PartitionHistory)
        return history

    def partition(self, topic: str) -> OurPartition:
        """What answers questions about a topic's log."""
        return OurPartition(self[topic].log, self.history(topic))

    def differences(self, expected: Mapping[str, Answers], times: Sequence[int]) -> list[str]:
        """What is answered in another way than expected, over all topics."""
        return [
            f"{topic}.{wrong}"
            for topic, answers in expected.items()
            for wrong in answers.differences(self.partition(topic).answers(times))
        ]

    def stop(self) -> None:
        """End cleanly."""
        broker_epoch = -1 if self.broker_epoch is None else self.broker_epoch
        ending = Stop(self.logs, now_ms())
        for job in ending.close_jobs:
            job.run()
        for mark in ending.mark_jobs(broker_epoch):
            mark.run()
            assert mark.is_clean

    def abandon(self) -> None:
        """End as kill -9 does some time after where logs begin was written down."""
        for home in self.logs.homes:
            job = home.plan_offsets(LOG_START_OFFSETS)
            if job is not None:
                job.run()
        for hosted in self.logs.all():
            hosted.log.abandon()


def now_ms() -> int:
    """The time of now."""
    return time.time_ns() // 1_000_000


@contextmanager
def opened(
    paths: Sequence[Path], log_options: Mapping[str, LogOptions] | None = None
) -> Iterator[OurNode]:
    """The directories of a node, with every log open; how it ends is up to the caller."""
    owner = Owner(NODE_ID, CLUSTER_ID)
    directories = open_directories(SystemDisk(), [str(path) for path in paths], owner)
    topics = AllTopics(log_options or {})
    try:
        loading = plan_loading(
            directories,
            topics,
            now_ms(),
            make_id=lambda: Uuid(uuid4().bytes),
            files_max=FILES_MAX,
        )
        findings: dict[str, Findings] = {}
        for job in loading.in_turn():
            job.run()
            if job.findings is not None:
                findings[job.partition.topic] = job.findings
        logs = loading.finish()
        assert not logs.set_aside, logs.set_aside
        yield OurNode(logs, findings, loading.broker_epoch)
    finally:
        directories.release()
