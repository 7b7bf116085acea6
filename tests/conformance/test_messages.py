"""Every message and internal record against Kafka's own classes, byte for byte, both ways.

What we draw, Kafka reads and writes again; what Kafka draws, we read and write again. A version is
tried with every release that has it: 3.9 knows the oldest, 4.4 the newest, and the broker's jars of
4.3 the internal records.
"""

from collections.abc import Iterator
from random import Random

import pytest

from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message
from tests.conformance.declared import declared
from tests.conformance.oracle import Oracle, Schema
from tests.unit.api.filler import filled

COUNT = 20
NAMES = sorted(declared())


@pytest.fixture(scope="session")
def releases(
    oracle_39: Oracle, oracle_43: Oracle, oracle_44: Oracle
) -> list[tuple[Oracle, dict[str, Schema]]]:
    """Each release's classes, and the schemas that it has, by name."""
    return [
        (oracle, {schema.name: schema for schema in oracle.schemas()})
        for oracle in (oracle_39, oracle_43, oracle_44)
    ]


Releases = list[tuple[Oracle, dict[str, Schema]]]


def shared(releases: Releases, cls: type[Message]) -> Iterator[tuple[Oracle, int]]:
    """The versions that we and a release both have, with that release."""
    for oracle, schemas in releases:
        schema = schemas.get(cls.__name__)
        for version in schema.versions if schema else ():
            if version in cls.versions:
                yield oracle, version


@pytest.mark.parametrize("name", NAMES)
def test_kafka_reads_and_writes_ours(releases: Releases, name: str) -> None:
    cls = declared()[name]
    for oracle, version in shared(releases, cls):
        random = Random(f"{name} {version}")
        ours = [encode(filled(cls, version, random), version) for _ in range(COUNT)]
        for message, theirs in zip(ours, oracle.reencode(name, version, ours), strict=True):
            assert theirs == message, f"{name} version {version}: {decode(cls, message, version)}"


@pytest.mark.parametrize("name", NAMES)
def test_we_read_and_write_kafkas(releases: Releases, name: str) -> None:
    cls = declared()[name]
    for oracle, version in shared(releases, cls):
        for theirs in oracle.random(name, version, seed=version, count=COUNT):
            message = decode(cls, theirs, version)
            assert encode(message, version) == theirs, f"{name} version {version}: {message}"


@pytest.mark.parametrize("name", NAMES)
def test_kafka_has_our_versions(releases: Releases, name: str) -> None:
    """A version that no release has would be compared with nothing."""
    cls = declared()[name]
    known = {version for _, version in shared(releases, cls)}
    assert set(cls.versions) == known


def test_we_have_kafkas_versions(releases: Releases) -> None:
    """Every schema, in every version that any of the releases reads and writes."""
    missing = {
        (schema.name, version)
        for _, schemas in releases
        for schema in schemas.values()
        for version in schema.versions
        if schema.name not in declared() or version not in declared()[schema.name].versions
    }
    assert sorted(missing) == []
