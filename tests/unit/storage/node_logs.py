"""A node's logs on a simulated disk, opened, filled and stopped as a node does it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from ottla.broker.partition_history import PartitionHistory
from ottla.ports import Disk
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.storage.directories import open_directories
from ottla.storage.directory_logs import HostedLog
from ottla.storage.history import History
from ottla.storage.loading import Loading, plan_loading
from ottla.storage.log import Batches, Log
from ottla.storage.log_options import LogOptions
from ottla.storage.logs import Logs
from ottla.storage.partition_folders import FoundFolder
from ottla.storage.segment import SegmentOptions
from ottla.storage.stopping import Stop
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.storage.log_directories import OWNER, PATHS, TOPIC_ID

T = 1_700_000_000_000
EPOCH = 42
SMALL = LogOptions(
    segment=SegmentOptions(index_interval_bytes=100, index_bytes_max=4096), segment_bytes=1000
)


@dataclass
class KnownTopics:
    """Every partition is known, but for some topics."""

    log_options: LogOptions = SMALL
    unknown: frozenset[str] = field(default_factory=frozenset[str])

    def is_known(self, found: FoundFolder) -> bool:
        return found.folder.partition.topic not in self.unknown

    def options(self, _partition: TopicPartition) -> LogOptions:
        return self.log_options

    def history(self, _partition: TopicPartition) -> History:
        return PartitionHistory()


def ids() -> Iterator[Uuid]:
    """Unique ids, the same in every run."""
    return (Uuid(number.to_bytes(16, "big")) for number in count(1000))


def plan(
    disk: Disk, paths: Iterable[str] = PATHS, topics: KnownTopics | None = None, now_ms: int = T
) -> Loading:
    """Begin a start."""
    made = ids()
    return plan_loading(
        open_directories(disk, list(paths), OWNER),
        topics or KnownTopics(),
        now_ms,
        make_id=lambda: next(made),
    )


def started(
    disk: Disk, paths: Iterable[str] = PATHS, topics: KnownTopics | None = None, now_ms: int = T
) -> Logs:
    """Start: every log opened."""
    loading = plan(disk, paths, topics, now_ms)
    for job in loading.in_turn():
        job.run()
    return loading.finish()


def orders(partition: int) -> TopicPartition:
    """A partition of a topic."""
    return TopicPartition("orders", partition)


def create(logs: Logs, partition: TopicPartition, options: LogOptions = SMALL) -> HostedLog:
    """Make a partition."""
    return logs.create(partition, TOPIC_ID, (options, PartitionHistory()), T)


def batch(log: Log, records_count: int = 2, producer_id: int = 7) -> Batches:
    """A batch for the end of a log; its producer's sequence follows the offsets."""
    offset = log.end_offset
    rows = [(offset + at, T + offset + at, b"k", b"v" * 40, ()) for at in range(records_count)]
    options = BatchOptions(
        base_offset=offset,
        partition_leader_epoch=0,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=offset,
    )
    data = bytes(write_batch(rows, options))
    return data, scan(data).rows


def append(hosted: HostedLog, batches: int = 1, now_ms: int = T) -> None:
    """Append some batches, one at a time."""
    for _ in range(batches):
        hosted.log.append([batch(hosted.log)], now_ms)


def content(log: Log) -> bytes:
    """All that a log holds from its start on."""
    offset, found = log.log_start_offset, b""
    while offset < log.end_offset:
        part = log.read(offset, 1 << 20, log.end_place)
        if part is None:
            break
        data = part.file.read(part.position, part.size_bytes)
        found += data
        offset = scan(data).rows[-1].last_offset + 1
    return found


def stop(logs: Logs, now_ms: int = T) -> list[bool]:
    """Stop cleanly; give whether each directory got its mark."""
    stopping = Stop(logs, now_ms)
    for job in stopping.close_jobs:
        job.run()
    marks = stopping.mark_jobs(EPOCH)
    for mark in marks:
        mark.run()
    logs.directories.release()
    return [mark.is_clean for mark in marks]
