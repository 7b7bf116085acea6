"""Opens the log directories of a node that does not run, as our own node does."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ottla.broker.partition_history import PartitionHistory
from ottla.runtime.disk import SystemDisk
from ottla.storage.clean_shutdown import CleanShutdown
from ottla.storage.directories import Directories, Placed, open_directories
from ottla.storage.directory import Owner
from ottla.storage.file_names import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Findings, Opening, open_log
from ottla.wire.topics import TopicPartition
from tests.conformance.kafka_broker import CLUSTER_ID, NODE_ID
from tests.conformance.partition_answers import OurPartition


@dataclass(slots=True)
class OurLog:
    """One log of the directories, and what opening it found."""

    placed: Placed
    log: Log
    history: PartitionHistory
    findings: Findings

    @property
    def partition(self) -> OurPartition:
        """What answers questions about it."""
        return OurPartition(self.log, self.history)


@dataclass(slots=True)
class OurDirectories:
    """All logs of a node."""

    directories: Directories
    marks: dict[str, CleanShutdown | None]
    options: LogOptions
    logs: dict[TopicPartition, OurLog] = field(default_factory=dict[TopicPartition, OurLog])
    high_watermarks: dict[TopicPartition, int] = field(default_factory=dict[TopicPartition, int])

    def open_all(self) -> None:
        """Open every log by what the checkpoints say."""
        handles = Handles(SystemDisk(), 64)
        starts, points = dict[TopicPartition, int](), dict[TopicPartition, int]()
        for directory in self.directories.live:
            starts |= directory.read_offsets(LOG_START_OFFSETS)
            points |= directory.read_offsets(RECOVERY_POINTS)
            self.high_watermarks |= directory.read_offsets(HIGH_WATERMARKS)
        for partition, placed in self.directories.load().current.items():
            opening = Opening(
                now_ms(),
                self.marks[placed.directory.path] is not None,
                starts.get(partition, 0),
                points.get(partition, 0),
            )
            history = PartitionHistory()
            log, findings = open_log(handles, placed.path, self.options, history, opening)
            self.logs[partition] = OurLog(placed, log, history, findings)

    def close_all(self, broker_epoch: int = -1) -> None:
        """Close every log, write the checkpoints, and leave the marks of a clean stop."""
        for one in self.logs.values():
            one.log.close(now_ms())
        for directory in self.directories.live:
            here = {p: one.log for p, one in self.logs.items() if one.placed.directory is directory}
            ends = {p: log.end_offset for p, log in here.items()}
            directory.write_offsets(RECOVERY_POINTS, ends)
            directory.write_offsets(HIGH_WATERMARKS, directory.read_offsets(HIGH_WATERMARKS) | ends)
            starts = {p: log.log_start_offset for p, log in here.items() if _is_cut(log)}
            directory.write_offsets(LOG_START_OFFSETS, starts)
            directory.mark_clean(broker_epoch)


def now_ms() -> int:
    """The time of now."""
    return time.time_ns() // 1_000_000


@contextmanager
def opened(paths: Sequence[Path], options: LogOptions | None = None) -> Iterator[OurDirectories]:
    """The directories of a node, with every log open; what is closed well is up to the caller."""
    owner = Owner(NODE_ID, CLUSTER_ID)
    directories = open_directories(SystemDisk(), [str(path) for path in paths], owner)
    try:
        marks, _ = directories.take_clean_epoch()
        found = OurDirectories(directories, marks, options or LogOptions())
        found.open_all()
        yield found
    finally:
        directories.release()


def _is_cut(log: Log) -> bool:
    """Does it begin within its first segment? Only then is that written down."""
    return log.log_start_offset > log.segments.first.base_offset
