"""Every kind of small file with samples, and how its values are told to Kafka's classes.

The words are those that `tests/conformance/java/StorageFiles.java` is given to write a file, and
the text is what it says of a file that it has read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ottla.api.partition_files import ProducerSnapshot
from ottla.storage.checkpoints import (
    EpochEntry,
    format_epochs,
    format_offsets,
    parse_epochs,
    parse_offsets,
)
from ottla.storage.clean_shutdown import (
    CleanShutdown,
    format_clean_shutdown,
    parse_clean_shutdown,
)
from ottla.storage.meta_properties import (
    MetaProperties,
    format_meta_properties,
    parse_meta_properties,
)
from ottla.storage.partition_metadata import format_partition_metadata, parse_partition_metadata
from ottla.storage.producer_snapshot import format_producer_snapshot, parse_producer_snapshot
from ottla.storage.quorum_state import QuorumState, format_quorum_state, parse_quorum_state
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from ottla.wire.uuids import uuid_text

ProducerEntry = ProducerSnapshot.ProducerEntry

WRITTEN_MS: Final = 1_700_000_000_000
ID: Final = Uuid(bytes(range(1, 17)))
PRODUCER_FIELDS: Final = tuple(field.name for field in ProducerEntry.fields)


@dataclass(frozen=True)
class Kind:
    """A kind of file. `words` and `said` are how Kafka is told of a value, and tells of one."""

    name: str
    parse: Callable[[bytes], Any]
    format: Callable[[Any], bytes]
    words: Callable[[Any], list[str]]
    said: Callable[[Any], str]
    samples: dict[str, Any]
    file_name: str = "file"


def units(text: str) -> str:
    """A text as hex of UTF-16; a dot shows where it ends."""
    return text.encode("utf-16-be", "surrogatepass").hex() + "."


def offset_words(offsets: dict[TopicPartition, int]) -> list[str]:
    return [f"{topic} {partition} {offset}" for (topic, partition), offset in offsets.items()]


def epoch_words(entries: list[EpochEntry]) -> list[str]:
    return [f"{epoch} {start_offset}" for epoch, start_offset in entries]


def meta_fields(meta: MetaProperties) -> tuple[str, str]:
    return (
        "-" if meta.node_id is None else str(meta.node_id),
        "-" if meta.directory_id is None else uuid_text(meta.directory_id),
    )


def meta_said(meta: MetaProperties) -> str:
    cluster_id = "-" if meta.cluster_id is None else units(meta.cluster_id)
    return " ".join([str(meta.version), cluster_id, *meta_fields(meta)])


def clean_said(clean: CleanShutdown) -> str:
    return "-" if clean.broker_epoch is None else str(clean.broker_epoch)


def clean_bytes(clean: CleanShutdown) -> bytes:
    return b"" if clean.broker_epoch is None else format_clean_shutdown(clean.broker_epoch)


def quorum_words(state: QuorumState) -> list[str]:
    voters = state.current_voters
    return [
        *map(str, (state.leader_id, state.leader_epoch, state.voted_id)),
        uuid_text(state.voted_directory_id),
        str(state.applied_offset),
        "-" if voters is None else ",".join(map(str, voters)),
    ]


def producer_words(entries: list[ProducerEntry]) -> list[str]:
    return [" ".join(str(getattr(e, name)) for name in PRODUCER_FIELDS) for e in entries]


def entry_of(values: tuple[int, ...]) -> ProducerEntry:
    return ProducerEntry(**dict(zip(PRODUCER_FIELDS, values, strict=True)))


OFFSETS: Final = Kind(
    "offsets",
    parse_offsets,
    format_offsets,
    offset_words,
    lambda offsets: ",".join(sorted(offset_words(offsets))),
    {
        "offsets": {
            TopicPartition("orders", 0): 15,
            TopicPartition("orders", 10): 0,
            TopicPartition("__consumer_offsets", 49): 2**63 - 1,
        },
        "offsets_none": {},
    },
)
EPOCHS: Final = Kind(
    "epochs",
    parse_epochs,
    format_epochs,
    epoch_words,
    lambda entries: ",".join(epoch_words(entries)),
    {
        "epochs": [EpochEntry(0, 0), EpochEntry(3, 1200), EpochEntry(2**31 - 1, 2**63 - 1)],
        "epochs_none": [],
    },
)
META: Final = Kind(
    "meta",
    parse_meta_properties,
    lambda meta: format_meta_properties(meta, WRITTEN_MS),
    lambda meta: [str(meta.version), meta.cluster_id or "-", *meta_fields(meta)],
    meta_said,
    {
        "meta_v1": MetaProperties(cluster_id="MkU3OEVBNTcwNTJENDM2Qg", node_id=7, directory_id=ID),
        "meta_v1_escaped": MetaProperties(cluster_id=" a=b: c#\\", node_id=2**31 - 1),
        "meta_v0": MetaProperties(
            version=0, cluster_id="MkU3OEVBNTcwNTJENDM2Qg", node_id=0, directory_id=ID
        ),
        "meta_v0_fresh": MetaProperties(version=0),
    },
)
PARTITION: Final = Kind(
    "partition",
    parse_partition_metadata,
    format_partition_metadata,
    lambda topic_id: [uuid_text(topic_id)],
    uuid_text,
    {"partition": ID},
)
CLEAN: Final = Kind(
    "clean",
    parse_clean_shutdown,
    clean_bytes,
    lambda clean: [clean_said(clean)],
    clean_said,
    {"clean": CleanShutdown(42), "clean_unknown_epoch": CleanShutdown(-1)},
    file_name=".kafka_cleanshutdown",
)
QUORUM: Final = Kind(
    "quorum",
    parse_quorum_state,
    format_quorum_state,
    lambda state: [str(state.version), state.cluster_id, *quorum_words(state)],
    lambda state: " ".join([units(state.cluster_id), *quorum_words(state)]),
    {
        "quorum_v0": QuorumState(
            version=0,
            cluster_id="MkU3OEVBNTcwNTJENDM2Qg",
            leader_id=1,
            leader_epoch=5,
            voted_id=-1,
            applied_offset=12,
            current_voters=(1, 2, 3),
        ),
        "quorum_v0_null": QuorumState(
            version=0,
            cluster_id='é"\\/😀',
            leader_id=-1,
            leader_epoch=0,
            voted_id=2**31 - 1,
            applied_offset=2**63 - 1,
            current_voters=None,
        ),
        "quorum_v0_no_voters": QuorumState(version=0, leader_id=-1, leader_epoch=0, voted_id=-1),
        "quorum_v1": QuorumState(leader_id=-1, leader_epoch=9, voted_id=2, voted_directory_id=ID),
    },
)
PRODUCERS: Final = Kind(
    "producers",
    parse_producer_snapshot,
    format_producer_snapshot,
    producer_words,
    lambda entries: ",".join(producer_words(entries)),
    {
        "producers": [
            entry_of(values)
            for values in (
                (1, 0, 5, 9, 3, WRITTEN_MS, -1, -1),
                (2000, 7, -1, -1, 0, -1, 4, 88),
                (2**63 - 1, 2**15 - 1, 2**31 - 1, 2**63 - 1, 0, 0, 2**31 - 1, 0),
            )
        ],
        "producers_none": [],
    },
)
KINDS: Final = {
    kind.name: kind for kind in (OFFSETS, EPOCHS, META, PARTITION, CLEAN, QUORUM, PRODUCERS)
}
SAMPLES: Final = [(kind, name) for kind in KINDS.values() for name in kind.samples]
