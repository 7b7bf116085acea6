"""Message sets, magic 0 and 1, against the last release of Kafka that writes them."""

from random import Random
from typing import Final

import pytest

from ottla.records.compression import Codec
from ottla.records.message_set import (
    LOG_APPEND_TIME,
    Row,
    checksum,
    entries,
    messages,
    write_message_set,
)
from tests.conformance.drawn_message_sets import CASES, STAMP, drawn_rows
from tests.conformance.oracle import Batch, Oracle, Record

COUNT: Final = 100


def drawn(magic: int, codec: Codec) -> list[list[Row]]:
    random = Random(f"{magic} {codec}")
    return [drawn_rows(random, magic, random.choice([0, 5, 1 << 40])) for _ in range(COUNT)]


def kafkas_records(rows: list[Row], stamp: int | None) -> tuple[Record, ...]:
    """Our rows as Kafka shows them."""
    return tuple(
        Record(
            offset=row[0], timestamp_ms=row[1] if stamp is None else stamp, key=row[2], value=row[3]
        )
        for row in rows
    )


def kafkas_batch(magic: int, codec: Codec, stamp: int | None, rows: list[Row]) -> Batch:
    """What Kafka's builder is told to write the same."""
    kind = "CreateTime" if stamp is None else "LogAppendTime"
    return Batch(
        records=kafkas_records(rows, None),
        magic=magic,
        compression=codec.name.lower(),
        timestamp_type=kind if magic else "NoTimestampType",
        log_append_time_ms=-1 if stamp is None else stamp,
        base_offset=rows[0][0],
    )


@pytest.mark.parametrize(("magic", "codec", "stamp"), CASES)
def test_kafka_reads_ours(oracle_39: Oracle, magic: int, codec: Codec, stamp: int | None) -> None:
    cases = drawn(magic, codec)
    runs = [write_message_set(magic, codec, rows, append_time=stamp) for rows in cases]
    for rows, run, parsed in zip(cases, runs, oracle_39.parse(runs), strict=True):
        assert (parsed.error, parsed.valid_bytes) == (None, len(run))
        read = [record for batch in parsed.batches for record in batch.records]
        assert tuple(read) == kafkas_records(rows, stamp)
        for batch in parsed.batches:
            assert (batch.magic, batch.is_valid, batch.error) == (magic, True, None)
            assert batch.compression == codec.name.lower()


@pytest.mark.parametrize(("magic", "codec", "stamp"), CASES)
def test_we_read_kafkas(oracle_39: Oracle, magic: int, codec: Codec, stamp: int | None) -> None:
    cases = drawn(magic, codec)
    built = oracle_39.build([kafkas_batch(magic, codec, stamp, rows) for rows in cases])
    for rows, run in zip(cases, built, strict=True):
        assert all(checksum(run, entry) == entry.crc for entry in entries(run))
        read = list(messages(run))
        assert kafkas_records([seen(one) for one in read], None) == kafkas_records(rows, stamp)
        assert {one.timestamp_type == LOG_APPEND_TIME for one in read} == {stamp is not None}


def seen(message: tuple[int, int, int, bytes | None, bytes | None]) -> Row:
    offset, timestamp, _, key, value = message
    return (
        offset,
        timestamp,
        None if key is None else bytes(key),
        None if value is None else bytes(value),
    )


@pytest.mark.parametrize(("magic", "stamp"), [(0, None), (1, None), (1, STAMP)])
def test_open_sets_are_the_same_bytes(oracle_39: Oracle, magic: int, stamp: int | None) -> None:
    cases = drawn(magic, Codec.NONE)
    built = oracle_39.build([kafkas_batch(magic, Codec.NONE, stamp, rows) for rows in cases])
    for rows, theirs in zip(cases, built, strict=True):
        assert write_message_set(magic, Codec.NONE, rows, append_time=stamp) == theirs


@pytest.mark.parametrize("magic", [0, 1])
def test_the_same_damage_is_seen(oracle_39: Oracle, magic: int) -> None:
    """A byte changed anywhere under the checksum of the only message, but in its lengths."""
    random = Random(4)
    runs: list[bytes] = []
    for rows in drawn(magic, Codec.NONE):
        offset, timestamp, _, _ = rows[0]
        run = bytearray(write_message_set(magic, 0, [(offset, timestamp, b"key", b"value")]))
        run[random.choice([12, 15, 17, len(run) - 1, len(run) - 5])] ^= 1 << random.randrange(8)
        runs.append(bytes(run))
    for run, parsed in zip(runs, oracle_39.parse(runs), strict=True):
        (entry,) = entries(run)
        assert parsed.error or not parsed.batches[0].is_valid
        assert checksum(run, entry) != entry.crc
