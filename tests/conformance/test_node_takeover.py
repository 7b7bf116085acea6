"""Apache Kafka goes on where `ottla dev` stopped, and the other way round: the same cluster."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from ottla.cli import main
from tests.conformance import jars
from tests.conformance.kafka_broker import CLUSTER_ID, KafkaBroker
from tests.conformance.ottla_node import running_ottla

# The one voter stands in the log that we format, and may not be in the options as well.
BY_LOG = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "a:1"}


@pytest.fixture(autouse=True, scope="module")
def _kafka(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        jars.class_path("broker-4.3.1")
        jars.tool("java")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))


class Ours:
    """What the command says of a node of ours."""

    def __init__(self, address: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._address = address
        self._capsys = capsys

    def __call__(self, line: str) -> str:
        code = main([*line.split(), "--bootstrap", self._address])
        said = self._capsys.readouterr()
        assert code == 0, said.err
        return said.out


def cluster_id(directory: Path) -> str:
    found = re.search(r"cluster\.id=(.*)", (directory / "meta.properties").read_text())
    assert found is not None
    return found[1]


def consumed(kafka: KafkaBroker, topic: str, count: int) -> list[str]:
    arguments = ("--partition", 0, "--offset", "earliest", "--max-messages", count)
    return kafka.ask_tool("console-consumer", "--topic", topic, *arguments).split()


def test_kafka_goes_on_where_we_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broker = KafkaBroker(tmp_path, settings=BY_LOG)
    (directory,) = broker.log_dirs
    with running_ottla(directory) as address:
        ours = Ours(address, capsys)
        ours("topic create kept --partitions 1 --config retention.ms=86400001")
        ours("topic create gone --partitions 2")
        ours("record produce kept --value one --value two")
        ours("topic delete gone --yes")
    known = cluster_id(directory)
    with broker as kafka:
        kafka.start()
        assert kafka.ask_tool("topics", "--list").split() == ["kept"]
        assert "retention.ms=86400001" in kafka.ask_tool("topics", "--describe", "--topic", "kept")
        assert consumed(kafka, "kept", 2) == ["one", "two"]
        kafka.ask_tool("topics", "--create", "--topic", "theirs", "--partitions", 3)
        status = kafka.ask_tool("metadata-quorum", "describe", "--status")
        assert re.search(rf"ClusterId: +{re.escape(known)}\n", status), status
        kafka.stop()
    with running_ottla(directory) as address:
        ours = Ours(address, capsys)
        listed = [line.split()[:2] for line in ours("topic list").splitlines()[1:]]
        assert listed == [["kept", "1"], ["theirs", "3"]]
        assert "two" in ours("record consume kept")
    assert cluster_id(directory) == known


def test_we_go_on_where_kafka_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with KafkaBroker(tmp_path) as kafka:
        (directory,) = kafka.log_dirs
        kafka.start()
        config = ("--config", "max.message.bytes=12345")
        kafka.ask_tool("topics", "--create", "--topic", "theirs", *config)
        kafka.ask_tool("console-producer", "--topic", "theirs", stdin="one\ntwo\n")
        kafka.stop()
        with running_ottla(directory) as address:
            ours = Ours(address, capsys)
            assert "two" in ours("record consume theirs")
            assert "12345" in ours("config show topic/theirs max.message.bytes")
            ours("record produce theirs --value three")
            ours("topic create ours --partitions 1")
        assert cluster_id(directory) == CLUSTER_ID
        kafka.start()
        assert kafka.ask_tool("topics", "--list").split() == ["ours", "theirs"]
        assert consumed(kafka, "theirs", 3) == ["one", "two", "three"]
        kafka.stop()
