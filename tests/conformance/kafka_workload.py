"""Writes topics of every kind to a running Kafka, by real clients.

What is written is drawn, but always the same. Each step can be done again, which makes the logs
longer, so that a node can be stopped or killed between.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.api.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from ottla.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.errors import ErrorCode
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.file_names import CLEANER_OFFSETS
from ottla.wire.topics import TopicPartition
from tests.conformance.clients import KafkaPython, Librdkafka, Sent
from tests.conformance.drawn_logs import NOW_MS, drawn_records
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.wire_client import WireClient

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
SECONDS_MAX: Final = 30
HOUR_MS: Final = 3_600_000
_SEGMENT: Final = {"internal.segment.bytes": 32_000}
_COMPACTED: Final = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": 0.01,
    "internal.segment.bytes": 3000,
}

TOPICS: Final[Mapping[str, Mapping[str, object]]] = {
    "codecs": _SEGMENT,
    "stamped": {"internal.segment.bytes": 8000, "message.timestamp.type": "LogAppendTime"},
    "recoded": {"internal.segment.bytes": 8000, "compression.type": "zstd"},
    "transactions": {"internal.segment.bytes": 2500},
    "deleted": {"internal.segment.bytes": 8000},
    "retained": {**_SEGMENT, "retention.bytes": 64_000},
    "compacted": {**_COMPACTED, "delete.retention.ms": HOUR_MS},
    "forgotten": {**_COMPACTED, "delete.retention.ms": 1},
}
"""The options of each topic; all have one partition."""

SETTINGS: Final[Mapping[str, object]] = {
    "log.cleaner.backoff.ms": 100,
    "log.retention.check.interval.ms": 200,
    "log.retention.ms": -1,
    "log.segment.delete.delay.ms": 100,
    "message.timestamp.after.max.ms": 2**63 - 1,
}


def create_topics(client: WireClient, topics: Mapping[str, Mapping[str, object]]) -> None:
    """Create topics of one partition."""
    topic = CreateTopicsRequest.Topic
    asked = [
        topic(
            name=name,
            num_partitions=1,
            replication_factor=1,
            assignments=[],
            configs=[topic.Config(name=key, value=str(options[key])) for key in options],
        )
        for name, options in topics.items()
    ]
    answer = client.ask(CreateTopicsRequest(topics=asked), 7, CreateTopicsResponse)
    refused = [found for found in answer.topics if found.error_code != ErrorCode.NONE]
    assert not refused, refused


def set_option(client: WireClient, topics: Iterable[str], name: str, value: object) -> None:
    """Set an option of topics."""
    resource = IncrementalAlterConfigsRequest.Resource
    asked = [
        resource(
            resource_type=2,
            resource_name=topic,
            configs=[resource.Config(name=name, config_operation=0, value=str(value))],
        )
        for topic in topics
    ]
    request = IncrementalAlterConfigsRequest(resources=asked, validate_only=False)
    answer = client.ask(request, 1, IncrementalAlterConfigsResponse)
    refused = [found for found in answer.responses if found.error_code != ErrorCode.NONE]
    assert not refused, refused


def delete_records(client: WireClient, name: str, offset: int) -> None:
    """Let a topic's partition begin at an offset."""
    topic = DeleteRecordsRequest.Topic
    asked = topic.Partition(partition_index=0, offset=offset)
    request = DeleteRecordsRequest(
        topics=[topic(name=name, partitions=[asked])], timeout_ms=1000 * SECONDS_MAX
    )
    found = client.ask(request, 2, DeleteRecordsResponse).topics[0].partitions[0]
    assert (found.error_code, found.low_watermark) == (ErrorCode.NONE, offset), found


