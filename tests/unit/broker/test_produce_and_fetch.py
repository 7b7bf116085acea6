"""Produce and Fetch in every version, and what they refuse."""

import pytest

from ottla.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ottla.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from ottla.broker.handlers.list_offsets import EARLIEST, LATEST, MAX_TIMESTAMP
from ottla.errors import ErrorCode
from ottla.records.batch import BatchHeader, seal
from ottla.records.compression import Codec
from ottla.records.message_set import entries, write_message_set
from ottla.records.reader import read_records
from tests.unit.broker.one_node import TOPIC, OneNode, fetch_of


@pytest.mark.parametrize("version", range(3, 14))
def test_a_batch_is_appended_at_the_end(version: int) -> None:
    one = OneNode()
    assert one.produce(one.batch(b"a", b"b"), version).base_offset == 0
    answer = one.produce(one.batch(b"c"), version)
    assert (answer.error_code, answer.base_offset) == (0, 2)


@pytest.mark.parametrize("version", range(4, 19))
def test_what_was_appended_is_fetched(version: int) -> None:
    one = OneNode()
    one.produce(one.batch(b"a", b"b"))
    answer = one.fetch(0, version)
    assert (answer.error_code, answer.high_watermark) == (0, 2)
    assert answer.records is not None
    assert [record.value for record in read_records(answer.records, 1 << 20)] == [b"a", b"b"]


@pytest.mark.parametrize("version", range(4))
def test_an_old_consumer_gets_an_old_format(version: int) -> None:
    one = OneNode()
    one.produce(one.batch(b"a", b"b"))
    answer = one.fetch(0, version)
    found = list(entries(answer.records or b""))
    assert [entry.value for entry in found] == [b"a", b"b"]
    assert {entry.magic for entry in found} == {0 if version < 2 else 1}


@pytest.mark.parametrize("version", range(3))
def test_an_old_producers_set_becomes_a_batch(version: int) -> None:
    one = OneNode()
    magic = 0 if version < 2 else 1
    rows = [(n, one.world.wall_ms, b"k", value) for n, value in enumerate((b"a", b"b"))]
    one.produce(bytes(write_message_set(magic, Codec.NONE, rows)), version)
    answer = one.fetch(0)
    assert answer.records is not None
    assert BatchHeader.parse(answer.records).magic == 2
    assert [record.value for record in read_records(answer.records, 1 << 20)] == [b"a", b"b"]


def test_old_formats_are_refused_in_newer_versions() -> None:
    one = OneNode()
    old = bytes(write_message_set(1, Codec.NONE, [(0, one.world.wall_ms, b"k", b"a")]))
    assert one.produce(old, 3).error_code == ErrorCode.INVALID_RECORD
    assert one.produce(b"", 3).error_code == ErrorCode.INVALID_RECORD
    assert one.produce(b"", 2).error_code == ErrorCode.NONE


def test_acks_are_one_of_three() -> None:
    one = OneNode()
    assert one.produce(one.batch(b"a"), acks=2).error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_too_few_replicas_in_sync_refuse_acks_all_only() -> None:
    one = OneNode({"min.insync.replicas": "2"})
    assert one.produce(one.batch(b"a")).error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert one.produce(one.batch(b"a"), acks=1).error_code == ErrorCode.NONE


def test_a_topic_may_stamp_and_compress() -> None:
    one = OneNode({"message.timestamp.type": "LogAppendTime", "compression.type": "gzip"})
    answer = one.produce(one.batch(b"a" * 100))
    assert answer.log_append_time_ms == one.world.wall_ms
    header = BatchHeader.parse(one.fetch(0).records or b"")
    assert (header.is_append_time, header.codec) == (True, Codec.GZIP)


def test_a_batch_that_comes_again_is_not_appended_again() -> None:
    one = OneNode()
    first = one.batch(b"a", producer_id=5, producer_epoch=0, base_sequence=0)
    assert one.produce(first).base_offset == 0
    assert one.produce(first).base_offset == 0
    gap = one.batch(b"b", producer_id=5, producer_epoch=0, base_sequence=7)
    assert one.produce(gap).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert one.fetch(0).high_watermark == 1


def test_a_batch_outside_of_a_transaction_that_somebody_knows_is_refused() -> None:
    one = OneNode()
    batch = bytearray(one.batch(b"a", producer_id=5, producer_epoch=0, base_sequence=0))
    batch[22] |= 1 << 4
    seal(batch)
    assert one.produce(bytes(batch)).error_code == ErrorCode.INVALID_TXN_STATE


