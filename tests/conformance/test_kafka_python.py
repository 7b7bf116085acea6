"""Batches and message sets of ours read by kafka-python, and what it produces read by us."""

from itertools import chain
from typing import Any, Final

import pytest

from ottla.records.compression import Codec
from tests.conformance.clients import COMMITTED, UNCOMMITTED, KafkaPython, Sent
from tests.conformance.drawn_batches import CASES, NAMES
from tests.conformance.drawn_logs import (
    drawn_log,
    drawn_message_log,
    drawn_records,
    log_of_transactions,
)
from tests.conformance.drawn_message_sets import CASES as MESSAGE_SET_CASES
from tests.conformance.drawn_message_sets import CODECS
from tests.conformance.one_partition import PRODUCER
from tests.conformance.one_partition_server import OnePartitionServer
from tests.conformance.produced import accepted_batch, accepted_message_set, told_offsets

COUNT: Final = 100
FETCH_BYTES: Final = 10_000
FETCH_VERSION_MAX: Final = 12
PRODUCE_VERSION_MAX: Final = 9
"""The newest that this kafka-python speaks."""


def compression(codec: Codec) -> dict[str, Any]:
    return {"compression_type": NAMES[codec] if codec else None}


def sendable_records(seed: str, *, with_headers: bool = True) -> list[Sent]:
    """Those that it agrees to send: no header is null, and not both key and value are."""
    return [
        row
        for row in drawn_records(seed, COUNT, with_headers=with_headers)
        if (row.key, row.value) != (None, None)
        and all(content is not None for _, content in row.headers)
    ]


@pytest.mark.parametrize(("codec", "level"), CASES)
def test_batches_are_read(kafka_python: KafkaPython, codec: Codec, level: int | None) -> None:
    log, expected = drawn_log(codec, level, COUNT)
    with OnePartitionServer(log) as server:
        assert kafka_python.read(server, max_partition_fetch_bytes=FETCH_BYTES) == expected


@pytest.mark.parametrize(("magic", "codec", "stamp"), MESSAGE_SET_CASES)
def test_message_sets_are_read(
    kafka_python: KafkaPython, magic: int, codec: Codec, stamp: int | None
) -> None:
    log, expected = drawn_message_log(magic, codec, stamp, COUNT)
    with OnePartitionServer(log) as server:
        assert kafka_python.read(server, max_partition_fetch_bytes=FETCH_BYTES) == expected


@pytest.mark.parametrize("codec", Codec)
def test_transactions_are_read(kafka_python: KafkaPython, codec: Codec) -> None:
    log, became = log_of_transactions(codec)
    with OnePartitionServer(log) as server:
        read = kafka_python.read(server, isolation_level=COMMITTED)
        assert [one.offset for one in read] == became["committed"]
        read = kafka_python.read(server, isolation_level=UNCOMMITTED)
        assert [one.offset for one in read] == sorted(chain(*became.values()))


@pytest.mark.parametrize("codec", Codec)
def test_batches_are_accepted(kafka_python: KafkaPython, codec: Codec) -> None:
    rows = sendable_records(f"{codec}")
    with OnePartitionServer() as server:
        told = kafka_python.write(server, rows, **compression(codec))
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert told == told_offsets([header.records_count for header, _ in batches])
    assert {(header.producer_id, header.producer_epoch) for header, _ in batches} == {PRODUCER}
    assert {header.codec for header, _ in batches} == {codec}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(
    ("broker", "version", "magic"), [((0, 8, 2), 0, 0), ((0, 9), 1, 0), ((0, 10), 2, 1)]
)
def test_message_sets_are_accepted(
    kafka_python: KafkaPython, broker: tuple[int, ...], version: int, magic: int, codec: Codec
) -> None:
    """It takes the format from the release that the broker is said to be of."""
    rows = sendable_records(f"{version} {codec}", with_headers=False)
    with OnePartitionServer() as server:
        told = kafka_python.write(server, rows, api_version=broker, **compression(codec))
    sets = [accepted_message_set(one) for one in server.partition.produced]
    read = [record for _, records in sets for record in records]
    assert read == [row if magic else row._replace(timestamp=-1) for row in rows]
    assert told == told_offsets([len(records) for _, records in sets])
    assert {kind for kind, _ in sets} == {(magic, codec)}
    assert server.partition.versions["Produce"] == {version}


@pytest.mark.parametrize("version", range(3, PRODUCE_VERSION_MAX + 1))
def test_every_version_of_produce_is_understood(kafka_python: KafkaPython, version: int) -> None:
    rows = sendable_records(f"{version}")
    with OnePartitionServer(newest={"Produce": version}) as server:
        told = kafka_python.write(server, rows, compression_type="gzip")
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert told == told_offsets([header.records_count for header, _ in batches])
    assert server.partition.versions["Produce"] == {version}


@pytest.mark.parametrize("version", range(4, FETCH_VERSION_MAX + 1))
def test_every_version_of_fetch_is_understood(kafka_python: KafkaPython, version: int) -> None:
    log, expected = drawn_log(Codec.GZIP, None, 20)
    with OnePartitionServer(log, {"Fetch": version}) as server:
        assert kafka_python.read(server) == expected
    assert server.partition.versions["Fetch"] == {version}
