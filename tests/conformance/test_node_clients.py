"""Real clients and Kafka's own tools produce to a running `ottla dev` and read back from it."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest

from tests.conformance import jars
from tests.conformance.clients import KafkaPython, Librdkafka

RECORDS = 300
TIMEOUT_S = 20


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where a broker listens that ends with the tests."""
    command = [sys.executable, "-W", "ignore", "-m", "ottla", "dev", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().strip().partition("=")[2]
        process.terminate()
        assert process.wait(TIMEOUT_S) == 0


def values(topic: str) -> list[bytes]:
    return [f"{topic}-{n}".encode() * 5 for n in range(RECORDS)]


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_librdkafka(librdkafka: Librdkafka, address: str, codec: str, acks: str) -> None:
    topic = f"rd-{codec}-{acks}"
    kafka = librdkafka.kafka
    producer = kafka.Producer(
        {
            "bootstrap.servers": address,
            "compression.type": codec,
            "acks": acks,
            "enable.idempotence": acks == "all",
        }
    )
    for value in values(topic):
        producer.produce(topic, value=value, headers=[("h", b"x")])
    assert producer.flush(TIMEOUT_S) == 0
    consumer = kafka.Consumer(
        {"bootstrap.servers": address, "group.id": "none", "enable.auto.commit": False}
    )
    consumer.assign([kafka.TopicPartition(topic, 0, 0)])
    try:
        assert read(lambda: [m.value() for m in consumer.consume(1000, 0.1)]) == values(topic)
    finally:
        consumer.close()


@pytest.mark.parametrize("acks", [0, 1, "all"])
def test_kafka_python(kafka_python: KafkaPython, address: str, acks: object) -> None:
    topic = f"kp-{acks}"
    idempotent = acks == "all"
    producer = kafka_python.kafka.KafkaProducer(
        bootstrap_servers=address, acks=acks, enable_idempotence=idempotent
    )
    try:
        for value in values(topic):
            producer.send(topic, value)
        producer.flush(TIMEOUT_S)
    finally:
        producer.close(TIMEOUT_S)
    consumer = kafka_python.kafka.KafkaConsumer(
        bootstrap_servers=address, group_id=None, auto_offset_reset="earliest"
    )
    place = kafka_python.kafka.TopicPartition(topic, 0)
    consumer.assign([place])

    def poll() -> list[bytes]:
        return [record.value for record in consumer.poll(100).get(place, ())]

    try:
        assert read(poll) == values(topic)
    finally:
        consumer.close()


def read(poll: Callable[[], list[Any]]) -> list[Any]:
    """Poll until all has come."""
    found: list[Any] = []
    deadline = time.monotonic() + TIMEOUT_S
    while len(found) < RECORDS and time.monotonic() < deadline:
        found += poll()
    return found


@pytest.fixture
def tool(missing_peer: Callable[[str], NoReturn]) -> Callable[..., str]:
    """Run one of Kafka's own tools."""

    def run(name: str, *arguments: str, given: str = "") -> str:
        try:
            class_path, java = jars.class_path("broker-4.3.1"), jars.tool("java")
        except jars.UnavailableError as reason:
            missing_peer(str(reason))
        command = [java, "-Xmx256m", "-cp", class_path, f"org.apache.kafka.tools.{name}"]
        done = subprocess.run(
            [*command, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_kafkas_own_tools(tool: Callable[..., str], address: str) -> None:
    server = ("--bootstrap-server", address)
    tool("ConsoleProducer", *server, "--topic", "tools", given="one\ntwo\nthree\n")
    arguments = ("--partition", "0", "--offset", "earliest", "--max-messages", "3")
    consumed = tool("consumer.ConsoleConsumer", *server, "--topic", "tools", *arguments)
    assert consumed.split() == ["one", "two", "three"]
    assert "tools:0:3" in tool("GetOffsetShell", *server, "--topic", "tools")
    said = tool(
        "ProducerPerformance",
        *("--topic", "perf", "--num-records", "2000", "--record-size", "1000"),
        *("--throughput", "-1", "--bootstrap-server", address, "--command-property", "acks=all"),
    )
    assert "2000 records sent" in said


def test_kafkas_own_tools_see_and_change_the_cluster(
    tool: Callable[..., str], address: str
) -> None:
    server = ("--bootstrap-server", address)
    topic = ("--topic", "managed")
    tool("TopicCommand", *server, "--create", *topic, "--config", "retention.ms=5000000")
    tool("TopicCommand", *server, "--alter", *topic, "--partitions", "3")
    described = tool("TopicCommand", *server, "--describe", *topic)
    assert "PartitionCount: 3" in described
    assert "retention.ms=5000000" in described
    assert "managed:2:0" in tool("GetOffsetShell", *server, *topic)
    assert '"partition":"managed-2"' in tool("LogDirsCommand", *server, "--describe")
    assert "LeaderId:               1" in tool(
        "MetadataQuorumCommand", *server, "describe", "--status"
    )
    assert "FinalizedVersionLevel: 4.3-IV0" in tool("FeatureCommand", *server, "describe")
    tool("TopicCommand", *server, "--delete", *topic)
    assert "managed" not in tool("TopicCommand", *server, "--list").split()
