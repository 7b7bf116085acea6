"""What librdkafka produces, in every format that it knows, is accepted and read by us."""

from typing import Any, Final

import pytest

from ottla.kernels.xxh32 import xxh32
from ottla.records.batch import BatchHeader
from ottla.records.compression import Codec, compress
from ottla.records.message_set import entries
from tests.conformance.clients import Librdkafka, Sent
from tests.conformance.drawn_batches import NAMES
from tests.conformance.drawn_logs import NOW_MS, drawn_records
from tests.conformance.drawn_message_sets import CODECS
from tests.conformance.one_partition import PRODUCER
from tests.conformance.one_partition_server import OnePartitionServer
from tests.conformance.produced import accepted_batch, accepted_message_set, told_offsets

COUNT: Final = 300
PRODUCE_VERSION_MAX: Final = 10
"""The newest that this librdkafka speaks."""
LEVELS: Final = {
    Codec.NONE: range(-1, 0),
    Codec.GZIP: (-1, *range(1, 10)),
    Codec.SNAPPY: range(-1, 0),
    Codec.LZ4: range(-1, 13),
    Codec.ZSTD: range(-1, 13),
}
"""Those that librdkafka takes, of which -1 is the codec's own; Kafka's go further.

Level 0 of gzip makes batches larger, and those it sends as they were.
"""
CASES: Final = [(codec, level) for codec, levels in LEVELS.items() for level in levels]
SMALL_BATCHES: Final = {"batch_num_messages": 40, "max_in_flight": 1}


def compression(codec: Codec, level: int = -1) -> dict[str, Any]:
    return {"compression_type": NAMES[codec], "compression_level": level}


@pytest.mark.parametrize(("codec", "level"), CASES)
def test_batches_are_accepted(librdkafka: Librdkafka, codec: Codec, level: int) -> None:
    rows = list(drawn_records(f"{codec} {level}", COUNT))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(server, **SMALL_BATCHES, **compression(codec, level))
        told = librdkafka.write(producer, server, rows)
    headers = check_batches(server, rows, told)
    assert {header.codec for header in headers} == {codec}
    assert {header.producer_id for header in headers} == {-1}


@pytest.mark.parametrize("codec", Codec)
def test_idempotent_batches_are_accepted(librdkafka: Librdkafka, codec: Codec) -> None:
    rows = list(drawn_records(f"{codec}", COUNT))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(
            server, enable_idempotence=True, **SMALL_BATCHES, **compression(codec)
        )
        told = librdkafka.write(producer, server, rows)
    headers = check_batches(server, rows, told)
    assert {header.codec for header in headers} == {codec}
    check_sequences(headers)
    assert not any(header.is_transactional for header in headers)


def check_batches(
    server: OnePartitionServer, rows: list[Sent], told: list[int]
) -> list[BatchHeader]:
    """The records come back from batches that break no rule; give the headers."""
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert told == told_offsets([header.records_count for header, _ in batches])
    return [header for header, _ in batches]


def check_sequences(headers: list[BatchHeader]) -> None:
    """Each batch goes on where the one before ended, by the producer that was given out."""
    sequence = 0
    for header in headers:
        assert (header.producer_id, header.producer_epoch) == PRODUCER
        assert header.base_sequence == sequence
        sequence = header.last_sequence + 1


def test_batches_without_an_answer_are_accepted(librdkafka: Librdkafka) -> None:
    rows = list(drawn_records("no answer", COUNT))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(server, acks=0, **SMALL_BATCHES)
        librdkafka.write(producer, server, rows)
        # It flushes when all is sent, which may not have come yet.
        server.wait_for(lambda: records_count(server) >= COUNT)
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert {one.acks for one in server.partition.produced} == {0}


def records_count(server: OnePartitionServer) -> int:
    return sum(BatchHeader.parse(one.records).records_count for one in server.partition.produced)


