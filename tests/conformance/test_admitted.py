"""What librdkafka produced is given its place in a log by us, and read there by both clients."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from ottla.errors import ErrorCode
from ottla.records.check import Rules, admit, check
from ottla.records.compression import Codec
from ottla.records.message_set import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP,
    NO_TIMESTAMP_TYPE,
)
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set
from tests.conformance.clients import KafkaPython, Librdkafka, Seen, Sent
from tests.conformance.drawn_batches import NAMES
from tests.conformance.drawn_logs import NOW_MS, START_OFFSET, drawn_records
from tests.conformance.drawn_message_sets import CODECS
from tests.conformance.one_partition import LEADER_EPOCH, Log, Produced
from tests.conformance.one_partition_server import OnePartitionServer

COUNT: Final = 200
STAMP: Final = NOW_MS + 77_000
MESSAGE_SET_CASES: Final = (
    *((0, 0, None), (0, 1, STAMP), (0, 2, None)),
    *((1, 0, None), (1, 1, None), (1, 1, STAMP), (1, 2, STAMP)),
)
"""Magic as produced and in the log, and when the log appends, if it gives the time."""


def produced(
    librdkafka: Librdkafka, rows: list[Sent], newest: dict[str, int], **options: Any
) -> list[Produced]:
    with OnePartitionServer(newest=newest) as server:
        producer = librdkafka.producer(server, batch_num_messages=40, max_in_flight=1, **options)
        librdkafka.write(producer, server, rows)
    return server.partition.produced


def read_by_both(librdkafka: Librdkafka, kafka_python: KafkaPython, log: Log) -> list[Seen]:
    with OnePartitionServer(log) as server:
        read = librdkafka.read(server)
        assert kafka_python.read(server) == read
    return read


def placed(rows: Iterable[Sent], kind: int, stamp: int | None) -> list[Seen]:
    """What is to be seen of records that were appended in order."""
    return [
        Seen(offset, kind, row.timestamp if stamp is None else stamp, *row[1:])
        for offset, row in enumerate(rows, START_OFFSET)
    ]


@pytest.mark.parametrize("is_append_time", [False, True])
@pytest.mark.parametrize("codec", Codec)
def test_batches_are_read_where_we_put_them(
    librdkafka: Librdkafka, kafka_python: KafkaPython, codec: Codec, is_append_time: bool
) -> None:
    rows = list(drawn_records(f"{codec} {is_append_time}", COUNT))
    rules = Rules(is_append_time=is_append_time)
    data, offset = bytearray(), START_OFFSET
    for one in produced(librdkafka, rows, {}, compression_type=NAMES[codec]):
        batch = bytearray(one.records)
        verdict = check(batch, rules, STAMP)
        assert verdict.error == ErrorCode.NONE, verdict.reason
        assert verdict.header is not None
        admit(batch, verdict, rules, (offset, LEADER_EPOCH), STAMP)
        data += batch
        offset += verdict.header.records_count
    read = read_by_both(librdkafka, kafka_python, Log(bytes(data), offset, START_OFFSET))
    if is_append_time:
        assert read == placed(rows, LOG_APPEND_TIME, STAMP)
    else:
        assert read == placed(rows, CREATE_TIME, None)


@pytest.mark.parametrize(("magic", "log_magic", "stamp"), MESSAGE_SET_CASES)
@pytest.mark.parametrize("codec", CODECS)
def test_message_sets_are_read_where_we_put_them(
    librdkafka: Librdkafka,
    kafka_python: KafkaPython,
    codec: Codec,
    magic: int,
    log_magic: int,
    stamp: int | None,
) -> None:
    """In place where the log is of the same magic, and otherwise converted."""
    rows = list(drawn_records(f"{codec} {magic} {log_magic}", COUNT, with_headers=False))
    newest = {"Produce": 2 * magic, "Fetch": 2 * magic}
    rules = Rules(is_append_time=stamp is not None)
    data, offset = bytearray(), START_OFFSET
    for one in produced(librdkafka, rows, newest, compression_type=NAMES[codec]):
        message_set = bytearray(one.records)
        verdict = check_message_set(message_set, rules, STAMP)
        assert verdict.error == ErrorCode.NONE, verdict.reason
        target = AppendTarget(offset, log_magic, codec, None, stamp, LEADER_EPOCH)
        appended = assign_offsets(message_set, verdict, target)
        data += appended.data
        offset = appended.next_offset
    read = read_by_both(librdkafka, kafka_python, Log(bytes(data), offset, START_OFFSET))
    if log_magic == 0:
        assert read == placed(rows, NO_TIMESTAMP_TYPE, NO_TIMESTAMP)
    elif stamp is not None:
        assert read == placed(rows, LOG_APPEND_TIME, stamp)
    else:
        assert read == placed(rows, CREATE_TIME, None if magic else NO_TIMESTAMP)
