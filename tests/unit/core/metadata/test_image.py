"""The image: what it refuses, transactions, copies, what changed, features, when to snapshot."""

import pytest

from ottla.api import metadata_records as told
from ottla.api.list_groups import ListGroupsRequest
from ottla.core.metadata.configs import Resource, ResourceType
from ottla.core.metadata.difference import difference
from ottla.core.metadata.features import SUPPORTED, Range, default_level, with_kraft
from ottla.core.metadata.image import Image, snapshot
from ottla.core.metadata.levels import LEVEL_MAX, METADATA_VERSION, same_records
from ottla.core.metadata.partition import PartitionId
from ottla.core.metadata.snapshots import SnapshotRule, bootstrap_records
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Message, Uuid

T, U, D = (Uuid(bytes([number]) * 16) for number in (7, 8, 9))


def replayed(*records: Message) -> Image:
    image = Image()
    for record in (*bootstrap_records(), *records):
        image.replay(record)
    return image


def partition(number: int = 0, **other: object) -> told.PartitionRecord:
    fields = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "directories": [D, U]} | other
    return told.PartitionRecord(
        **{
            "partition_id": number,
            "topic_id": T,
            "removing_replicas": [],
            "adding_replicas": [],
            "leader_epoch": 0,
            "partition_epoch": 0,
            **fields,
        }
    )


def change(**fields: object) -> told.PartitionChangeRecord:
    return told.PartitionChangeRecord(**{"partition_id": 0, "topic_id": T, **fields})


def broker(epoch: int = 5, **other: object) -> told.RegisterBrokerRecord:
    fields = {"broker_id": 1, "incarnation_id": U, "end_points": [], "features": [], "rack": None}
    return told.RegisterBrokerRecord(**{**fields, "broker_epoch": epoch, "log_dirs": [D], **other})


TOPIC = told.TopicRecord(name="a.b", topic_id=T)

IMPOSSIBLE: dict[str, Message] = {
    "a topic of the same name": told.TopicRecord(name="a.b", topic_id=U),
    "a topic of the same id": told.TopicRecord(name="c", topic_id=T),
    "the end of an unknown topic": told.RemoveTopicRecord(topic_id=U),
    "a partition of an unknown topic": partition(1, topic_id=U),
    "a partition that is there": partition(0),
    "a partition below 0": partition(-1),
    "a replica twice": partition(1, replicas=[1, 1]),
    "a replica below 0": partition(1, replicas=[-1, 1], isr=[1]),
    "too few directories": partition(1, directories=[D]),
    "in sync, but no replica": partition(1, isr=[3]),
    "in sync twice": partition(1, isr=[1, 1]),
    "a leader that is no replica": partition(1, leader=3),
    "an unknown recovery state": partition(1, leader_recovery_state=2),
    "a change of an unknown partition": change(partition_id=1, leader=2),
    "a change of an unknown topic": change(topic_id=U, leader=2),
    "a change to a leader that is no replica": change(leader=3),
    "a change to replicas without those in sync": change(replicas=[1, 3], directories=[D, U]),
    "a change to more directories": change(directories=[D, U, T]),
    "a change of an unknown broker": told.BrokerRegistrationChangeRecord(
        broker_id=2, broker_epoch=5, fenced=1
    ),
    "a change of a broker's other epoch": told.BrokerRegistrationChangeRecord(
        broker_id=1, broker_epoch=6, fenced=1
    ),
    "a change that is none": told.BrokerRegistrationChangeRecord(
        broker_id=1, broker_epoch=5, fenced=2
    ),
    "a fence of an unknown broker": told.FenceBrokerRecord(id=2, epoch=5),
    "the end of an unknown broker": told.UnregisterBrokerRecord(broker_id=2, broker_epoch=5),
    "the end of a broker's other epoch": told.UnregisterBrokerRecord(broker_id=1, broker_epoch=4),
    "a broker back in time": broker(4),
    "the end of an unknown controller": told.UnregisterControllerRecord(controller_id=1),
    "producer ids handed out": told.ProducerIdsRecord(broker_id=1, next_producer_id=1000),
    "an unknown metadata.version": told.FeatureLevelRecord(name=METADATA_VERSION, feature_level=6),
    "a level below 0": told.FeatureLevelRecord(name="group.version", feature_level=-1),
    "the end of an unknown rule": told.RemoveAccessControlEntryRecord(id=U),
    "the end of an unknown credential": told.RemoveUserScramCredentialRecord(name="u", mechanism=1),
    "an unknown topic to clear": told.ClearElrRecord(topic_name="c"),
    "the end of no transaction": told.EndTransactionRecord(),
    "the abort of no transaction": told.AbortTransactionRecord(),
}


