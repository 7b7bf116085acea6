"""Writes logs of every kind as our own node does: by leaders that have nobody to follow them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from ottla.broker.partition_history import PartitionHistory
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.compression import Codec
from ottla.records.control import write_end_marker
from ottla.records.scan import scan
from ottla.storage.directory_logs import HostedLog
from ottla.storage.log_options import LogOptions
from ottla.storage.segment import SegmentOptions
from tests.conformance.clients import Sent
from tests.conformance.drawn_logs import NOW_MS, drawn_records

HOUR_MS: Final = 3_600_000
_INDEXED: Final = SegmentOptions(index_interval_bytes=300)
_COMPACTED: Final = LogOptions(
    _INDEXED,
    segment_bytes=3000,
    is_deleted=False,
    is_compacted=True,
    min_cleanable_ratio=0.01,
    delete_retention_ms=HOUR_MS,
)
OPTIONS: Final[Mapping[str, LogOptions]] = {
    "codecs": LogOptions(_INDEXED, segment_bytes=32_000),
    "stamped": LogOptions(_INDEXED, segment_bytes=8000),
    "allocated": LogOptions(SegmentOptions(allocated_bytes=32_000), segment_bytes=32_000),
    "transactions": LogOptions(_INDEXED, segment_bytes=2500),
    "deleted": LogOptions(_INDEXED, segment_bytes=8000),
    "retained": LogOptions(_INDEXED, segment_bytes=8000, retention_ms=-1, retention_bytes=30_000),
    "truncated": LogOptions(_INDEXED, segment_bytes=4000),
    "sparse": LogOptions(_INDEXED, segment_bytes=8000),
    "begun_late": LogOptions(_INDEXED, segment_bytes=8000),
    "empty": LogOptions(),
    "compacted": _COMPACTED,
    "forgotten": replace(_COMPACTED, delete_retention_ms=1),
    "both": replace(_COMPACTED, is_deleted=True, retention_ms=HOUR_MS),
}
"""The topics, and how we write them; Kafka is told the same of their segments."""

COORDINATOR_EPOCH: Final = 3


def kafka_options(options: LogOptions) -> dict[str, object]:
    """What Kafka is told of a topic that is written so."""
    policies = {"compact": options.is_compacted, "delete": options.is_deleted}
    return {
        "cleanup.policy": ",".join(name for name in policies if policies[name]),
        "delete.retention.ms": options.delete_retention_ms,
        # More than all of a log cannot be dirty: it cleans nothing before it is told to.
        "min.cleanable.dirty.ratio": 1.0,
        "retention.ms": options.retention_ms if options.is_compacted else -1,
        "internal.segment.bytes": options.segment_bytes,
        "index.interval.bytes": options.segment.index_interval_bytes,
        "preallocate": "true" if options.segment.allocated_bytes else "false",
        "retention.bytes": options.retention_bytes,
    }


@dataclass(slots=True)
class Leader:
    """Appends to a log in one leader epoch."""

    hosted: HostedLog
    history: PartitionHistory
    epoch: int
    now_ms: int
    _sequences: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def end_offset(self) -> int:
        """Where the next batch goes."""
        return self.hosted.log.end_offset

    def append(self, rows: Sequence[Row], options: BatchOptions) -> None:
        """Append rows, whose offsets count from the end of the log, as one batch."""
        base = self.end_offset
        moved = [(base + offset, *rest) for offset, *rest in rows]
        options = BatchOptions(
            base_offset=base,
            partition_leader_epoch=self.epoch,
            codec=options.codec,
            producer_id=options.producer_id,
            producer_epoch=options.producer_epoch,
            base_sequence=options.base_sequence,
            is_transactional=options.is_transactional,
            append_timestamp=options.append_timestamp,
        )
        self._append(write_batch(moved, options))

    def send(self, rows: Iterable[Sent], options: BatchOptions | None = None) -> None:
        """Append records three in a batch."""
        options = options or BatchOptions()
        group: list[Sent] = []
        for row in rows:
            group.append(row)
            if len(group) == 3:
                self.append(_rows(group, self.now_ms), options)
                group = []
        if group:
            self.append(_rows(group, self.now_ms), options)

    def produce(self, producer: tuple[int, int], count: int, *, is_transactional: bool) -> None:
        """Append a batch of a producer, in sequence."""
        producer_id, producer_epoch = producer
        state = self.history.state.get(producer_id)
        is_same = state is not None and state.epoch == producer_epoch
        sequence = state.last_sequence + 1 if state is not None and is_same else 0
        text = f"{producer} {sequence}".encode() * 9
        rows = [(index, self.now_ms + index, b"key", text, ()) for index in range(count)]
        options = BatchOptions(
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=sequence,
            is_transactional=is_transactional,
        )
        self.append(rows, options)

    def end(self, producer: tuple[int, int], *, is_commit: bool) -> None:
        """Append the marker that ends a producer's transaction."""
        marker = write_end_marker(
            is_commit=is_commit,
            producer=producer,
            coordinator_epoch=COORDINATOR_EPOCH,
            timestamp=self.now_ms,
            partition_leader_epoch=self.epoch,
            base_offset=self.end_offset,
        )
        self._append(marker)

    def _append(self, batch: bytes | bytearray) -> None:
        data = bytes(batch)
        self.hosted.log.append([(data, scan(data).rows)], self.now_ms)
        self.hosted.high_watermark = self.end_offset


def _rows(group: Sequence[Sent], now_ms: int) -> list[Row]:
    shift_ms = now_ms - NOW_MS
    return [
        (index, one.timestamp + shift_ms, one.key, one.value, one.headers)
        for index, one in enumerate(group)
    ]


