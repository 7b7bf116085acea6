"""The image against Kafka 4.3.1's own, through random histories of the metadata log."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from ottla.api import metadata_records as told
from ottla.api.framed_records import read_framed, write_framed
from ottla.core.metadata.changes import LocalChanges, local_changes
from ottla.core.metadata.image import Image, snapshot
from ottla.core.metadata.levels import LEVELS, record_version
from ottla.core.metadata.partition import PartitionId
from ottla.wire.fields import Message
from tests.conformance import jars
from tests.conformance.drawn_metadata import BROKERS, Drawn

SOURCE = Path(__file__).with_name("java") / "MetadataOracle.java"
RECORDS_OF_A_STEP = 15
Ask = Callable[[str], str]

SECTIONS: dict[type[Message], int] = {
    told.FeatureLevelRecord: 0,
    told.RegisterBrokerRecord: 1,
    told.RegisterControllerRecord: 2,
    told.TopicRecord: 3,
    told.PartitionRecord: 3,
    told.ConfigRecord: 4,
    told.ClientQuotaRecord: 5,
    told.ProducerIdsRecord: 6,
    told.AccessControlEntryRecord: 7,
    told.UserScramCredentialRecord: 8,
    told.DelegationTokenRecord: 9,
}
"""Where the records of a snapshot stand; within a section Kafka's order is that of hash tables."""


@pytest.fixture(scope="module")
def ask(missing_peer: Callable[[str], NoReturn]) -> Iterator[Ask]:
    """Have Kafka's own image carry out a command."""
    try:
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
        command = [jars.tool("java"), *options, "-cp", jars.class_path("broker-4.3.1"), str(SOURCE)]
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_java, from_java = process.stdin, process.stdout

        def asked(line: str) -> str:
            to_java.write(line + "\n")
            answer = from_java.readline()
            assert answer, f"the oracle ended at {line[:200]}"
            return answer.rstrip("\n")

        yield asked


def framed(record: Message, level: int) -> bytes:
    """A record as it stands in the log; of what is a table to Kafka, in the order of names."""
    if isinstance(record, told.RegisterBrokerRecord | told.RegisterControllerRecord):
        record.end_points.sort(key=lambda one: one.name)
        record.features.sort(key=lambda one: one.name)
    if isinstance(record, told.ClientQuotaRecord):
        record.entity.sort(key=lambda one: one.entity_type)
    return write_framed(record, record_version(record, level))


def read(words: list[str], level: int) -> list[tuple[int, bytes]]:
    """Kafka's records with their sections, as their bytes once tables are in order."""
    found: list[tuple[int, bytes]] = []
    for word in words:
        record, version = read_framed(told.METADATA_RECORDS, bytes.fromhex(word))
        if not isinstance(record, told.BrokerRegistrationChangeRecord):
            assert version == record_version(record, level), record
        found.append((SECTIONS[type(record)], framed(record, level)))
    return found


def local(image: Image, names: dict[bytes, str], changes: LocalChanges) -> str:
    """What changed for a broker, as the oracle says it."""

    def shown(places: list[PartitionId]) -> str:
        return "".join(sorted(f" {names[place.topic_id]}-{place.partition}" for place in places))

    return (
        f"deleted{shown(changes.deleted)} elected{shown(changes.elected)}"
        f" leading{shown(changes.leading)} following{shown(changes.following)}"
    )


@pytest.mark.parametrize("seed", range(60))
def test_images_are_kafkas(ask: Ask, seed: int) -> None:
    drawn = Drawn(seed)
    names: dict[bytes, str] = {}
    ask("new")
    for step in range(12):
        image = drawn.image
        records = [drawn.next() for _ in range(RECORDS_OF_A_STEP)]
        words = [framed(record, image.features.level).hex() for record in records]
        assert ask("replay " + " ".join(words)) == "ok"
        names |= {topic.id: topic.name for topic in image.topics.by_id.values()}
        changes = image.take_changes()
        for broker in BROKERS:
            found = local(image, names, local_changes(broker, changes, image.topics))
            assert found == ask(f"local {broker}")
        ask("apply")
        levels = [*LEVELS]
        for level in (image.features.level, levels[(seed + step) % len(levels)]):
            expected = ask(f"write {level}").split()
            ours, lost = snapshot(image, level)
            pairs = [(SECTIONS[type(record)], framed(record, level)) for record in ours]
            theirs = read(expected[1:], level)
            assert [section for section, _ in theirs] == [section for section, _ in pairs]
            assert sorted(theirs) == sorted(pairs)
            assert bool(lost) == (expected[0] != "0")
