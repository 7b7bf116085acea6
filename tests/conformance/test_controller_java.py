"""What the controller decides against Kafka 4.3.1's own, through random lives of clusters."""

from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from ottla.core.metadata.snapshots import bootstrap_records
from tests.conformance import jars
from tests.conformance.drawn_cluster import Life
from tests.conformance.kafka_controller import Ask, Both, kafka_controller

LEVELS = (30, 29, 25, 21, 17, 11)


@pytest.fixture(scope="module")
def ask(missing_peer: Callable[[str], NoReturn]) -> Iterator[Ask]:
    """Kafka's controller."""
    try:
        with kafka_controller() as answered:
            yield answered
    except jars.UnavailableError as reason:
        missing_peer(str(reason))


@pytest.mark.parametrize("seed", range(60))
def test_decisions_are_kafkas(ask: Ask, seed: int) -> None:
    level = LEVELS[seed % 12] if seed % 12 < len(LEVELS) else LEVELS[0]
    life = Life(Both(ask, seed, bootstrap_records(level)), seed)
    for _ in range(150):
        life.step()
    assert life.image.cluster.brokers
