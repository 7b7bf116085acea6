"""Files that are cut or changed in any one place: the right content, or a typed error.

Where there is a checksum there is no third way. A text has none: there a change may give another
content, but no other error, and no more work than the file is long.
"""

import sys

import pytest

from ottla.kernels.faults import Malformed, Unencodable
from ottla.storage.checkpoints import EpochEntry, format_epochs, format_offsets, parse_offsets
from ottla.storage.clean_shutdown import CleanShutdown, format_clean_shutdown, parse_clean_shutdown
from ottla.storage.meta_properties import MetaProperties, format_meta_properties
from ottla.storage.partition_metadata import format_partition_metadata
from ottla.storage.producer_snapshot import format_producer_snapshot, parse_producer_snapshot
from ottla.storage.quorum_state import QuorumState, format_quorum_state, parse_quorum_state
from ottla.wire.fields import NO_ID
from ottla.wire.topics import TopicPartition
from tests.unit.storage.kinds import EPOCHS, ID, KINDS, OFFSETS, PRODUCERS, SAMPLES, Kind, entry_of

DEEP = b"[" * 100_000
VOTE = {"leader_id": 1, "leader_epoch": 5, "voted_id": 2}


def contents_of(kind: Kind) -> list[bytes]:
    return [kind.format(value) for value in kind.samples.values()]


def faults_of(kind: Kind, contents: list[bytes]) -> int:
    """How many of the contents are refused; any other error goes through."""
    faults = 0
    for content in contents:
        try:
            kind.parse(content)
        except Malformed:
            faults += 1
    return faults


@pytest.mark.parametrize(("kind", "name"), SAMPLES)
def test_what_is_written_is_read(kind: Kind, name: str) -> None:
    assert kind.parse(kind.format(kind.samples[name])) == kind.samples[name]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_file_cut_anywhere(name: str) -> None:
    for whole in contents_of(KINDS[name]):
        cut = [whole[:end] for end in range(len(whole))]
        faults = faults_of(KINDS[name], cut)
        if name in ("partition", "quorum", "producers"):
            assert faults == len(cut)


@pytest.mark.parametrize("kind", [OFFSETS, EPOCHS])
def test_a_checkpoint_cut_anywhere_says_nothing_or_all_but_the_last_digits(kind: Kind) -> None:
    whole = contents_of(kind)[0]
    value = list(kind.parse(whole))
    for end in range(len(whole)):
        try:
            found = list(kind.parse(whole[:end]))
        except Malformed:
            continue
        is_in_last_number = end > whole.rindex(b" ") and found[:-1] == value[:-1]
        assert is_in_last_number or (end <= 2 and found == [])


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_file_with_any_byte_changed(name: str) -> None:
    for whole in contents_of(KINDS[name]):
        changed = [
            whole[:at] + bytes([byte]) + whole[at + 1 :]
            for at in range(len(whole))
            for byte in range(256)
            if byte != whole[at]
        ]
        faults = faults_of(KINDS[name], changed)
        if name == "producers":
            assert faults == len(changed)


def test_a_checksum_lets_no_cut_and_no_change_through() -> None:
    whole = contents_of(PRODUCERS)[0]
    cut = [whole[:end] for end in range(len(whole))]
    longer = [whole + bytes(count) for count in (1, 46)]
    swapped = [whole[:10] + whole[56:102] + whole[10:56] + whole[102:]]
    assert faults_of(PRODUCERS, cut + longer + swapped) == len(cut) + 3


def test_a_count_beyond_the_bytes_costs_nothing() -> None:
    for count in (2**31 - 1, 10**18):
        with pytest.raises(Malformed):
            parse_offsets(b"0\n%d\norders 0 15\n" % count)


def test_a_large_snapshot_is_read() -> None:
    entries = [entry_of((i, 0, i, i, 0, i, -1, -1)) for i in range(50_000)]
    assert parse_producer_snapshot(format_producer_snapshot(entries)) == entries


@pytest.mark.parametrize(
    "content",
    [DEEP, b'{"a":' + DEEP, b'{"data_version":' + b"9" * 10_000 + b"}", b"\xef\xbb\xbf{}"],
)
def test_json_that_cannot_be_held_is_refused(content: bytes) -> None:
    with pytest.raises(Malformed):
        parse_quorum_state(content)
    assert parse_clean_shutdown(content) == CleanShutdown(None)


def test_a_number_with_more_digits_than_python_takes_is_refused() -> None:
    digits = b"9" * (sys.get_int_max_str_digits() + 1)
    with pytest.raises(Malformed, match="is not a number"):
        parse_offsets(digits)


@pytest.mark.parametrize("topic", ["", "a b", "a\n", "a\t0"])
def test_a_topic_that_would_break_a_line_is_not_written(topic: str) -> None:
    with pytest.raises(Unencodable):
        format_offsets({TopicPartition(topic, 0): 0})


def test_what_a_file_cannot_carry_is_not_written() -> None:
    with pytest.raises(Unencodable):
        format_offsets({TopicPartition("t", 2**31): 0})
    with pytest.raises(Unencodable):
        format_epochs([EpochEntry(0, 2**63)])
    with pytest.raises(Unencodable):
        format_clean_shutdown(2**63)
    with pytest.raises(Unencodable):
        format_partition_metadata(NO_ID)
    with pytest.raises(Unencodable):
        format_meta_properties(MetaProperties(cluster_id="c"), 0)
    with pytest.raises(Unencodable):
        format_producer_snapshot([entry_of((2**63, 0, 0, 0, 0, 0, 0, 0))])


@pytest.mark.parametrize(
    "state",
    [
        QuorumState(**VOTE, version=0, voted_directory_id=ID),
        QuorumState(**VOTE, cluster_id="c"),
        QuorumState(**VOTE, applied_offset=1),
        QuorumState(**VOTE, current_voters=(1,)),
        QuorumState(**VOTE, current_voters=None),
    ],
)
def test_a_quorum_state_is_not_written_in_a_version_that_lacks_a_field(state: QuorumState) -> None:
    with pytest.raises(Unencodable, match="has no"):
        format_quorum_state(state)


def test_text_beyond_latin_comes_back() -> None:
    """Kafka writes UTF-8 here and reads Latin-1; ours is read by both."""
    meta = MetaProperties(cluster_id="é😀\ud800", node_id=1)
    assert KINDS["meta"].parse(KINDS["meta"].format(meta)) == meta