def test_a_fetch_waits_for_its_time() -> None:
    one = OneNode()
    began_ms = one.world.now_ms
    assert not one.fetch(0, max_wait_ms=100).records
    assert 100 <= one.world.now_ms - began_ms <= 102


def test_a_fetch_that_waits_is_answered_by_an_append() -> None:
    one = OneNode()
    one.world.after(30, lambda: one.produce(one.batch(b"late")) and None)
    began_ms = one.world.now_ms
    assert one.fetch(0, max_wait_ms=5000).records
    assert one.world.now_ms - began_ms <= 40
    assert len(one.node.waiting) == 0


def test_offsets_out_of_range_are_refused() -> None:
    one = OneNode()
    one.produce(one.batch(b"a"))
    assert one.fetch(1).error_code == ErrorCode.NONE
    assert one.fetch(2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_a_first_batch_comes_whole_and_others_within_bounds() -> None:
    one = OneNode()
    one.produce(one.batch(b"a" * 1000))
    one.produce(one.batch(b"b" * 1000))
    whole = one.fetch_all([fetch_of(0, bytes_max=10)], 12).responses[0].partitions[0].records
    assert whole is not None
    assert len(whole) == BatchHeader.parse(whole).size_bytes
    cut = one.fetch_all([fetch_of(0, bytes_max=100)], 2).responses[0].partitions[0].records
    assert cut is not None
    assert len(cut) <= 1200


def test_a_session_tells_what_is_new() -> None:
    one = OneNode()
    opened = one.fetch_all([fetch_of(0)], 12, session_epoch=0)
    assert opened.session_id
    asked = {"session_id": opened.session_id, "session_epoch": 1}
    assert one.fetch_all([], 12, **asked).responses == []
    assert one.fetch_all([], 12, **asked).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
    one.produce(one.batch(b"a"))
    asked["session_epoch"] = 2
    answer = one.fetch_all([], 12, **asked)
    assert answer.responses[0].partitions[0].records
    unknown = one.fetch_all([], 12, session_id=opened.session_id + 1, session_epoch=1)
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_rotten_log_is_an_answer() -> None:
    one = OneNode()
    first = one.batch(b"a")
    one.produce(first)
    one.produce(one.batch(b"b"))
    (partition,) = one.node.partitions
    partition.log.flush(one.world.wall_ms)
    path = f"{partition.hosted.placed.path}/{0:020}.log"
    one.disk.flip_bit(path, len(first) + 16, 7)
    assert one.fetch(0).error_code == ErrorCode.NONE
    assert one.fetch(1).error_code == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("version", range(1, 12))
def test_offsets_are_listed(version: int) -> None:
    one = OneNode()
    one.produce(one.batch(b"a", b"b"))

    def ask(timestamp: int) -> ListOffsetsResponse.Topic.Partition:
        asked = ListOffsetsRequest.Topic.Partition(partition_index=0, timestamp=timestamp)
        topic = ListOffsetsRequest.Topic(name=TOPIC, partitions=[asked])
        request = ListOffsetsRequest(replica_id=-1, topics=[topic])
        return one.ask(request, version, ListOffsetsResponse).topics[0].partitions[0]

    assert (ask(EARLIEST).offset, ask(LATEST).offset) == (0, 2)
    assert ask(one.world.wall_ms - 1000).offset == 0
    assert ask(one.world.wall_ms + 1000).offset == -1
    latest = ask(MAX_TIMESTAMP)
    expected = (ErrorCode.NONE, 0) if version >= 7 else (ErrorCode.UNSUPPORTED_VERSION, -1)
    assert (latest.error_code, latest.offset) == expected


@pytest.mark.parametrize("version", range(5))
def test_an_epochs_end_is_told(version: int) -> None:
    one = OneNode()
    one.produce(one.batch(b"a", b"b"))
    asked = OffsetForLeaderEpochRequest.Topic.Partition(partition=0, leader_epoch=0)
    topic = OffsetForLeaderEpochRequest.Topic(topic=TOPIC, partitions=[asked])
    request = OffsetForLeaderEpochRequest(topics=[topic])
    answer = one.ask(request, version, OffsetForLeaderEpochResponse).topics[0].partitions[0]
    assert (answer.error_code, answer.end_offset) == (0, 2)