@dataclass(slots=True)
class Workload:
    """Real clients that write to a node, as long as it is the same."""

    kafka: KafkaBroker
    _started_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    _round: Iterator[int] = field(default_factory=lambda: count(1))
    _open: list[Any] = field(default_factory=list[Any])
    _librdkafka: Any = field(default_factory=lambda: Librdkafka().kafka)
    _kafka_python: Any = field(default_factory=lambda: KafkaPython().kafka)

    @property
    def times(self) -> list[int]:
        """Times before, amid and after those of the records."""
        around = range(NOW_MS - 5000, NOW_MS + 5000, 200)
        near = [NOW_MS + near for near in range(-1, 5)]
        return [0, *(time + self._shift_ms for time in (*around, *near)), 2**62]

    @property
    def _shift_ms(self) -> int:
        """Producers that seem to be silent for long would be forgotten."""
        return self._started_ms - NOW_MS

    def write(self) -> None:
        """Write a round to every topic."""
        number = next(self._round)
        for codec in CODECS:
            self.send("codecs", drawn_records(f"{codec} {number}", 12), codec=codec)
        self.send("stamped", drawn_records(f"stamped {number}", 25), codec="gzip")
        self.send("recoded", drawn_records(f"recoded {number}", 25), codec="lz4")
        self.send("deleted", drawn_records(f"deleted {number}", 40), codec="snappy")
        self.send("retained", drawn_records(f"retained {number}", 40), codec="none")
        self._write_by_kafka_python(number)
        self._write_transactions("transactions", number)
        for topic in ("compacted", "forgotten"):
            self._write_keys(topic, number)
        self._commit(number)

    def delete(self, offset: int) -> None:
        """Let a topic begin at an offset."""
        with self.kafka.client() as client:
            delete_records(client, "deleted", offset)

    def wait_until_clean(self, topics: Iterable[str] = ("compacted", "forgotten")) -> None:
        """Wait until the cleaner has been over all that it may clean."""
        for topic in topics:
            self.kafka.wait_for(lambda t=topic: self._is_clean(t), SECONDS_MAX, f"{topic} is dirty")

    def wait_until_retained(self) -> None:
        """Wait until what is too much is gone."""
        wanted = int(str(TOPICS["retained"]["retention.bytes"]))

        def is_done() -> bool:
            folder = self.kafka.partition_folders()["retained-0"]
            sizes = [path.stat().st_size for path in sorted(folder.glob("*.log"))]
            return sum(sizes[1:]) < wanted and not list(folder.glob("*.deleted"))

        self.kafka.wait_for(is_done, SECONDS_MAX, "there is too much")

    def let_go(self) -> None:
        """Forget the producers of open transactions; it takes the node to be gone."""
        self._open.clear()

    def _is_clean(self, topic: str) -> bool:
        folder = self.kafka.partition_folders()[f"{topic}-0"]
        bases = sorted(int(path.stem) for path in folder.glob("*.log"))
        checkpoint = Path(folder.parent) / CLEANER_OFFSETS
        with suppress(OSError):
            offsets = parse_offsets(checkpoint.read_bytes())
            return offsets.get(TopicPartition(topic, 0), -1) == bases[-1]
        return False

    def send(self, topic: str, rows: Iterable[Sent], *, codec: str) -> None:
        """Write records to a topic, few in a batch."""
        producer = self._producer(compression_type=codec, linger_ms=2, batch_num_messages=2)
        self._produce(producer, topic, rows)

    def _producer(self, **options: Any) -> Any:
        named = {name.replace("_", "."): value for name, value in options.items()}
        return self._librdkafka.Producer({**self._settings(), **named})

    def _settings(self) -> dict[str, object]:
        return {
            "bootstrap.servers": self.kafka.address,
            "broker.address.family": "v4",
            "log_level": 2,
        }

    def _produce(self, producer: Any, topic: str, rows: Iterable[Sent]) -> None:
        faults: list[object] = []

        def note(fault: object, _: object) -> None:
            if fault is not None:
                faults.append(fault)

        for row in rows:
            producer.produce(
                topic,
                partition=0,
                timestamp=row.timestamp + self._shift_ms,
                key=row.key,
                value=row.value,
                headers=list(row.headers),
                on_delivery=note,
            )
        left = producer.flush(SECONDS_MAX)
        assert not left, f"{left} records were not taken; {self.kafka.last_words()}"
        assert not faults, f"{faults}; {self.kafka.last_words()}"

    def _write_by_kafka_python(self, number: int) -> None:
        producer = self._kafka_python.KafkaProducer(
            bootstrap_servers=self.kafka.address, compression_type="gzip", linger_ms=2
        )
        try:
            for row in drawn_records(f"kafka-python {number}", 12):
                sent = producer.send(
                    "codecs",
                    partition=0,
                    timestamp_ms=row.timestamp + self._shift_ms,
                    key=row.key or b"key",
                    value=row.value,
                    # It sends no record without key and value, and no header without a value.
                    headers=[(name, value or b"") for name, value in row.headers],
                )
            sent.get(SECONDS_MAX)
            producer.flush(SECONDS_MAX)
        finally:
            producer.close(SECONDS_MAX)

    def _write_transactions(self, topic: str, number: int) -> None:
        """Transactions that cross each other, ended either way, one of them never."""
        open_id = f"{topic} open {number}"
        first, second, third = (
            self._transactional(name) for name in (f"{topic} a", f"{topic} b", open_id)
        )
        idempotent = self._producer(enable_idempotence=True, batch_num_messages=3)
        for step, ends in enumerate(_ENDS):
            for producer in (first, second):
                producer.begin_transaction()
            self._produce(first, topic, text_rows(f"{number} {step} first", 3))
            self._produce(idempotent, topic, text_rows(f"{number} {step} plain", 2))
            self._produce(second, topic, text_rows(f"{number} {step} second", 2))
            self._produce(first, topic, text_rows(f"{number} {step} again", 2))
            for producer, end in zip((first, second), ends, strict=True):
                getattr(producer, f"{end}_transaction")(SECONDS_MAX)
        third.begin_transaction()
        self._produce(third, topic, text_rows(f"{number} open", 2))
        first.begin_transaction()
        self._produce(first, topic, text_rows(f"{number} behind", 2))
        first.abort_transaction(SECONDS_MAX)
        self._open.append(third)

    def _transactional(self, name: str) -> Any:
        producer = self._producer(transactional_id=name, transaction_timeout_ms=HOUR_MS // 4)
        producer.init_transactions(SECONDS_MAX)
        return producer

    def _commit(self, number: int) -> None:
        """Let a group keep how far it has read."""
        consumer = self._librdkafka.Consumer(
            {**self._settings(), "group.id": "readers", "enable.auto.commit": False}
        )
        try:
            place = self._librdkafka.TopicPartition("codecs", 0, number)
            consumer.commit(offsets=[place], asynchronous=False)
        finally:
            consumer.close()

    def _write_keys(self, topic: str, number: int) -> None:
        """Few keys over and over, some of them deleted, some within transactions."""
        plain = self._producer(compression_type="lz4", batch_num_messages=4)
        writer = self._transactional(f"{topic} writer")
        for step in range(4):
            self._produce(plain, topic, _keyed(f"{number} {step}", 12))
            writer.begin_transaction()
            self._produce(writer, topic, _keyed(f"{number} {step} in", 6))
            if step % 2:
                writer.abort_transaction(SECONDS_MAX)
            else:
                writer.commit_transaction(SECONDS_MAX)


_ENDS: Final[Sequence[tuple[str, str]]] = (
    ("commit", "abort"),
    ("abort", "abort"),
    ("abort", "commit"),
)


def text_rows(text: str, rows: int) -> Iterator[Sent]:
    """Records that can be printed."""
    for row in range(rows):
        yield Sent(NOW_MS + row, f"key {row}".encode(), f"{text} {row}".encode() * 9)


def _keyed(text: str, rows: int) -> Iterator[Sent]:
    """Every third of them is a tombstone."""
    for row in range(rows):
        value = None if row % 3 == 0 else f"{text} {row}".encode() * 9
        yield Sent(NOW_MS + row, f"key {(row * 7 + len(text)) % 11}".encode(), value)
