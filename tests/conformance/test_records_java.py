"""Batches of magic 2 against Kafka's own reader and builder."""

from dataclasses import replace
from random import Random
from typing import Final

import pytest

from ottla.kernels.faults import Malformed, Unencodable
from ottla.records.batch import HEADER_BYTES, BatchHeader, checksum, seal
from ottla.records.builder import BatchOptions, Row, write_batch, write_empty_batch
from ottla.records.columns import Columns, Shape
from ottla.records.compression import Codec
from ottla.records.reader import read_records
from tests.conformance.drawn_batches import (
    CASES,
    NAMES,
    drawn_options,
    drawn_rows,
    kafkas_batch,
    kafkas_records,
)
from tests.conformance.oracle import Oracle, ReadBatch, Record
from tests.unit.records.samples import with_section

COUNT: Final = 100
INFLATED_BYTES_MAX: Final = 1 << 24


def shown(read: ReadBatch) -> tuple[object, ...]:
    """What Kafka finds in a header, but for length and checksum."""
    return (
        read.base_offset, read.last_offset, read.partition_leader_epoch, read.compression,
        read.timestamp_type, read.base_timestamp_ms, read.max_timestamp_ms,
        read.delete_horizon_ms, read.producer_id, read.producer_epoch, read.base_sequence,
        read.last_sequence, read.is_transactional, read.is_control, read.count,
    )  # fmt: skip


def ours_shown(header: BatchHeader) -> tuple[object, ...]:
    return (
        header.base_offset, header.last_offset, header.partition_leader_epoch,
        NAMES[Codec(header.codec)], "LogAppendTime" if header.is_append_time else "CreateTime",
        header.base_timestamp, header.max_timestamp, header.delete_horizon_ms,
        header.producer_id, header.producer_epoch, header.base_sequence, header.last_sequence,
        header.is_transactional, header.is_control, header.records_count,
    )  # fmt: skip


def drawn(codec: Codec, level: int | None) -> list[tuple[list[Row], BatchOptions]]:
    random = Random(f"{codec} {level}")
    cases: list[tuple[list[Row], BatchOptions]] = []
    for _ in range(COUNT):
        options = replace(drawn_options(random), codec=codec, level=level)
        cases.append((drawn_rows(random, options.base_offset), options))
    return cases


@pytest.mark.parametrize(("codec", "level"), CASES)
def test_kafka_reads_ours(oracle_44: Oracle, codec: Codec, level: int | None) -> None:
    cases = drawn(codec, level)
    runs = [bytes(write_batch(rows, options)) for rows, options in cases]
    for (rows, options), run, parsed in zip(cases, runs, oracle_44.parse(runs), strict=True):
        (read,) = parsed.batches
        assert (parsed.error, parsed.valid_bytes) == (None, len(run))
        assert (read.is_valid, read.error) == (True, None)
        assert shown(read) == ours_shown(BatchHeader.parse(run))
        assert read.records == kafkas_records(rows, options.append_timestamp)


@pytest.mark.parametrize(("codec", "level"), CASES)
def test_we_read_kafkas(oracle_44: Oracle, codec: Codec, level: int | None) -> None:
    cases = drawn(codec, level)
    built = oracle_44.build([kafkas_batch(rows, options) for rows, options in cases])
    for (rows, options), run, parsed in zip(cases, built, oracle_44.parse(built), strict=True):
        header = BatchHeader.parse(run)
        assert (header.size_bytes, header.crc) == (len(run), checksum(run))
        assert ours_shown(header) == shown(parsed.batches[0])
        records = kafkas_records(list(read_records(run, INFLATED_BYTES_MAX)))
        assert records == kafkas_records(rows, options.append_timestamp)


def test_open_batches_are_the_same_bytes(oracle_44: Oracle) -> None:
    cases = drawn(Codec.NONE, None)
    built = oracle_44.build([kafkas_batch(rows, options) for rows, options in cases])
    for (rows, options), theirs in zip(cases, built, strict=True):
        assert write_batch(rows, options) == theirs, f"{rows} {options}"


