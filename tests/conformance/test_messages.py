"""Every message and internal record against Kafka's own classes, byte for byte, both ways.

What we draw, Kafka reads and writes again; what Kafka draws, we read and write again. A version is
tried with every release that has it: 3.9 knows the oldest, 4.4 the newest, and the broker's jars of
4.3 the internal records.
"""

from dataclasses import dataclass
from random import Random
from typing import Final

import pytest

from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message
from tests.conformance.declared import declared, of_schema
from tests.conformance.oracle import Oracle, Schema
from tests.unit.api.filler import filled

COUNT: Final = 50
NAMES: Final = sorted(declared())

UNDECLARED: Final = {
    # A controller under ZooKeeper sent these to its brokers, and only it; Kafka 4 lacks them.
    *(f"{name}{kind}"
      for name in ("ControlledShutdown", "LeaderAndIsr", "StopReplica", "UpdateMetadata")
      for kind in ("Request", "Response")),
    # The state of a voter is a file of JSON, never bytes of a message.
    "QuorumStateData",
}  # fmt: skip
"""Schemas that we do not declare."""

UNDECLARED_VERSIONS: Final = {("RequestHeader", 0)}  # Only ControlledShutdown 0 had it.

UNPUBLISHED: Final = {"UnregisterControllerRecord"}
"""Records that came with 4.4, of which we have the clients' jar only."""


@dataclass(frozen=True)
class Peer:
    """One release's classes that read and write one schema."""

    oracle: Oracle
    schema: Schema


@pytest.fixture(scope="session")
def peers(oracle_39: Oracle, oracle_43: Oracle, oracle_44: Oracle) -> list[Peer]:
    """Each release's schemas, without those of share groups that were not finished in 3.9."""
    return [
        Peer(oracle, schema)
        for oracle in (oracle_39, oracle_43, oracle_44)
        for schema in oracle.schemas()
        if not (oracle is oracle_39 and "Share" in schema.name)
    ]


def shared(peers: list[Peer], cls: type[Message]) -> list[tuple[Peer, int]]:
    """The versions that we and a release both have, with that release."""
    return [
        (peer, version)
        for peer in peers
        if of_schema(peer.schema.name) is cls
        for version in peer.schema.versions
        if version in cls.versions
    ]


@pytest.mark.parametrize("name", NAMES)
def test_kafka_reads_and_writes_ours(peers: list[Peer], name: str) -> None:
    cls = declared()[name]
    for peer, version in shared(peers, cls):
        random = Random(f"{name} {version}")
        ours = [encode(filled(cls, version, random), version) for _ in range(COUNT)]
        theirs = peer.oracle.reencode(peer.schema.name, version, ours)
        for message, answer in zip(ours, theirs, strict=True):
            assert answer == message, f"{name} version {version}: {decode(cls, message, version)}"


@pytest.mark.parametrize("name", NAMES)
def test_we_read_and_write_kafkas(peers: list[Peer], name: str) -> None:
    cls = declared()[name]
    for peer, version in shared(peers, cls):
        for theirs in peer.oracle.random(peer.schema.name, version, seed=version, count=COUNT):
            message = decode(cls, theirs, version)
            assert encode(message, version) == theirs, f"{name} version {version}: {message}"


@pytest.mark.parametrize("name", sorted(declared().keys() - UNPUBLISHED))
def test_kafka_has_our_versions(peers: list[Peer], name: str) -> None:
    """A version that no release has would be compared with nothing."""
    cls = declared()[name]
    assert set(cls.versions) == {version for _, version in shared(peers, cls)}


def test_we_have_kafkas_versions(peers: list[Peer]) -> None:
    """Every schema, in every version that any of the releases reads and writes."""
    missing = {
        (peer.schema.name, version)
        for peer in peers
        if peer.schema.name not in UNDECLARED
        for cls in [of_schema(peer.schema.name)]
        for version in peer.schema.versions
        if cls is None or version not in cls.versions
    }
    assert missing == UNDECLARED_VERSIONS
