"""Small files and names come back, whatever is in them, and no content makes a reader fail."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.kernels.faults import InvalidValue, Malformed
from ottla.storage.checkpoints import (
    EpochEntry,
    format_epochs,
    format_offsets,
    parse_epochs,
    parse_offsets,
)
from ottla.storage.folder_names import (
    Purpose,
    current_folder,
    delete_folder,
    future_folder,
    parse_folder,
    stray_folder,
)
from ottla.storage.meta_properties import (
    MetaProperties,
    format_meta_properties,
    parse_meta_properties,
)
from ottla.storage.producer_snapshot import format_producer_snapshot, parse_producer_snapshot
from ottla.storage.quorum_state import QuorumState, format_quorum_state, parse_quorum_state
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition, check_topic
from tests.unit.storage.kinds import KINDS, entry_of

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
IDS = st.binary(min_size=16, max_size=16).map(Uuid)
TOPICS = st.from_regex(r"[a-zA-Z0-9._-]{1,249}", fullmatch=True).filter(lambda t: t.strip("."))
PARTITIONS = st.builds(TopicPartition, TOPICS, st.integers(0, 2**31 - 1))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ENTRIES = st.tuples(INT64, INT16, INT32, INT64, INT32, INT64, INT32, INT64).map(entry_of)
VOTES = {"leader_id": INT32, "leader_epoch": INT32, "voted_id": INT32}
STATES = st.one_of(
    st.builds(QuorumState, **VOTES, voted_directory_id=IDS),
    st.builds(
        QuorumState,
        **VOTES,
        version=st.just(0),
        cluster_id=TEXTS,
        applied_offset=INT64,
        current_voters=st.none() | st.lists(INT32).map(tuple),
    ),
)
METAS = st.one_of(
    st.builds(MetaProperties, cluster_id=TEXTS, node_id=INT32, directory_id=st.none() | IDS),
    st.builds(
        MetaProperties,
        version=st.just(0),
        cluster_id=st.none() | TEXTS,
        node_id=st.none() | INT32,
        directory_id=st.none() | IDS,
    ),
)


@given(st.dictionaries(PARTITIONS, INT64))
def test_offsets_come_back(offsets: dict[TopicPartition, int]) -> None:
    assert parse_offsets(format_offsets(offsets)) == offsets


@given(st.lists(st.builds(EpochEntry, INT32, INT64)))
def test_epochs_come_back(entries: list[EpochEntry]) -> None:
    assert parse_epochs(format_epochs(entries)) == entries


@given(METAS, st.integers(0, 2**42))
def test_meta_properties_come_back(meta: MetaProperties, written_ms: int) -> None:
    assert parse_meta_properties(format_meta_properties(meta, written_ms)) == meta


@given(STATES)
def test_a_quorum_state_comes_back(state: QuorumState) -> None:
    assert parse_quorum_state(format_quorum_state(state)) == state


@given(st.lists(ENTRIES))
def test_a_producer_snapshot_comes_back(entries: list[object]) -> None:
    assert parse_producer_snapshot(format_producer_snapshot(entries)) == entries


@pytest.mark.parametrize("name", sorted(KINDS))
@given(content=st.binary() | st.text(alphabet='0123 -+:,"{}[]\n\r\\uaé').map(str.encode))
def test_any_content_is_read_or_refused(name: str, content: bytes) -> None:
    try:
        value = KINDS[name].parse(content)
    except Malformed:
        return
    assert value == KINDS[name].parse(content)


@given(PARTITIONS, IDS)
def test_folders_are_found_again(partition: TopicPartition, unique: Uuid) -> None:
    assert parse_folder(current_folder(partition)).partition == partition
    future = parse_folder(future_folder(partition, unique))
    assert (future.partition, future.unique) == (partition, unique.hex())
    for made, purpose in ((delete_folder, Purpose.DELETE), (stray_folder, Purpose.STRAY)):
        name = made(partition, unique)
        found = parse_folder(name)
        assert len(name) <= 255
        assert (found.purpose, found.unique) == (purpose, unique.hex())
        assert found.partition.partition == partition.partition
        assert partition.topic.startswith(found.partition.topic)


@given(st.text())
def test_any_folder_is_read_or_refused(name: str) -> None:
    try:
        partition = parse_folder(name).partition
        check_topic(partition.topic)
    except InvalidValue:
        return
    assert name.startswith(f"{current_folder(partition)}")
