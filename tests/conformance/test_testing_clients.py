"""Real clients meet the faults that tests script, and a broker that is reset under them."""

from collections.abc import Iterator
from typing import Any

import pytest

from ottla.testing import Broker
from tests.conformance.clients import KafkaPython, Librdkafka

TIMEOUT_S = 20


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


class Rd:
    """librdkafka, with one topic."""

    def __init__(self, kafka: Any, broker: Broker) -> None:
        self._kafka = kafka
        self._server = {"bootstrap.servers": broker.bootstrap}

    def produce(self, *values: bytes, **options: object) -> list[object]:
        """Send each and wait for it; give what they failed by, if they did."""
        told: list[object] = []
        named = {name.replace("_", "."): value for name, value in options.items()}
        producer = self._kafka.Producer({**self._server, "retry.backoff.ms": 10, **named})
        for value in values:
            producer.produce("orders", value=value, on_delivery=lambda error, _: told.append(error))
            assert producer.flush(TIMEOUT_S) == 0
        return told

    def values(self, count: int, **options: object) -> list[bytes]:
        """All that is there, and then the end."""
        named = {name.replace("_", "."): value for name, value in options.items()}
        consumer = self._kafka.Consumer(
            {
                **self._server,
                "group.id": "none",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                **named,
            }
        )
        consumer.assign([self._kafka.TopicPartition("orders", 0, 0)])
        found: list[bytes] = []
        try:
            while True:
                message = consumer.poll(TIMEOUT_S)
                assert message is not None, "no end within the time"
                if message.error() is None:
                    found.append(message.value())
                elif message.error().code() == self._kafka.KafkaError._PARTITION_EOF:
                    assert len(found) == count
                    return found
        finally:
            consumer.close()


@pytest.fixture
def rd(librdkafka: Librdkafka, broker: Broker) -> Rd:
    return Rd(librdkafka.kafka, broker)


def test_librdkafka_tries_again_after_an_error(rd: Rd, broker: Broker) -> None:
    rule = broker.faults.on("Produce", topic="orders", partition=0)
    rule.error("NOT_LEADER_OR_FOLLOWER").nth(2).times(2)
    assert rd.produce(b"1", b"2", b"3") == [None, None, None]
    assert [one.outcome for one in broker.faults.fired] == ["NOT_LEADER_OR_FOLLOWER"] * 2
    assert rd.values(3) == [b"1", b"2", b"3"]


def test_librdkafka_gives_up_on_an_error_that_stays(rd: Rd, broker: Broker) -> None:
    broker.faults.on("Produce").error("MESSAGE_TOO_LARGE")
    (error,) = rd.produce(b"1")
    assert "MSG_SIZE_TOO_LARGE" in str(error)


@pytest.mark.parametrize(("is_idempotent", "count"), [(True, 1), (False, 2)])
def test_an_answer_that_is_lost_is_a_duplicate_unless_idempotent(
    rd: Rd, broker: Broker, is_idempotent: bool, count: int
) -> None:
    broker.faults.on("Produce").drop_answer().times(1)
    options = {"enable_idempotence": is_idempotent, "socket_timeout_ms": 500}
    assert rd.produce(b"1", **options, request_timeout_ms=500) == [None]
    assert rd.values(count) == [b"1"] * count


def test_a_connection_that_is_closed_is_made_again(rd: Rd, broker: Broker) -> None:
    broker.faults.on("Produce").close().times(1)
    broker.faults.on("Fetch").close().nth(1)
    broker.faults.on("Fetch", topic="orders").error("KAFKA_STORAGE_ERROR").nth(2)
    assert rd.produce(b"1", b"2") == [None, None]
    assert rd.values(2) == [b"1", b"2"]
    assert [one.api for one in broker.faults.fired] == ["Produce", "Fetch", "Fetch"]


def test_kafka_python_meets_them_too(kafka_python: KafkaPython, broker: Broker) -> None:
    broker.faults.on("Metadata", topic="orders").error("LEADER_NOT_AVAILABLE").times(1)
    broker.faults.on("Produce", topic="orders").error("NOT_LEADER_OR_FOLLOWER").times(1)
    producer = kafka_python.kafka.KafkaProducer(
        bootstrap_servers=broker.bootstrap, retry_backoff_ms=10
    )
    try:
        place = producer.send("orders", b"1").get(TIMEOUT_S)
        assert (place.partition, place.offset) == (0, 0)
    finally:
        producer.close(TIMEOUT_S)
    assert [one.api for one in broker.faults.fired] == ["Metadata", "Produce"]


def test_a_producer_lives_through_a_reset(librdkafka: Librdkafka, broker: Broker, rd: Rd) -> None:
    """It is told that the topic is unknown or new, and goes on in the empty broker."""
    producer = librdkafka.kafka.Producer(
        {"bootstrap.servers": broker.bootstrap, "enable.idempotence": False}
    )
    for value in (b"before", b"after"):
        producer.produce("orders", value=value)
        assert producer.flush(TIMEOUT_S) == 0
        if value == b"before":
            broker.reset()
    assert rd.values(1) == [b"after"]
