"""The command talks to Apache Kafka, old and new, and to Ottla, and says the same of all three."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conformance import jars
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.ottla_node import running_ottla
from tests.unit.cli.session import play

SESSIONS = Path(__file__).parent / "sessions"
# A topic's id; a time; the producer that the next number was given to.
CHANGING = (
    (re.compile(r"\b[\w-]{22}\b"), "(id)"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "(time)"),
    (re.compile(r'"timestamp":\d+'), '"timestamp":(ms)'),
    (re.compile(r'"producer_id":\d+'), '"producer_id":(id)'),
    # Only from 4.1 on can directories be cordoned.
    (re.compile(" or some brokers have all their log directories cordoned"), ""),
    (re.compile(r"127\.0\.0\.1:\d+"), "(address)"),
)


def masked(line: str) -> str:
    """A line with what is another one in every run."""
    for pattern, name in CHANGING:
        line = pattern.sub(name, line)
    return line


@pytest.fixture(scope="module", params=["ottla", "4.3.1", "3.9.2"])
def address(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    missing_peer: Callable[[str], NoReturn],
) -> Iterator[str]:
    """Where a node listens: ours, and one of each version of Kafka's."""
    version = str(request.param)
    if version == "ottla":
        with running_ottla() as node:
            yield node
        return
    try:
        jars.class_path(f"broker-{version}")
        broker = KafkaBroker(tmp_path_factory.mktemp("kafka"), version)
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    with broker:
        broker.start()
        yield broker.address


@pytest.mark.parametrize("name", sorted(path.stem for path in SESSIONS.glob("*.txt")))
def test_a_session_goes_as_written(
    name: str,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OTTLA_BOOTSTRAP", address)
    play(SESSIONS / f"{name}.txt", capsys, masked)
