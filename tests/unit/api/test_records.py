"""The frames around records of the internal logs, and what a reader makes of wrong ones."""

from random import Random

import pytest

from ottla.api.consumer_protocol import ConsumerProtocolSubscription
from ottla.api.control_records import (
    QUORUM_RECORDS,
    ControlType,
    LeaderChangeMessage,
    read_control_key,
    read_end_of_transaction,
    read_quorum_record,
    write_control_key,
    write_end_of_transaction,
    write_quorum_record,
)
from ottla.api.coordinator_records import (
    CoordinatorRecord,
    Pairs,
    UnknownRecord,
    read_record,
    write_record,
)
from ottla.api.framed_records import Classes, read_framed, write_framed
from ottla.api.group_records import GROUP_RECORDS, OffsetCommitKey, OffsetCommitValue
from ottla.api.metadata_records import METADATA_RECORDS, RemoveTopicRecord, TopicRecord
from ottla.api.principal import DefaultPrincipal
from ottla.api.remote_log_records import REMOTE_LOG_RECORDS
from ottla.api.share_records import SHARE_RECORDS
from ottla.api.transaction_records import TRANSACTION_RECORDS
from ottla.api.version_prefixed import read_prefixed, write_prefixed
from ottla.kernels.faults import InvalidValue, Malformed, Truncated
from ottla.wire.fields import Uuid
from tests.unit.api.filler import filled

TOPIC = TopicRecord(name="t", topic_id=Uuid(bytes(range(16))))
OFFSET_KEY = OffsetCommitKey(group="g", topic="t", partition=1)
OFFSET_VALUE = OffsetCommitValue(offset=5, metadata="", commit_timestamp=7, leader_epoch=2)
SUBSCRIPTION = ConsumerProtocolSubscription(topics=["t"], rack_id="r")


@pytest.mark.parametrize("pairs", [GROUP_RECORDS, TRANSACTION_RECORDS, SHARE_RECORDS])
def test_coordinator_records_come_back(pairs: Pairs) -> None:
    random = Random(1)
    for key_type, (key_class, value_class) in pairs.items():
        assert key_class.api_key == value_class.api_key == key_type
        for version in value_class.versions:
            key = filled(key_class, 0, random)
            for value in (filled(value_class, version, random), None):
                data = write_record(key, value, version)
                assert read_record(pairs, *data) == CoordinatorRecord(key, value)


def test_all_types_of_group_records_are_known() -> None:
    assert sorted(GROUP_RECORDS) == [*range(9), *range(10, 18), *range(19, 24)]


def test_a_coordinator_record_has_its_type_and_version_in_front() -> None:
    key, value = write_record(OFFSET_KEY, OFFSET_VALUE, 3)
    assert key == bytes.fromhex("000100016700017400000001")
    assert value == bytes.fromhex("000300000000000000050000000200000000000000000007")


def test_a_key_type_of_a_newer_release_is_skipped() -> None:
    assert read_record(GROUP_RECORDS, b"\x00\x63whatever", b"") == UnknownRecord(99)
    assert read_record(GROUP_RECORDS, b"\xff\xff", None) == UnknownRecord(-1)


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        (None, b"", InvalidValue),
        (b"", None, Truncated),
        (b"\x00", None, Truncated),
        (b"\x00\x02", None, Truncated),
        (b"\x00\x02\x00\x01gg", None, InvalidValue),
        (b"\x00\x02\x00\x01g", b"\x00", Truncated),
        (b"\x00\x02\x00\x01g", b"\x00\x05", InvalidValue),
        (b"\x00\x02\x00\x01g", b"\xff\xff", InvalidValue),
        (b"\x00\x02\x00\x01g", b"\x00\x03\x00", Truncated),
    ],
)
def test_a_bad_coordinator_record_is_malformed(
    key: bytes | None, value: bytes | None, fault: type[Malformed]
) -> None:
    with pytest.raises(fault):
        read_record(GROUP_RECORDS, key, value)


@pytest.mark.parametrize("classes", [METADATA_RECORDS, REMOTE_LOG_RECORDS])
def test_framed_records_come_back(classes: Classes) -> None:
    random = Random(2)
    for id_, cls in classes.items():
        assert cls.api_key == id_
        for version in cls.versions:
            record = filled(cls, version, random)
            assert read_framed(classes, write_framed(record, version)) == (record, version)


