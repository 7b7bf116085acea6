"""Kafka's own classes read the files that we write, and we read theirs; also broken ones."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import pytest

from ottla.kernels.faults import InvalidValue, Malformed
from ottla.storage import file_names
from ottla.storage.file_names import Kind as FileKind
from ottla.storage.file_names import (
    RemoteIndexFile,
    SegmentFile,
    SnapshotFile,
    SnapshotStage,
    Stage,
    parse_snapshot_file,
)
from ottla.storage.folder_names import (
    current_folder,
    delete_folder,
    future_folder,
    parse_folder,
    stray_folder,
)
from ottla.storage.meta_properties import format_meta_properties
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition, check_topic, collide
from ottla.wire.uuids import uuid_text
from tests.conformance.jars import UnavailableError, class_path, tool
from tests.conformance.storage_questions import ask, place, verdicts
from tests.unit.storage.kinds import ID, KINDS, META, SAMPLES, Kind

QUORUM_V0 = KINDS["quorum"].samples["quorum_v0"]
DATE = re.compile(rb"#(... ... .. ..:..:.. UTC ....)\n")
NAMES = [
    "a", "", ".", "..", "...", "x" * 249, "x" * 250, "a b", "a/b", "é", "a.b", "a_b", "A-9", "-",
]  # fmt: skip
STORAGE = "org.apache.kafka.storage.internals"
CONSTANTS = {
    (f"{STORAGE}.log.LogManager", "LOCK_FILE_NAME"): file_names.LOCK,
    (f"{STORAGE}.log.LogManager", "RECOVERY_POINT_CHECKPOINT_FILE"): file_names.RECOVERY_POINTS,
    (f"{STORAGE}.log.LogManager", "LOG_START_OFFSET_CHECKPOINT_FILE"): file_names.LOG_START_OFFSETS,
    (f"{STORAGE}.log.LogCleanerManager", "OFFSET_CHECKPOINT_FILE"): file_names.CLEANER_OFFSETS,
    ("kafka.server.ReplicaManager$", "HighWatermarkFilename"): file_names.HIGH_WATERMARKS,
    (
        "org.apache.kafka.metadata.properties.MetaPropertiesEnsemble",
        "META_PROPERTIES_NAME",
    ): file_names.META_PROPERTIES,
    (
        "org.apache.kafka.metadata.bootstrap.BootstrapDirectory",
        "BINARY_BOOTSTRAP_FILENAME",
    ): file_names.BOOTSTRAP_CHECKPOINT,
    (
        f"{STORAGE}.checkpoint.CleanShutdownFileHandler",
        "CLEAN_SHUTDOWN_FILE_NAME",
    ): file_names.CLEAN_SHUTDOWN,
    (
        f"{STORAGE}.checkpoint.PartitionMetadataFile",
        "PARTITION_METADATA_FILE_NAME",
    ): file_names.PARTITION_METADATA,
    (
        f"{STORAGE}.checkpoint.LeaderEpochCheckpointFile",
        "LEADER_EPOCH_CHECKPOINT_FILENAME",
    ): file_names.LEADER_EPOCHS,
    ("org.apache.kafka.raft.FileQuorumStateStore", "DEFAULT_FILE_NAME"): file_names.QUORUM_STATE,
    (f"{STORAGE}.log.RemoteIndexCache", "DIR_NAME"): file_names.REMOTE_INDEX_CACHE,
}
OFFSETS = (0, 5, 2**31, 2**63 - 1)


@pytest.fixture(autouse=True, scope="module")
def _kafka(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        class_path("broker-4.3.1")
        tool("java")
    except UnavailableError as reason:
        missing_peer(str(reason))


def written_ms(content: bytes) -> int:
    """When Java says that it wrote a file of properties."""
    found = DATE.search(content)
    assert found is not None
    text = found[1].decode().replace("UTC", "+0000")
    return int(datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y").timestamp()) * 1000


def ours(kind: Kind, content: bytes) -> str | None:
    """What we make of a file, in Kafka's words; None if it is refused, and never another error."""
    try:
        return kind.said(kind.parse(content))
    except Malformed:
        return None


