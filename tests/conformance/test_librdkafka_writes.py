"""What librdkafka produces, in every format that it knows, is accepted and read by us."""

from typing import Any, Final

import pytest

from ottla.records.compression import Codec
from tests.conformance.clients import Librdkafka
from tests.conformance.drawn_batches import CASES, NAMES
from tests.conformance.drawn_logs import drawn_records
from tests.conformance.drawn_message_sets import CODECS
from tests.conformance.one_partition import PRODUCER
from tests.conformance.one_partition_server import OnePartitionServer
from tests.conformance.produced import accepted_batch, accepted_message_set, told_offsets

COUNT: Final = 300
BATCH_RECORDS: Final = 40
PRODUCE_VERSION_MAX: Final = 10
"""The newest that this librdkafka speaks."""
LEVELS: Final = range(13)
"""Those that librdkafka takes, whatever the codec."""
NO_PRODUCER: Final = (-1, -1)


def compression(codec: Codec, level: int | None) -> dict[str, Any]:
    options: dict[str, Any] = {"compression_type": NAMES[codec]}
    if level is not None:
        options["compression_level"] = min(max(level, LEVELS[0]), LEVELS[-1])
    return options


@pytest.mark.parametrize("is_idempotent", [False, True])
@pytest.mark.parametrize(("codec", "level"), CASES)
def test_batches_are_accepted(
    librdkafka: Librdkafka, codec: Codec, level: int | None, is_idempotent: bool
) -> None:
    rows = list(drawn_records(f"{codec} {level}", COUNT))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(
            server,
            enable_idempotence=is_idempotent,
            batch_num_messages=BATCH_RECORDS,
            max_in_flight=1,
            **compression(codec, level),
        )
        told = librdkafka.write(producer, server, rows)
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert told == told_offsets([header.records_count for header, _ in batches])
    assert {header.codec for header, _ in batches} == {codec}
    sequence = 0
    for header, _ in batches:
        producer_known = header.producer_id, header.producer_epoch
        assert producer_known == (PRODUCER if is_idempotent else NO_PRODUCER)
        assert header.base_sequence == (sequence if is_idempotent else -1)
        sequence += header.records_count


def test_transactions_are_accepted(librdkafka: Librdkafka) -> None:
    rows = list(drawn_records("transactions", COUNT))
    with OnePartitionServer() as server:
        producer = librdkafka.producer(server, transactional_id="ours", compression_type="lz4")
        producer.init_transactions(5)
        for part, end in (
            (rows[:100], producer.commit_transaction),
            (rows[100:200], producer.abort_transaction),
            (rows[200:], producer.commit_transaction),
        ):
            producer.begin_transaction()
            librdkafka.write(producer, server, part)
            end(5)
        server.assert_well()
    assert server.partition.ends == [("ours", True), ("ours", False), ("ours", True)]
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    sequence = 0
    for one, (header, _) in zip(server.partition.produced, batches, strict=True):
        assert (one.transactional_id, one.acks) == ("ours", -1)
        assert header.is_transactional
        assert (header.producer_id, header.producer_epoch) == PRODUCER
        assert header.base_sequence == sequence
        sequence += header.records_count


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("version", [0, 1, 2])
def test_message_sets_are_accepted(librdkafka: Librdkafka, version: int, codec: Codec) -> None:
    """The format that goes with the newest Produce that a broker offers."""
    magic = 1 if version == 2 else 0
    rows = list(drawn_records(f"{version} {codec}", COUNT, with_headers=False))
    with OnePartitionServer(newest={"Produce": version, "Fetch": version}) as server:
        producer = librdkafka.producer(
            server, batch_num_messages=BATCH_RECORDS, max_in_flight=1, **compression(codec, None)
        )
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
            batch_num_messages=BATCH_RECORDS,
            max_in_flight=1,
            **compression(codec, None),
        )
        told = librdkafka.write(producer, server, rows)
    check_sets(server, rows, told, 0, codec)
    assert server.partition.versions == {"Metadata": {0}, "Produce": {version}}


def check_sets(
    server: OnePartitionServer, rows: list[Any], told: list[int], magic: int, codec: Codec
) -> None:
    """Records come back; magic 0 has no times."""
    sets = [accepted_message_set(one) for one in server.partition.produced]
    read = [record for _, records in sets for record in records]
    assert read == [row if magic else row._replace(timestamp=-1) for row in rows]
    assert told == told_offsets([len(records) for _, records in sets])
    assert {kind for kind, _ in sets} == {(magic, codec)}


@pytest.mark.parametrize("version", range(3, PRODUCE_VERSION_MAX + 1))
def test_every_version_of_produce_is_understood(librdkafka: Librdkafka, version: int) -> None:
    rows = list(drawn_records(f"{version}", 20))
    with OnePartitionServer(newest={"Produce": version}) as server:
        producer = librdkafka.producer(server, compression_type="gzip")
        told = librdkafka.write(producer, server, rows)
    batches = [accepted_batch(one) for one in server.partition.produced]
    assert [record for _, records in batches for record in records] == rows
    assert told == told_offsets([header.records_count for header, _ in batches])
    assert server.partition.versions["Produce"] == {version}