@pytest.mark.parametrize("record", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_an_impossible_record_is_refused_and_changes_nothing(record: Message) -> None:
    ids = told.ProducerIdsRecord(broker_id=1, next_producer_id=1000)
    image = replayed(TOPIC, partition(), broker(), ids)
    before, _ = snapshot(image)
    image.take_changes()
    with pytest.raises(InvalidValue):
        image.replay(record)
    assert snapshot(image)[0] == before
    untouched = image.take_changes()
    assert not untouched.partitions
    assert not untouched.brokers
    assert not untouched.features


def test_no_record_of_another_log_is_replayed() -> None:
    with pytest.raises(InvalidValue, match="no record of the metadata log"):
        Image().replay(ListGroupsRequest())


def test_a_transaction_counts_once_it_ended() -> None:
    image = replayed(told.BeginTransactionRecord(name="x"), TOPIC, partition())
    assert image.is_in_transaction
    assert not image.topics.by_name
    with pytest.raises(InvalidValue):
        image.replay(told.BeginTransactionRecord())
    copied = image.copy()
    image.replay(told.EndTransactionRecord())
    assert image.topics.by_name["a.b"].partitions[0].leader == 1
    copied.replay(told.AbortTransactionRecord())
    assert not copied.topics.by_name
    assert not copied.is_in_transaction


def test_a_change_raises_the_epochs_it_should() -> None:
    image = replayed(TOPIC, partition())
    image.replay(change(isr=[1]))
    image.replay(change(leader=1))
    found = image.topics.partition(T, 0)
    assert found is not None
    assert (found.isr, found.leader_epoch, found.partition_epoch) == ((1,), 1, 2)


def test_a_copy_changes_by_itself() -> None:
    image = replayed(TOPIC, partition(), broker())
    before, _ = snapshot(image)
    copied = image.copy()
    copied.replay(change(isr=[2], leader=2))
    copied.replay(told.ConfigRecord(resource_type=2, resource_name="a.b", name="x", value="1"))
    copied.replay(told.UnregisterBrokerRecord(broker_id=1, broker_epoch=5))
    assert snapshot(image)[0] == before
    image.replay(told.RemoveTopicRecord(topic_id=T))
    assert "a.b" in copied.topics.by_name


def test_what_is_set_goes_with_its_topic_and_nothing_else() -> None:
    image = replayed(TOPIC)
    for kind, name in ((2, "a.b"), (32, "a.b"), (2, "other")):
        image.replay(told.ConfigRecord(resource_type=kind, resource_name=name, name="x", value="1"))
    image.take_changes()
    image.replay(told.RemoveTopicRecord(topic_id=T))
    assert image.configs.of(ResourceType.TOPIC, "a.b") == {}
    assert image.configs.of(32, "a.b") == image.configs.of(2, "other") == {"x": "1"}
    assert image.take_changes().configs == {Resource(2, "a.b"): {"x": "1"}}


def test_names_that_look_alike_are_known_until_their_topic_goes() -> None:
    image = replayed(TOPIC)
    assert image.topics.alike("a_b") == image.topics.alike("a.b") == "a.b"
    assert image.topics.alike("ab") is None
    assert image.copy().topics.alike("a_b") == "a.b"
    image.replay(told.RemoveTopicRecord(topic_id=T))
    assert image.topics.alike("a_b") is None


def test_changes_say_what_was_before() -> None:
    image = replayed(TOPIC, partition(), broker())
    first = image.take_changes()
    assert first.topics_created == {T: "a.b"}
    assert first.partitions == {PartitionId(T, 0): None}
    present = image.topics.partition(T, 0)
    image.replay(change(leader=2))
    image.replay(change(leader=1))
    image.replay(partition(1))
    second = image.take_changes()
    assert second.partitions == {PartitionId(T, 0): present, PartitionId(T, 1): None}
    assert not second.topics_created
    image.replay(told.TopicRecord(name="new", topic_id=U))
    image.replay(partition(0, topic_id=U))
    image.replay(told.RemoveTopicRecord(topic_id=U))
    image.replay(told.RemoveTopicRecord(topic_id=T))
    third = image.take_changes()
    assert not third.topics_created
    assert third.topics_deleted == {T: "a.b"}
    assert {place.topic_id for place in third.partitions} == {T}


def test_a_difference_is_what_the_records_changed() -> None:
    image = replayed(TOPIC, partition(), broker())
    before = image.copy()
    image.take_changes()
    for record in (
        change(leader=2),
        told.TopicRecord(name="new", topic_id=U),
        partition(0, topic_id=U),
        told.UnregisterBrokerRecord(broker_id=1, broker_epoch=5),
        told.ConfigRecord(resource_type=4, resource_name="", name="x", value="1"),
        told.FeatureLevelRecord(name="group.version", feature_level=0),
        told.ProducerIdsRecord(broker_id=1, next_producer_id=1000),
        told.RegisterControllerRecord(
            controller_id=1, incarnation_id=U, zk_migration_ready=False, end_points=[], features=[]
        ),
    ):
        image.replay(record)
    assert difference(before, image) == image.take_changes()
    assert difference(image, before).topics_deleted == {U: "new"}


@pytest.mark.parametrize(
    ("directory", "is_online"), [(D, True), (U, False), (0, True), (1, True), (2, False)]
)
def test_a_replica_is_online_where_its_broker_has_the_directory(
    directory: Uuid | int, is_online: bool
) -> None:
    place = Uuid(directory.to_bytes(16, "big")) if isinstance(directory, int) else directory
    found = replayed(broker()).cluster.brokers[1]
    assert found.has_online(place) is is_online


def test_a_broker_without_named_directories_has_any_but_the_lost() -> None:
    found = replayed(broker(log_dirs=[])).cluster.brokers[1]
    assert found.has_online(D)
    assert not found.has_online(Uuid((2).to_bytes(16, "big")))


def test_cordoned_directories_leave_no_room_only_if_they_are_all() -> None:
    assert replayed(broker(cordoned_log_dirs=[])).cluster.brokers[1].has_room
    assert not replayed(broker(cordoned_log_dirs=[D])).cluster.brokers[1].has_room
    two = broker(log_dirs=[D, U], cordoned_log_dirs=[D])
    assert replayed(two).cluster.brokers[1].has_room


def test_a_broker_is_reached_by_its_listeners() -> None:
    point = told.RegisterBrokerRecord.EndPoint(name="A", host="h", port=1, security_protocol=0)
    found = replayed(broker(end_points=[point])).cluster.brokers[1]
    assert found.end_point("A") == ("A", "h", 1, 0)
    assert found.end_point("B") is None


def test_bootstrap_records_have_the_defaults_of_their_level() -> None:
    def levels(**given: int) -> dict[str, int]:
        records = bootstrap_records(**given)
        return {record.name: record.feature_level for record in records}

    assert levels() == {
        METADATA_VERSION: LEVEL_MAX,
        "eligible.leader.replicas.version": 1,
        "group.version": 1,
        "share.version": 1,
        "streams.version": 1,
        "transaction.version": 2,
    }
    assert levels(metadata_version=21) == {METADATA_VERSION: 21}
    assert default_level("transaction.version", 23) == 0
    named = bootstrap_records(24, {"group.version": 0})
    assert [record.name for record in named] == [METADATA_VERSION, "transaction.version"]


def test_kraft_version_is_shown_unless_it_is_0() -> None:
    finalized = replayed().features.finalized()
    assert with_kraft(finalized, 0) == finalized
    assert with_kraft(finalized, 1) == {**finalized, "kraft.version": 1}
    assert Image().features.finalized() == {}
    assert SUPPORTED["kraft.version"] == Range(0, 1)
    assert str(SUPPORTED["group.version"]) == "0-1"
    assert str(Range(1, 1)) == "1"


def test_levels_with_other_records_between_them_are_not_the_same() -> None:
    assert same_records(24, 29)
    assert same_records(29, 24)
    assert not same_records(29, 30)
    assert not same_records(21, 24)


def test_a_lower_level_loses_what_it_has_no_words_for() -> None:
    credential = told.UserScramCredentialRecord(
        name="u", mechanism=1, salt=b"", stored_key=b"", server_key=b"", iterations=4096
    )
    image = replayed(TOPIC, partition(), broker(cordoned_log_dirs=[]), credential)
    assert snapshot(image)[1] == []
    assert snapshot(image, 29)[1] == ["the cordoned log directories of one or more brokers"]
    records, lost = snapshot(image, 10)
    assert len(lost) == 4
    assert not any(isinstance(record, told.UserScramCredentialRecord) for record in records)


def test_a_snapshot_is_due_by_size_or_by_age_with_something_new() -> None:
    rule = SnapshotRule(bytes_max=100, interval_ms=1000)
    assert not rule.is_due(5000)
    rule.add(99)
    assert not rule.is_due(999)
    assert rule.is_due(1000)
    rule.add(1)
    assert rule.is_due(0)
    rule.take(1000)
    rule.add(1)
    assert not rule.is_due(1999)
    assert rule.is_due(2000)
    assert not SnapshotRule(bytes_max=100, interval_ms=0, bytes_since=1).is_due(1 << 60)