def test_we_write_what_kafka_writes(tmp_path: Path) -> None:
    paths = [place(tmp_path, i, kind.file_name) for i, (kind, _) in enumerate(SAMPLES)]
    words = [(kind, kind.samples[name]) for kind, name in SAMPLES]
    ask(
        ("write", kind.name, path, *kind.words(value))
        for (kind, value), path in zip(words, paths, strict=True)
    )
    for (kind, value), path in zip(words, paths, strict=True):
        content = path.read_bytes()
        assert kind.parse(content) == value
        if kind is META:
            assert format_meta_properties(value, written_ms(content)) == content
        else:
            assert kind.format(value) == content


def test_kafka_reads_what_we_write(tmp_path: Path) -> None:
    for kind in KINDS.values():
        values = list(kind.samples.values())
        found = verdicts(
            tmp_path / kind.name, kind.name, [kind.format(v) for v in values], kind.file_name
        )
        assert found == [kind.said(value) for value in values]


def spoilt(content: bytes, random: Random) -> Iterator[bytes]:
    """A file cut at every byte, with every byte changed, with lines doubled, gone and swapped."""
    for position in range(len(content)):
        yield content[:position]
        others = {content[position] ^ 1 << random.randrange(8), random.randrange(256)}
        for byte in {*b" \n\r-+0:.,}\xff", *others} - {content[position]}:
            yield content[:position] + bytes([byte]) + content[position + 1 :]
        yield content[:position] + b" " + content[position:]
    lines = content.splitlines(keepends=True)
    for number in range(len(lines)):
        yield b"".join(lines[:number] + lines[number + 1 :])
        yield b"".join([*lines[:number], lines[number], *lines[number:]])
    yield b"".join(reversed(lines))
    yield content.replace(b"\n", b"\r\n")
    yield content + b"\n"
    yield content + b"x"
    yield content + b"\0"