def test_a_frame_is_three_small_numbers() -> None:
    assert write_framed(TOPIC, 0) == b"\x01\x02\x00" + b"\x02t" + bytes(range(16)) + b"\x00"


def test_a_long_number_in_a_frame_is_read() -> None:
    value = b"\x81\x00\x89\x80\x00\x00" + bytes(17)
    assert read_framed(METADATA_RECORDS, value)[0] == RemoveTopicRecord(topic_id=Uuid(bytes(16)))


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (None, InvalidValue),
        (b"", Truncated),
        (b"\x00\x02\x00", InvalidValue),
        (b"\x02\x02\x00", InvalidValue),
        (b"\x01\x06\x00", InvalidValue),
        (b"\x01\x02\x01", InvalidValue),
        (b"\x01\x02\x80", Truncated),
        (b"\x01\x80\x80\x80\x80\x80\x00", InvalidValue),
        (b"\x01\xff\xff\xff\x7f\x00", InvalidValue),
        (write_framed(TOPIC, 0)[:-1], Truncated),
        (write_framed(TOPIC, 0) + b"\x00", InvalidValue),
    ],
)
def test_a_bad_frame_is_malformed(value: bytes | None, fault: type[Malformed]) -> None:
    with pytest.raises(fault):
        read_framed(METADATA_RECORDS, value)


def test_the_end_of_a_transaction_is_a_key_and_an_epoch() -> None:
    assert write_control_key(ControlType.COMMIT) == b"\x00\x00\x00\x01"
    assert read_control_key(b"\x00\x00\x00\x01") == ControlType.COMMIT
    assert write_end_of_transaction(9) == b"\x00\x00\x00\x00\x00\x09"
    assert read_end_of_transaction(write_end_of_transaction(9)) == 9


def test_newer_control_records_are_read_as_far_as_they_are_known() -> None:
    assert read_control_key(b"\x00\x07\x00\x63more") == 99
    assert read_end_of_transaction(b"\x00\x01\x00\x00\x00\x09more") == 9


def test_a_quorum_record_says_its_version_itself() -> None:
    voter = LeaderChangeMessage.Voter(voter_id=1, voter_directory_id=Uuid(bytes(range(16))))
    change = LeaderChangeMessage(version=1, leader_id=1, voters=[voter], granting_voters=[])
    data = write_quorum_record(change)
    assert data[:2] == b"\x00\x01"
    assert read_quorum_record(ControlType.LEADER_CHANGE, data) == change


@pytest.mark.parametrize("type_", QUORUM_RECORDS)
def test_every_quorum_record_comes_back(type_: ControlType) -> None:
    random, cls = Random(3), QUORUM_RECORDS[type_]
    for version in cls.versions:
        record = filled(cls, version, random)
        record.version = version
        assert read_quorum_record(type_, write_quorum_record(record)) == record


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x00\x02\x00\x00", b"\xff\xff"])
def test_a_bad_quorum_record_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_quorum_record(ControlType.LEADER_CHANGE, data)


@pytest.mark.parametrize("data", [b"", b"\x00\x00\x00", b"\xff\xff\x00\x01"])
def test_a_bad_control_key_is_malformed(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_control_key(data)


def test_a_principal_has_its_version_in_front() -> None:
    principal = DefaultPrincipal(type="User", name="a", token_authenticated=True)
    data = write_prefixed(principal, 0)
    assert data == b"\x00\x00\x05User\x02a\x01\x00"
    assert read_prefixed(DefaultPrincipal, data) == (principal, 0)


def test_a_subscription_has_its_version_in_front() -> None:
    data = write_prefixed(SUBSCRIPTION, 3)
    assert data == bytes.fromhex("000300000001000174ffffffff00000000ffffffff000172")


def test_a_newer_subscription_is_read_as_the_newest_known() -> None:
    data = write_prefixed(SUBSCRIPTION, 3)
    newer = b"\x00\x09" + data[2:] + b"more"
    found = read_prefixed(ConsumerProtocolSubscription, newer, newer_as_newest=True)
    assert found == (SUBSCRIPTION, 9)
    with pytest.raises(InvalidValue):
        read_prefixed(ConsumerProtocolSubscription, newer)
    with pytest.raises(InvalidValue):
        read_prefixed(ConsumerProtocolSubscription, data + b"more", newer_as_newest=True)
