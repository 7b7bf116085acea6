"""The oracle itself: it gives legal messages, says what it refuses, and outlives a crash."""

from dataclasses import replace
from typing import Final

import pytest

from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message, field, int16, int32
from tests.conformance.oracle import Batch, Oracle, OracleError, Record, Refusal

RECORDS: Final = (
    Record(offset=7, timestamp_ms=1_000, key=b"k", value=None, headers=(("h", b"v"), ("n", None))),
    Record(offset=9, timestamp_ms=999, key=None, value=b"x" * 200),
)


class RequestHeader(Message, versions="1-2", flexible="2+"):
    """What stands before every request: one message of our own to try the oracle with."""

    request_api_key: int16
    request_api_version: int16
    correlation_id: int32
    client_id: str | None = field("1+", default="", ignorable=True, flexible="none")


HEADER: Final = RequestHeader(
    request_api_key=18, request_api_version=4, correlation_id=-2, client_id="å"
)


@pytest.mark.parametrize("oracle", ["oracle_44", "oracle_39", "oracle_43"])
def test_its_random_messages_are_legal(oracle: str, request: pytest.FixtureRequest) -> None:
    """Kafka reads what it wrote of every schema, and writes the same bytes again."""
    kafka: Oracle = request.getfixturevalue(oracle)
    schemas = [schema for schema in kafka.schemas() if schema.versions]
    assert len(schemas) >= 186
    assert [schema.name for schema in schemas if not schema.package] == []
    for schema in schemas:
        for version in schema.versions:
            messages = kafka.random(schema.name, version, seed=version, count=10)
            assert kafka.reencode(schema.name, version, messages) == messages, schema


def test_the_broker_jars_have_all_internal_records(oracle_43: Oracle) -> None:
    """A jar left out of the class path would quietly leave its records unchecked."""
    packages = {schema.package.removeprefix("org.apache.kafka.") for schema in oracle_43.schemas()}
    assert packages >= {
        "common.message",
        "common.metadata",
        "coordinator.group.generated",
        "coordinator.share.generated",
        "coordinator.transaction.generated",
        "raft.generated",
        "server.log.remote.metadata.storage.generated",
    }


def test_a_seed_gives_the_same_messages_again(oracle_44: Oracle) -> None:
    first = oracle_44.random("FetchResponse", 16, seed=5, count=20)
    assert oracle_44.random("FetchResponse", 16, seed=5, count=20) == first
    assert oracle_44.random("FetchResponse", 16, seed=6, count=20) != first


@pytest.mark.parametrize("version", [1, 2])
def test_a_message_goes_there_and_back(oracle_44: Oracle, version: int) -> None:
    ours = encode(HEADER, version)
    assert oracle_44.reencode("RequestHeader", version, [ours]) == [ours]
    for theirs in oracle_44.random("RequestHeader", version, seed=1, count=200):
        assert encode(decode(RequestHeader, theirs, version), version) == theirs


def test_a_refusal_is_one_case_among_others(oracle_44: Oracle) -> None:
    good = encode(HEADER, 2)
    outcomes = oracle_44.reencode("RequestHeader", 2, [good, good[:-1], good + b"\0"])
    assert outcomes[0] == good
    assert outcomes[1:] == [
        Refusal("BufferUnderflowException: null"),
        Refusal("IllegalArgumentException: 1 bytes are left over"),
    ]


def test_a_message_is_shown_as_json(oracle_44: Oracle) -> None:
    shown = oracle_44.to_json("RequestHeader", 2, [encode(HEADER, 2), b""])
    assert shown == [
        {"requestApiKey": 18, "requestApiVersion": 4, "correlationId": -2, "clientId": "å"},
        None,
    ]


def test_a_question_that_makes_no_sense_is_a_fault(oracle_44: Oracle) -> None:
    with pytest.raises(OracleError, match="no class for schema Nonsense"):
        oracle_44.reencode("Nonsense", 0, [b""])
    with pytest.raises(OracleError, match="RequestHeader has no version 9"):
        oracle_44.random("RequestHeader", 9, seed=0, count=1)