def test_emptied_batches_are_the_same_bytes(oracle_44: Oracle) -> None:
    random = Random(1)
    options = [replace(drawn_options(random), delete_horizon_ms=None) for _ in range(COUNT)]
    emptied = [replace(kafkas_batch([], one), last_offset=one.base_offset + 9) for one in options]
    for one, theirs in zip(options, oracle_44.build(emptied), strict=True):
        stamp = -1 if one.append_timestamp is None else one.append_timestamp
        assert write_empty_batch(one, one.base_offset + 9, stamp) == theirs


def test_the_same_damage_is_seen(oracle_44: Oracle) -> None:
    """A byte changed anywhere under the checksum, and we agree with Kafka that it is wrong."""
    random = Random(2)
    runs: list[bytes] = []
    for rows, options in drawn(Codec.NONE, None):
        batch = write_batch(rows, options)
        place = random.randrange(17, len(batch))
        batch[place] ^= 1 << random.randrange(8)
        runs.append(bytes(batch))
    for run, parsed in zip(runs, oracle_44.parse(runs), strict=True):
        assert not parsed.batches[0].is_valid
        assert checksum(run) != BatchHeader.parse(run).crc


def test_the_same_records_are_refused(oracle_44: Oracle) -> None:
    """A byte changed among the records, under a checksum that is right: the lengths must tell.

    We refuse more than Kafka's reader: offsets that do not rise, and negative lengths other than
    the one of null. Kafka itself writes neither.
    """
    random = Random(3)
    cases = 10 * drawn(Codec.NONE, None)
    runs: list[bytes] = []
    for rows, options in cases:
        batch = write_batch(rows[:3], options)
        batch[random.randrange(HEADER_BYTES, len(batch))] = random.choice([0, 1, 127, 128, 255])
        seal(batch)
        runs.append(bytes(batch))
    for (_, options), run, parsed in zip(cases, runs, oracle_44.parse(runs), strict=True):
        (read,) = parsed.batches
        ours = records_or_none(run)
        if read.error is not None:
            assert ours is None, f"{run.hex()}: {read.error}"
        elif ours is None:
            assert written_again(read, options) != run, f"{run.hex()}: {read}"
        else:
            assert ours == read.records


@pytest.mark.parametrize(
    "section",
    [
        "16 00 00 ff ff ff ff 1f 01 01 00 00",
        "14 00 00 80 80 80 80 10 01 01 00",
        "14 00 00 80 80 80 80 70 01 01 00",
        "14 00 00 80 80 80 80 80 01 01 00",
        "1e 00 80 80 80 80 80 80 80 80 80 02 00 01 01 00",
        "1e 00 82 80 80 80 80 80 80 80 80 7f 00 01 01 00",
        "20 00 80 80 80 80 80 80 80 80 80 80 00 00 01 01 00",
    ],
)
def test_bits_that_do_not_fit_a_number_are_dropped_as_by_kafka(
    oracle_44: Oracle, section: str
) -> None:
    run = with_section(bytes.fromhex(section))
    (read,) = oracle_44.parse([run])[0].batches
    assert records_or_none(run) == (None if read.error is not None else read.records)
    if read.error is not None:
        with pytest.raises(Malformed):
            Columns(["offset", "timestamp"]).table(run)
        return
    table = Columns(["offset", "timestamp"], Shape(timestamp_unit="ms")).table(run)
    assert table["offset"].to_pylist() == [one.offset for one in read.records]
    times = table["timestamp"].cast("int64").to_pylist()
    assert times == [one.timestamp_ms for one in read.records]


def records_or_none(run: bytes) -> tuple[Record, ...] | None:
    try:
        return kafkas_records(list(read_records(run, INFLATED_BYTES_MAX)))
    except Malformed:
        return None


def written_again(read: ReadBatch, options: BatchOptions) -> bytes | None:
    """The bytes of a batch that Kafka read, or None if there can be none."""
    rows: list[Row] = [
        (one.offset, one.timestamp_ms, one.key, one.value, one.headers) for one in read.records
    ]
    try:
        return bytes(write_batch(rows, options))
    except Unencodable:
        return None
