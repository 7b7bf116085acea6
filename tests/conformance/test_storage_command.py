"""Apache Kafka 4.3.1 starts on what `ottla storage format` leaves, and we tell of what it made."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from ottla.cli import main
from tests.conformance import jars
from tests.conformance.kafka_broker import CLUSTER_ID, KafkaBroker


@pytest.fixture(autouse=True, scope="module")
def _kafka(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        jars.class_path("broker-4.3.1")
        jars.tool("java")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))


def node(folder: Path, *, names_voters: bool) -> KafkaBroker:
    """A node whose properties file is there, and nothing else; the file or the log has voters."""
    settings: dict[str, object] = {}
    broker = KafkaBroker(folder, directories=2, settings=settings)
    broker._write_properties()
    if not names_voters:
        settings["controller.quorum.voters"] = ""
        settings["controller.quorum.bootstrap.servers"] = f"127.0.0.1:{broker._ports[1]}"
        broker._write_properties()
    return broker


@pytest.mark.parametrize("option", [None, "--standalone"])
def test_kafka_starts_on_what_was_formatted(
    option: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broker = node(tmp_path / "node", names_voters=option is None)
    words = ["storage", "format", "-c", str(tmp_path / "node" / "server.properties")]
    words += ["-t", CLUSTER_ID, "--release-version", "4.2", *([option] if option else [])]
    assert main([*words, "--dry-run"]) == 0
    assert not any(path.exists() for path in broker.log_dirs)
    assert main(words) == 0
    made = [(path, (path / "meta.properties").read_bytes()) for path in broker.log_dirs]
    assert main(words) == 2
    assert "is formatted already" in capsys.readouterr().err
    assert main([*words, "--ignore-formatted"]) == 0
    assert [(path, (path / "meta.properties").read_bytes()) for path in broker.log_dirs] == made
    with broker:
        broker.start()
        broker.ask_tool("topics", "--create", "--topic", "orders", "--partitions", "2")
        told = broker.ask_tool("org.apache.kafka.tools.FeatureCommand", "describe")
        assert "metadata.version" in told
        assert "4.2-IV1" in told
        broker.stop()
    assert main(["storage", "info", "--json", *map(str, broker.log_dirs)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "version" in line]
    found = [row for row in rows if "partitions_count" in row]
    assert [row["state"] for row in found] == ["closed_cleanly"] * 2
    assert {row["cluster_id"] for row in found} == {CLUSTER_ID}
    assert sum(row["partitions_count"] for row in found) == 2


def test_what_kafka_formatted_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broker = node(tmp_path / "node", names_voters=True)
    broker.format()
    assert main(["storage", "info", "-c", str(tmp_path / "node" / "server.properties")]) == 0
    said = capsys.readouterr().out
    assert f"cluster {CLUSTER_ID}, node 1, not closed cleanly" in said
