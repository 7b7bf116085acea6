"""The nodes of Apache Kafka that tests start: they come up, come back, and say why they do not."""

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from tests.conformance import jars
from tests.conformance.kafka_broker import KafkaBroker, KafkaError

VERSIONS = ("4.3.1", "3.9.2")


@pytest.fixture(autouse=True, scope="module")
def _kafka(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        for version in VERSIONS:
            jars.class_path(f"broker-{version}")
        jars.tool("java")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_node_comes_back_with_what_it_had(version: str, tmp_path: Path) -> None:
    with KafkaBroker(tmp_path / "node", version, directories=2) as kafka:
        kafka.start()
        kafka.ask_tool("topics", "--create", "--topic", "orders", "--partitions", "2")
        orders = ("orders-0", "orders-1")
        kafka.wait_for(lambda: kafka.partition_folders().keys() >= {*orders}, 10, "no folders")
        assert {kafka.partition_folders()[name].parent for name in orders} == {*kafka.log_dirs}
        kafka.restart(clean=False)
        assert kafka.ask_tool("topics", "--list").split() == ["orders"]
        with kafka.client() as client:
            request = ApiVersionsRequest(client_software_name="a", client_software_version="1")
            assert len(client.ask(request, 3, ApiVersionsResponse).api_keys) > 40
        process = Path("/proc") / str(kafka.process_id)
        assert process.exists()
    assert not process.exists()


def test_a_node_that_does_not_start_says_why(tmp_path: Path) -> None:
    settings = {"log.segment.bytes": "many"}
    with (
        KafkaBroker(tmp_path / "node", settings=settings) as kafka,
        pytest.raises(KafkaError, match="Invalid value many"),
    ):
        kafka.start()


def test_a_tool_that_fails_says_why(tmp_path: Path) -> None:
    with (
        KafkaBroker(tmp_path / "node") as kafka,
        pytest.raises(KafkaError, match="not a recognized option"),
    ):
        kafka.tool("dump-log", "--no-such-option")