def test_a_process_that_is_too_slow_is_killed_and_replaced(oracle_44: Oracle) -> None:
    """Its own class path is known by now, so that only the process is new."""
    with Oracle("clients-4.4.0", timeout_seconds=0.001) as hasty:
        with pytest.raises(OracleError, match="the process ended"):
            hasty.schemas()
        hasty.timeout_seconds = 60
        assert hasty.schemas() == oracle_44.schemas()


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_batch_is_built_and_parsed(oracle_44: Oracle, compression: str) -> None:
    batch = Batch(
        records=RECORDS,
        compression=compression,
        base_offset=7,
        producer_id=3,
        producer_epoch=1,
        base_sequence=2,
        is_transactional=True,
        partition_leader_epoch=4,
        last_offset=12,
    )
    (run,) = oracle_44.build([batch])
    (parsed,) = oracle_44.parse([run])
    (read,) = parsed.batches
    assert (parsed.error, parsed.valid_bytes) == (None, len(run))
    assert (read.is_valid, read.error, read.records) == (True, None, RECORDS)
    assert (read.base_offset, read.last_offset, read.count) == (7, 12, 2)
    assert (read.base_timestamp_ms, read.max_timestamp_ms) == (1_000, 1_000)
    assert (read.compression, read.is_transactional, read.is_control) == (compression, True, False)
    assert (read.producer_id, read.base_sequence, read.last_sequence) == (3, 2, 7)


def test_batches_of_other_kinds_are_built(oracle_44: Oracle) -> None:
    commit = Record(offset=0, timestamp_ms=5, key=bytes([0, 0, 0, 1]), value=bytes(6))
    control = Batch(
        records=(commit,),
        is_control=True,
        is_transactional=True,
        producer_id=1,
        producer_epoch=0,
        delete_horizon_ms=77,
    )
    emptied = Batch(records=(), base_offset=4, last_offset=6)
    stamped = Batch(
        records=RECORDS, base_offset=7, timestamp_type="LogAppendTime", log_append_time_ms=50
    )
    parsed = oracle_44.parse([b"".join(oracle_44.build([control, emptied, stamped]))])
    first, second, third = parsed[0].batches
    assert (first.is_control, first.delete_horizon_ms, first.records) == (True, 77, (commit,))
    assert (second.count, second.last_offset, second.records) == (0, 6, ())
    assert [record.timestamp_ms for record in third.records] == [50, 50]


def test_a_broken_batch_is_described_not_thrown(oracle_44: Oracle) -> None:
    (run,) = oracle_44.build([Batch(records=RECORDS, base_offset=7)])
    flipped = run[:-1] + bytes([run[-1] ^ 1])
    broken, torn = oracle_44.parse([flipped, run + run[:40]])
    assert not broken.batches[0].is_valid
    assert (len(torn.batches), torn.valid_bytes) == (1, len(run))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_old_formats_are_built_and_made_of_new_ones(
    oracle_39: Oracle, magic: int, compression: str
) -> None:
    plain = tuple(replace(record, headers=()) for record in RECORDS)
    timestamp_type = "CreateTime" if magic else "NoTimestampType"
    old = Batch(
        records=plain,
        magic=magic,
        compression=compression,
        base_offset=7,
        timestamp_type=timestamp_type,
    )
    new = Batch(records=RECORDS, compression=compression, base_offset=7)
    built, made = oracle_39.build([old, new])
    (converted,) = oracle_39.down_convert(magic, [made], first_offset=0)
    kept = tuple(record if magic else replace(record, timestamp_ms=-1) for record in plain)
    for parsed in oracle_39.parse([built, converted]):
        assert {batch.magic for batch in parsed.batches} == {magic}
        assert sum((batch.records for batch in parsed.batches), ()) == kept


def test_new_classes_do_not_convert_down(oracle_44: Oracle) -> None:
    with pytest.raises(OracleError, match="do not convert down"):
        oracle_44.down_convert(1, [b""], first_offset=0)
