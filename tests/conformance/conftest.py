"""One oracle per Kafka version, and each real client, for the whole run."""

from collections.abc import Callable, Iterator
from typing import NoReturn

import pytest

from tests.conformance.clients import KafkaPython, Librdkafka
from tests.conformance.jars import UnavailableError
from tests.conformance.oracle import Oracle


@pytest.fixture(scope="session")
def oracle_44(missing_peer: Callable[[str], NoReturn]) -> Iterator[Oracle]:
    """The newest classes of the clients."""
    yield from _oracle("clients-4.4.0", missing_peer)


@pytest.fixture(scope="session")
def oracle_39(missing_peer: Callable[[str], NoReturn]) -> Iterator[Oracle]:
    """The last classes that know the oldest versions and formats."""
    yield from _oracle("clients-3.9.2", missing_peer)


@pytest.fixture(scope="session")
def oracle_43(missing_peer: Callable[[str], NoReturn]) -> Iterator[Oracle]:
    """The classes of a whole broker, internal records among them."""
    yield from _oracle("broker-4.3.1", missing_peer)


def _oracle(class_path: str, missing_peer: Callable[[str], NoReturn]) -> Iterator[Oracle]:
    try:
        oracle = Oracle(class_path)
    except UnavailableError as reason:
        missing_peer(str(reason))
    with oracle:
        yield oracle


@pytest.fixture(scope="session")
def librdkafka(missing_peer: Callable[[str], NoReturn]) -> Librdkafka:
    """The client in C."""
    try:
        return Librdkafka()
    except ImportError as reason:
        missing_peer(f"confluent-kafka is not installed: {reason}")


@pytest.fixture(scope="session")
def kafka_python(missing_peer: Callable[[str], NoReturn]) -> KafkaPython:
    """The client in Python, with the libraries of all codecs."""
    try:
        return KafkaPython()
    except ImportError as reason:
        missing_peer(f"kafka-python with its codecs is not installed: {reason}")