def write(topic: str, leader: Leader, number: int) -> None:
    """Write a round to a topic."""
    assert topic in OPTIONS
    _WRITERS[topic](leader, Random(f"{topic} {number}"), number)


def _write_codecs(leader: Leader, _: Random, number: int) -> None:
    for codec in Codec:
        records = drawn_records(f"{codec} {number}", 20)
        leader.send(records, BatchOptions(codec=codec))


def _write_stamped(leader: Leader, _: Random, number: int) -> None:
    options = BatchOptions(codec=Codec.GZIP, append_timestamp=leader.now_ms + number)
    leader.send(drawn_records(f"stamped {number}", 40), options)


def _write_plain(leader: Leader, _: Random, number: int) -> None:
    leader.send(drawn_records(f"plain {number}", 30), BatchOptions(codec=Codec.SNAPPY))


def _write_transactions(leader: Leader, random: Random, number: int) -> None:
    """Transactions that cross each other, ended either way, and one of them never."""
    open_producers: list[tuple[int, int]] = []
    for step in range(12):
        producer = (100 + random.randrange(4), number)
        leader.produce(producer, 2, is_transactional=True)
        if producer not in open_producers:
            open_producers.append(producer)
        leader.produce((50 + number, 0), 3, is_transactional=False)
        if step % 2:
            ended = open_producers.pop(random.randrange(len(open_producers)))
            leader.end(ended, is_commit=random.random() < 0.4)
    for producer in open_producers:
        leader.end(producer, is_commit=False)
    leader.produce((200 + number, 0), 2, is_transactional=True)
    leader.produce((100, number), 2, is_transactional=True)
    leader.end((100, number), is_commit=False)


def _write_deleted(leader: Leader, random: Random, number: int) -> None:
    _write_plain(leader, random, number)
    leader.hosted.log.move_log_start(30 * number - 5)


def _write_retained(leader: Leader, random: Random, number: int) -> None:
    leader.send(drawn_records(f"retained {number}", 40))
    removal = leader.hosted.log.delete_old(leader.end_offset, leader.now_ms)
    if removal is not None:
        removal.run()


def _write_truncated(leader: Leader, random: Random, number: int) -> None:
    """What a follower does that had more than its leader."""
    start = leader.end_offset
    for _ in range(12):
        leader.produce((300, number), 5, is_transactional=False)
    leader.produce((301, number), 2, is_transactional=True)
    leader.end((301, number), is_commit=False)
    leader.hosted.log.truncate_to(start + 33, leader.now_ms)
    leader.hosted.high_watermark = leader.end_offset
    for _ in range(4):
        leader.produce((300, number), 3, is_transactional=False)


def _write_sparse(leader: Leader, random: Random, _: int) -> None:
    """Batches with holes, as a follower gets them of a leader that cleans."""
    for _ in range(30):
        offsets = sorted(random.sample(range(50), random.randrange(1, 6)))
        stamp_ms = leader.now_ms + random.randrange(1000)
        rows = [(offset, stamp_ms, b"key %d" % offset, b"value" * 9, ()) for offset in offsets]
        leader.append(rows, BatchOptions(codec=random.choice([Codec.NONE, Codec.ZSTD])))


def _write_begun_late(leader: Leader, random: Random, number: int) -> None:
    """The log of a follower that began where the leader's log did by then."""
    if number == 1:
        leader.hosted.log.start_at((1 << 31) + 77, leader.now_ms)
        leader.hosted.high_watermark = leader.end_offset
    _write_plain(leader, random, number)


def _write_nothing(leader: Leader, _: Random, __: int) -> None:
    assert leader.end_offset == 0


def keyed(text: str, count: int) -> Iterator[Sent]:
    """Few keys over and over, of which every third record deletes one."""
    for row in range(count):
        value = None if row % 3 == 0 else f"{text} {row}".encode() * 9
        yield Sent(NOW_MS + row, f"key {(row * 7 + len(text)) % 11}".encode(), value)


def _write_keys(leader: Leader, random: Random, number: int) -> None:
    """All codecs, and transactions that end either way; the keys of the first round stay."""
    leader.send(Sent(NOW_MS, b"first %d" % row, b"stays" * 9) for row in range(3 * (number == 1)))
    producer = (400, number)
    for codec in Codec:
        leader.send(keyed(f"{number} {codec} ", 12), BatchOptions(codec=codec))
        leader.produce(producer, 3, is_transactional=True)
        leader.end(producer, is_commit=random.random() < 0.5)


def _write_both(leader: Leader, random: Random, number: int) -> None:
    """What is old is gone, and of what is not the newest of each key stays."""
    if number == 1:
        old = replace(leader, now_ms=leader.now_ms - 2 * HOUR_MS)
        _write_keys(old, random, number)
    removal = leader.hosted.log.delete_old(leader.end_offset, leader.now_ms)
    if removal is not None:
        removal.run()
    _write_keys(leader, random, number)


_WRITERS: Final[Mapping[str, Callable[[Leader, Random, int], None]]] = {
    "codecs": _write_codecs,
    "stamped": _write_stamped,
    "allocated": _write_plain,
    "transactions": _write_transactions,
    "deleted": _write_deleted,
    "retained": _write_retained,
    "truncated": _write_truncated,
    "sparse": _write_sparse,
    "begun_late": _write_begun_late,
    "empty": _write_nothing,
    "compacted": _write_keys,
    "forgotten": _write_keys,
    "both": _write_both,
}
