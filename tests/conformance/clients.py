"""Real clients that read from the server of one partition, or write to it, within a time-out."""

import time
import warnings
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Final, NamedTuple

from ottla.records.message_set import CREATE_TIME, LOG_APPEND_TIME, NO_TIMESTAMP_TYPE
from tests.conformance.one_partition import TOPIC
from tests.conformance.one_partition_server import OnePartitionServer

TIMEOUT_S: Final = 60
COMMITTED: Final = "read_committed"
UNCOMMITTED: Final = "read_uncommitted"
_POLL_S: Final = 0.02


class Seen(NamedTuple):
    """A record as a client shows it; one without headers may have None or none."""

    offset: int
    timestamp_type: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class Sent(NamedTuple):
    """A record as a client is told to produce it."""

    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def _end_offset(server: OnePartitionServer, options: dict[str, Any]) -> int:
    log = server.partition.log
    return log.last_stable_offset if options["isolation_level"] == COMMITTED else log.end_offset


class Librdkafka:
    """The C library, by Confluent's package for Python."""

    def __init__(self) -> None:
        self.kafka = import_module("confluent_kafka")
        self.types = {
            self.kafka.TIMESTAMP_NOT_AVAILABLE: NO_TIMESTAMP_TYPE,
            self.kafka.TIMESTAMP_CREATE_TIME: CREATE_TIME,
            self.kafka.TIMESTAMP_LOG_APPEND_TIME: LOG_APPEND_TIME,
        }

    def read(self, server: OnePartitionServer, **options: Any) -> list[Seen]:
        """All that an assigned consumer shows until it says that the log ends."""
        options = {"isolation_level": UNCOMMITTED, **options}
        start = server.partition.log.start_offset
        seen, end_offset = self.read_from(server.address, (TOPIC, start), server.report, **options)
        server.assert_well()
        assert end_offset == _end_offset(server, options), server.report()
        return seen

    def read_from(
        self, address: str, place: tuple[str, int], report: Callable[[], str], **options: Any
    ) -> tuple[list[Seen], int]:
        """The same of any broker, from an offset of a topic's only partition on; and the end."""
        consumer = self.kafka.Consumer(
            _settings(
                address,
                group_id="readers",
                enable_auto_commit=False,
                enable_partition_eof=True,
                check_crcs=True,
                fetch_wait_max_ms=10,
                **options,
            )
        )
        seen: list[Seen] = []
        try:
            topic, offset = place
            consumer.assign([self.kafka.TopicPartition(topic, 0, offset)])
            end_offset = self._read_to_end(consumer, seen, report)
        finally:
            consumer.close()
        return seen, end_offset

    def _read_to_end(self, consumer: Any, seen: list[Seen], report: Callable[[], str]) -> int:
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            for message in consumer.consume(1000, _POLL_S):
                fault = message.error()
                if fault is None:
                    kind, timestamp = message.timestamp()
                    # Where there is no time it says 0.
                    is_timed = kind != self.kafka.TIMESTAMP_NOT_AVAILABLE
                    shown = message.offset(), self.types[kind], timestamp if is_timed else -1
                    headers = tuple(message.headers() or ())
                    seen.append(Seen(*shown, message.key(), message.value(), headers))
                elif fault.code() == self.kafka.KafkaError._PARTITION_EOF:
                    end_offset: int = message.offset()
                    return end_offset
                else:
                    raise AssertionError(f"{fault}; {report()}")
        raise AssertionError(f"{len(seen)} records and no end; {report()}")

    def producer(self, server: OnePartitionServer, **options: Any) -> Any:
        """What `write` needs; its transactions are the caller's."""
        return self.kafka.Producer(_settings(server.address, **{"linger_ms": 5, **options}))

    def write(self, producer: Any, server: OnePartitionServer, rows: Iterable[Sent]) -> list[int]:
        """Have records produced; give the offsets that the producer was told, in order."""
        offsets: list[int] = []

        def note(fault: Any, message: Any) -> None:
            assert fault is None, f"{fault}; {server.report()}"
            offsets.append(message.offset())

        for row in rows:
            producer.produce(
                TOPIC,
                partition=0,
                timestamp=row.timestamp,
                key=row.key,
                value=row.value,
                headers=list(row.headers),
                on_delivery=note,
            )
        left = producer.flush(TIMEOUT_S)
        server.assert_well()
        assert left == 0, f"{left} records were not taken; {server.report()}"
        return offsets


def _settings(address: str, **options: Any) -> dict[str, object]:
    """Options under the names of librdkafka, which says only what is critical."""
    return {
        "bootstrap.servers": address,
        "broker.address.family": "v4",
        "log_level": 2,
        **{name.replace("_", "."): value for name, value in options.items()},
    }


class KafkaPython:
    """The client that is Python throughout."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            # It reads its schemas in a way that one release of Python called deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.kafka = import_module("kafka")
        for module in ("lz4.frame", "snappy", "xxhash", "zstandard"):
            import_module(module)

    def read(self, server: OnePartitionServer, **options: Any) -> list[Seen]:
        """All that an assigned consumer shows up to the end of the log."""
        options = {"isolation_level": UNCOMMITTED, **options}
        end_offset = _end_offset(server, options)
        consumer = self.kafka.KafkaConsumer(
            bootstrap_servers=server.address,
            group_id=None,
            enable_auto_commit=False,
            fetch_max_wait_ms=10,
            **options,
        )
        try:
            place = self.kafka.TopicPartition(TOPIC, 0)
            consumer.assign([place])
            consumer.seek(place, server.partition.log.start_offset)
            seen: list[Seen] = []
            deadline = time.monotonic() + TIMEOUT_S
            while time.monotonic() < deadline and consumer.position(place) < end_offset:
                for one in consumer.poll(20, max_records=10_000).get(place, ()):
                    timestamp = -1 if one.timestamp is None else one.timestamp
                    kind = NO_TIMESTAMP_TYPE if one.timestamp_type is None else one.timestamp_type
                    shown = one.offset, kind, timestamp, one.key, one.value
                    seen.append(Seen(*shown, tuple(one.headers)))
            position = consumer.position(place)
        finally:
            consumer.close()
        server.assert_well()
        assert position == end_offset, f"it came to {position}; {server.report()}"
        return seen

    def write(self, server: OnePartitionServer, rows: Iterable[Sent], **options: Any) -> list[int]:
        """Have records produced; give the offsets that the producer was told, in order."""
        producer = self.kafka.KafkaProducer(
            bootstrap_servers=server.address, linger_ms=5, max_block_ms=1000 * TIMEOUT_S, **options
        )
        try:
            offsets = self._write(producer, rows)
        except self.kafka.errors.KafkaError as fault:
            raise AssertionError(f"{fault!r}; {server.report()}") from fault
        server.assert_well()
        return offsets

    def _write(self, producer: Any, rows: Iterable[Sent]) -> list[int]:
        """Its time-outs are errors too, be it in flushing or in closing."""
        try:
            sent = [
                producer.send(
                    TOPIC,
                    partition=0,
                    timestamp_ms=row.timestamp,
                    key=row.key,
                    value=row.value,
                    headers=list(row.headers),
                )
                for row in rows
            ]
            producer.flush(TIMEOUT_S)
            return [one.get(0).offset for one in sent]
        finally:
            producer.close(TIMEOUT_S)