def test_transactions_are_accepted(librdkafka: Librdkafka) -> None:
    rows = list(drawn_records("transactions", COUNT))
    told: list[int] = []
    with OnePartitionServer() as server:
        producer = librdkafka.producer(server, transactional_id="ours", compression_type="lz4")
        producer.init_transactions(5)
        for part, end in (
            (rows[:100], producer.commit_transaction),
            (rows[100:200], producer.abort_transaction),
            (rows[200:], producer.commit_transaction),
        ):
            producer.begin_transaction()
            told += librdkafka.write(producer, server, part)
            end(5)
        server.assert_well()
    assert server.partition.ends == [("ours", True), ("ours", False), ("ours", True)]
    headers = check_batches(server, rows, told)
    assert all(header.is_transactional for header in headers)
    check_sequences(headers)
    assert {one.transactional_id for one in server.partition.produced} == {"ours"}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_message_sets_are_accepted(librdkafka: Librdkafka, version: int, codec: Codec) -> None:
    """The format that goes with the newest Produce that a broker offers."""
    magic = 1 if version == 2 else 0
    rows = list(drawn_records(f"{version} {codec}", COUNT, with_headers=False))
    with OnePartitionServer(newest={"Produce": version, "Fetch": version}) as server:
        producer = librdkafka.producer(server, **SMALL_BATCHES, **compression(codec))
        told = librdkafka.write(producer, server, rows)
    check_sets(server, rows, told, magic, codec)
    assert server.partition.versions["Produce"] == {version}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("broker", "version"), [("0.9.0", 1), ("0.8.2", 0)])
def test_one_who_does_not_ask_for_versions_is_accepted(
    librdkafka: Librdkafka, broker: str, version: int, codec: Codec
) -> None:
    rows = list(drawn_records(f"{broker} {codec}", COUNT, with_headers=False))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(
            server,
            api_version_request=False,
            broker_version_fallback=broker,
            **SMALL_BATCHES,
            **compression(codec),
        )
        told = librdkafka.write(producer, server, rows)
    check_sets(server, rows, told, 0, codec)
    assert server.partition.versions == {"Metadata": {0}, "Produce": {version}}


def check_sets(
    server: OnePartitionServer, rows: list[Sent], told: list[int], magic: int, codec: Codec
) -> None:
    """Records come back; magic 0 has no times."""
    sets = [accepted_message_set(one) for one in server.partition.produced]
    read = [record for _, records in sets for record in records]
    assert read == [row if magic else row._replace(timestamp=-1) for row in rows]
    assert told == told_offsets([len(records) for _, records in sets])
    assert {kind for kind, _ in sets} == {(magic, codec)}


def test_the_header_of_lz4_in_magic_0_has_the_checksum_that_ours_has(
    librdkafka: Librdkafka,
) -> None:
    """Readers do not look at it, the oldest ones excepted, so it is the writers that we compare."""
    rows = [Sent(NOW_MS, b"key", b"ab" * 900)]
    with OnePartitionServer(newest={"Produce": 1, "Fetch": 1}) as server:
        producer = librdkafka.producer(server, **compression(Codec.LZ4))
        librdkafka.write(producer, server, rows)
    (wrapper,) = entries(server.partition.produced[0].records)
    ours = compress(Codec.LZ4, b"ab", legacy_checksum=True)
    assert wrapper.value is not None
    for frame in wrapper.value, ours:
        assert frame[6] == xxh32(bytes(frame[:6])) >> 8 & 0xFF


@pytest.mark.parametrize("version", range(3, PRODUCE_VERSION_MAX + 1))
def test_every_version_of_produce_is_understood(librdkafka: Librdkafka, version: int) -> None:
    rows = list(drawn_records(f"{version}", 20))
    with OnePartitionServer(newest={"Produce": version}) as server:
        producer = librdkafka.producer(server, compression_type="gzip")
        told = librdkafka.write(producer, server, rows)
    check_batches(server, rows, told)
    assert server.partition.versions["Produce"] == {version}