@pytest.mark.parametrize("name", sorted(KINDS))
def test_we_read_and_refuse_what_kafka_does(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    random = Random(name)
    contents = sorted({c for v in kind.samples.values() for c in spoilt(kind.format(v), random)})
    said = verdicts(tmp_path, name, contents, kind.file_name)
    wrong = [
        (content, ours(kind, content), theirs)
        for content, theirs in zip(contents, said, strict=True)
        if ours(kind, content) != theirs
    ]
    assert not wrong, "\n".join(map(repr, wrong[:40]))


# What Kafka reads and never writes, and we refuse, or take for an epoch that is not known.
STRICTER = [
    ("offsets", "0\n1\norders 0 \u0661\u0665\n".encode()),
    ("meta", b"version=0\ndirectory.id=%b==\n" % uuid_text(ID).encode()),
    ("partition", b"version: 0\ntopic_id: %b==" % uuid_text(ID).encode()),
    ("quorum", b'{"data_version":"x",%b' % KINDS["quorum"].format(QUORUM_V0)[1:-18] + b"}"),
    ("clean", b'{"version":0,"brokerEpoch":"42"}'),
]


@pytest.mark.parametrize(("name", "content"), STRICTER)
def test_we_are_stricter(name: str, content: bytes, tmp_path: Path) -> None:
    (said,) = verdicts(tmp_path, name, [content], KINDS[name].file_name)
    assert said not in (None, "-")
    assert ours(KINDS[name], content) in (None, "-")


def test_we_are_stricter_about_folders() -> None:
    names = ["a-01", "a-+1", "a-\u0661"]
    assert [said_of_folder(name) for name in names] == [None] * 3
    assert ask(("folder", name) for name in names) == ["a 1"] * 3


def test_folder_names_are_kafkas() -> None:
    partitions = [
        TopicPartition(topic, partition)
        for topic in ("a", "a-1", "a.b-delete", "x" * 200, "x" * 249)
        for partition in (0, 12, 2**31 - 1)
    ]
    answers = ask(("folder_names", f"{t} {p}") for t, p in partitions)
    for partition, answer in zip(partitions, answers, strict=True):
        assert answer is not None
        current, *others = answer.split(" ")
        assert current_folder(partition) == current
        makers = (delete_folder, future_folder, stray_folder)
        for name, made in zip(others, makers, strict=True):
            unique = Uuid(bytes.fromhex(parse_folder(name).unique))
            assert made(partition, unique) == name


def said_of_folder(name: str) -> str | None:
    try:
        partition = parse_folder(name).partition
    except InvalidValue:
        return None
    return f"{partition.topic} {partition.partition}"


def test_folders_are_read_as_kafka_reads_them() -> None:
    unique = "0123456789abcdef0123456789abcdef"
    names = ["orders", "-0", "a-", "a-x", "a--1", "a-1-0", "a.b-0", "a-0-delete", "a-0.-delete"]
    names += [f"a-0.{unique}{end}" for end in ("", "-delete", "-future", "-stray", "-gone")]
    names += [f"a.{unique}-delete", "a.b-1.c-2.x-stray", "a-2147483648", "a-delete-0"]
    assert [said_of_folder(name) for name in names] == ask(("folder", name) for name in names)


def test_topics_are_named_as_kafka_allows() -> None:
    def is_refused(name: str) -> bool:
        try:
            check_topic(name)
        except InvalidValue:
            return True
        return False

    assert [is_refused(name) for name in NAMES] == [
        answer is None for answer in ask(("topic", name) for name in NAMES)
    ]
    pairs = [("a.b", "a_b"), ("a.b", "a-b"), ("a.b_", "a_b."), ("a", "a")]
    answers = ask(("collision", *pair) for pair in pairs)
    assert [str(collide(*pair)).lower() for pair in pairs] == answers


def test_file_names_are_kafkas() -> None:
    for offset, answer in zip(OFFSETS, ask(("file_names", o) for o in OFFSETS), strict=True):
        files = [SegmentFile(offset, kind) for kind in FileKind]
        files += [
            SegmentFile(offset, FileKind.LOG, Stage.DELETED),
            SegmentFile(offset, FileKind.INDEX, Stage.CLEANED),
            SegmentFile(offset, FileKind.TIME_INDEX, Stage.SWAP),
        ]
        assert answer == " ".join(file.name for file in files)


def test_snapshot_names_are_kafkas() -> None:
    pairs = [(offset, epoch) for offset in OFFSETS for epoch in (0, 7, 2**31 - 1)]
    answers = ask(("snapshot_name", *pair) for pair in pairs)
    assert [SnapshotFile(*pair).name for pair in pairs] == [f"{a}.checkpoint" for a in answers]


def said_of_snapshot(name: str) -> str:
    found: Any = parse_snapshot_file(name)
    if found is None:
        return "none"
    flags = (found.stage == SnapshotStage.PART, found.stage == SnapshotStage.DELETED)
    return " ".join(map(str, (found.end_offset, found.epoch, *flags))).lower()


def test_snapshots_are_found_by_name_as_kafka_finds_them() -> None:
    start = "00000000000000000005-0000000002"
    ends = [".checkpoint", ".checkpoint.part", "-77.checkpoint.part", ".checkpoint.deleted"]
    names = [start + end for end in (*ends, ".log", "", ".checkpoint.tmp")]
    assert [said_of_snapshot(name) for name in names] == ask(("snapshot", n) for n in names)


def test_fixed_names_are_kafkas() -> None:
    answers = ask(("constant", *constant) for constant in CONSTANTS)
    assert dict(zip(CONSTANTS, answers, strict=True)) == CONSTANTS


def test_cached_indexes_are_named_as_kafka_names_them() -> None:
    answers = ask(("remote_index_name", offset, uuid_text(ID)) for offset in OFFSETS)
    assert [RemoteIndexFile(o, ID, FileKind.INDEX).name for o in OFFSETS] == answers
