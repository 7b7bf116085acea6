"""Kafka opens a metadata directory that we formatted and wrote, and we open Kafka's."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

import pytest

from ottla.api.control_records import KRaftVersionRecord, QuorumRecord
from ottla.api.framed_records import write_framed
from ottla.api.metadata_records import FeatureLevelRecord, PartitionRecord, TopicRecord
from ottla.broker.quorum_files import metadata_records, read_election
from ottla.broker.quorum_log import FOLDER, open_metadata_log
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.runtime.disk import SystemDisk
from ottla.storage.handles import Handles
from ottla.storage.metadata_snapshots import SnapshotContent, write_snapshot_batches
from ottla.wire.fields import Uuid
from ottla.wire.uuids import UNASSIGNED
from tests.conformance import jars
from tests.conformance.kafka_broker import CLUSTER_ID, KafkaBroker
from tests.unit.broker.one_voter import KEY, NOW_MS, OneVoter, format_one_voter

SOURCE: Final = Path(__file__).with_name("java") / "QuorumFiles.java"
CLASS_PATH: Final = "broker-4.3.1"
VOTERS: Final = VoterSet(
    Voter(
        ReplicaKey(id_, Uuid((2 * id_ - 1).to_bytes(8) + (2 * id_).to_bytes(8))),
        (Endpoint("CONTROLLER", "localhost", 25000 + id_),),
    )
    for id_ in (1, 2)
)
FEATURES: Final = FeatureLevelRecord(name="metadata.version", feature_level=29)
kraft_versions = pytest.mark.parametrize("kraft_version", [0, 1])


@pytest.fixture(autouse=True, scope="module")
def _kafka(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        jars.class_path(CLASS_PATH)
        jars.tool("java")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))


def ask(*words: object) -> str:
    """What the Java program says."""
    command = [jars.tool("java"), "-Xmx256m", "-XX:TieredStopAtLevel=1"]
    command += ["-cp", jars.class_path(CLASS_PATH), str(SOURCE), *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("bytes_max", "count"), [(8 << 20, 1000), (8 << 20, 0), (600, 50)])
@kraft_versions
def test_a_snapshot_is_byte_for_byte_that_of_kafka(
    kraft_version: int, bytes_max: int, count: int, tmp_path: Path
) -> None:
    ask("write", tmp_path, 1234, 7, NOW_MS, kraft_version, bytes_max, count)
    theirs = (tmp_path / "00000000000000001234-0000000007.checkpoint").read_bytes()
    control: list[QuorumRecord] = []
    if kraft_version:
        control = [KRaftVersionRecord(version=0, kraft_version=1), VOTERS.to_record()]
    values = [
        write_framed(FeatureLevelRecord(name=f"feature-{number}", feature_level=number), 0)
        for number in range(count)
    ]
    content = SnapshotContent(values, 7, NOW_MS - 5, NOW_MS, control)
    ours = b"".join(write_snapshot_batches(content, bytes_max))
    if bytes_max > 600:
        assert ours == theirs
    else:
        # Where a batch ends is the writer's affair; what is in them is not.
        assert metadata_records(ours) == metadata_records(theirs)


def topic_records(name: str, number: int) -> list[bytes]:
    """A topic of one partition, on the one node."""
    id_ = Uuid(bytes([number] * 16))
    partition = PartitionRecord(
        partition_id=0,
        topic_id=id_,
        replicas=[1],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        directories=[UNASSIGNED],
    )
    return [write_framed(TopicRecord(name=name, topic_id=id_), 0), write_framed(partition, 1)]


@kraft_versions
def test_kafka_starts_on_our_directory(kraft_version: int, tmp_path: Path) -> None:
    settings: dict[str, object] = {}
    if kraft_version:
        # The one voter is in the log, and may not be in the options as well.
        settings = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "a:1"}
    broker = KafkaBroker(tmp_path, settings=settings)
    directory, disk = broker.log_dirs[0], SystemDisk()
    format_one_voter(disk, str(directory), kraft_version, CLUSTER_ID)
    node = OneVoter(disk, kraft_version, str(directory))
    records = [write_framed(FEATURES, 0), *topic_records("early", 1)]
    node.snapshot(node.append(records), records)
    node.append(topic_records("late", 2))
    folder = directory / FOLDER
    files = [*folder.glob("*.log"), *folder.glob("*.checkpoint")]
    said = broker.dump(sorted(files), "--cluster-metadata-decoder")
    assert said.count('"name":"early"') == 2
    assert said.count('"name":"late"') == 1
    assert "LeaderChange" in said
    assert "SnapshotHeader" in said
    with broker as kafka:
        kafka.start()
        assert sorted(kafka.ask_tool("topics", "--list").split()) == ["early", "late"]
        status = kafka.ask_tool("metadata-quorum", "describe", "--status")
        assert re.search(r"LeaderEpoch: +2\n", status), status
        kafka.stop()
    # And back: we go on where Kafka stopped.
    again = OneVoter(disk, kraft_version, str(directory))
    assert again.machine.epoch == 3
    assert again.machine.history.kraft_version == kraft_version
    assert again.machine.high_watermark == again.log.end_offset


def test_kafka_begins_a_cluster_on_what_we_formatted(tmp_path: Path) -> None:
    settings = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "a:1"}
    broker = KafkaBroker(tmp_path, settings=settings)
    directory, disk = str(broker.log_dirs[0]), SystemDisk()
    format_one_voter(disk, directory, 1, CLUSTER_ID)
    assert "name='metadata.version', featureLevel=29" in ask("bootstrap", directory)
    with broker as kafka:
        kafka.start()
        kafka.stop()
    # Kafka has put the voters of the formatted snapshot into the log, as we do.
    again = OneVoter(disk, 1, directory)
    assert (again.machine.epoch, again.machine.history.kraft_version) == (2, 1)
    assert [voter.key for voter in again.machine.history.voters.voters] == [KEY]
    features = [r for r, _ in metadata_records(again.log.read(0, 1 << 20)) if r == FEATURES]
    assert features == [FEATURES]


def test_we_open_the_directory_of_kafka(tmp_path: Path) -> None:
    broker = KafkaBroker(tmp_path)
    with broker as kafka:
        kafka.start()
        kafka.ask_tool("topics", "--create", "--topic", "from-kafka")
        kafka.stop()
    disk, folder = SystemDisk(), str(broker.log_dirs[0] / FOLDER)
    log, findings = open_metadata_log(Handles(disk, 8), folder, lambda: NOW_MS)
    assert not findings.cuts
    election = read_election(disk, folder)
    assert election.leader_id == 1
    assert election.epoch == log.last_epoch
    data = log.read(log.start_offset, 1 << 20)
    names = [r.name for r, _ in metadata_records(data) if isinstance(r, TopicRecord)]
    assert names == ["from-kafka"]
