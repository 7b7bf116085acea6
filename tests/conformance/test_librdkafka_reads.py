"""Batches and message sets of ours, read by librdkafka with its checks of checksums."""

from itertools import chain
from random import Random
from typing import Final

import pytest

from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.compression import Codec
from ottla.records.message_set import NO_TIMESTAMP, NO_TIMESTAMP_TYPE, write_message_set
from tests.conformance.clients import COMMITTED, UNCOMMITTED, Librdkafka, Seen
from tests.conformance.drawn_batches import CASES, drawn_rows
from tests.conformance.drawn_logs import (
    NOW_MS,
    drawn_log,
    drawn_message_log,
    log_of_transactions,
    seen_rows,
)
from tests.conformance.drawn_message_sets import CASES as MESSAGE_SET_CASES
from tests.conformance.one_partition import Log
from tests.conformance.one_partition_server import OnePartitionServer

COUNT: Final = 100
FETCH_BYTES: Final = 10_000
"""Less than many batches have, so that answers end within one."""
FETCH_VERSION_MAX: Final = 16
"""The newest that this librdkafka speaks."""
LEVELS: Final = {
    Codec.GZIP: range(1, 10),
    Codec.LZ4: range(1, 18),
    Codec.ZSTD: (-131072, -100, -7, -1, *range(1, 23)),
}
BIG_BYTES: Final = 3 << 20


def as_shown(message: Seen) -> Seen:
    """A message of a set as librdkafka shows it, to which the time 0 is none."""
    if message.timestamp:
        return message
    return message._replace(timestamp_type=NO_TIMESTAMP_TYPE, timestamp=NO_TIMESTAMP)


@pytest.mark.parametrize(("codec", "level"), CASES)
def test_batches_are_read(librdkafka: Librdkafka, codec: Codec, level: int | None) -> None:
    log, expected = drawn_log(codec, level, COUNT)
    with OnePartitionServer(log) as server:
        assert librdkafka.read(server, max_partition_fetch_bytes=FETCH_BYTES) == expected


@pytest.mark.parametrize(("magic", "codec", "stamp"), MESSAGE_SET_CASES)
def test_message_sets_are_read(
    librdkafka: Librdkafka, magic: int, codec: Codec, stamp: int | None
) -> None:
    log, records = drawn_message_log(magic, codec, stamp, COUNT)
    with OnePartitionServer(log) as server:
        read = librdkafka.read(server, max_partition_fetch_bytes=FETCH_BYTES)
    assert read == [as_shown(one) for one in records]


@pytest.mark.parametrize("codec", Codec)
def test_a_big_batch_is_read(librdkafka: Librdkafka, codec: Codec) -> None:
    rows: list[Row] = [
        (offset, NOW_MS, b"%d" % offset, bytes([offset % 256]) * 1000, ())
        for offset in range(BIG_BYTES // 1000)
    ]
    batch = bytes(write_batch(rows, BatchOptions(codec=codec)))
    with OnePartitionServer(Log(batch, len(rows))) as server:
        assert librdkafka.read(server) == seen_rows(rows, None)


@pytest.mark.parametrize("codec", LEVELS)
def test_every_level_is_read(librdkafka: Librdkafka, codec: Codec) -> None:
    data, expected = bytearray(), list[Seen]()
    for index, level in enumerate(LEVELS[codec]):
        rows = drawn_rows(Random(index), 10_000_000 * index)
        data += write_batch(rows, BatchOptions(10_000_000 * index, codec=codec, level=level))
        expected += seen_rows(rows, None)
    with OnePartitionServer(Log(bytes(data), expected[-1].offset + 1)) as server:
        assert librdkafka.read(server) == expected


@pytest.mark.parametrize("magic", [0, 1, 2])
def test_damage_is_noticed(librdkafka: Librdkafka, magic: int) -> None:
    """The checksums that it found right above were looked at."""
    if magic == 2:
        data = write_batch([(0, NOW_MS, b"key", b"value", ())], BatchOptions())
        data[-2] ^= 1
    else:
        data = bytearray(write_message_set(magic, Codec.NONE, [(0, NOW_MS, b"key", b"value")]))
        data[-1] ^= 1
    log = Log(bytes(data), 1)
    with OnePartitionServer(log) as server, pytest.raises(AssertionError, match="BAD_MSG"):
        librdkafka.read(server)


@pytest.mark.parametrize("codec", Codec)
def test_transactions_are_read(librdkafka: Librdkafka, codec: Codec) -> None:
    log, became = log_of_transactions(codec)
    with OnePartitionServer(log) as server:
        read = librdkafka.read(server, isolation_level=COMMITTED)
        assert [one.offset for one in read] == became["committed"]
        read = librdkafka.read(server, isolation_level=UNCOMMITTED)
        assert [one.offset for one in read] == sorted(chain(*became.values()))


@pytest.mark.parametrize("version", range(FETCH_VERSION_MAX + 1))
def test_every_version_of_fetch_is_understood(librdkafka: Librdkafka, version: int) -> None:
    """Each with the newest format that a broker of its time would send."""
    if version < 4:
        log, records = drawn_message_log(min(version // 2, 1), Codec.GZIP, None, 20)
        expected = [as_shown(one) for one in records]
    else:
        log, expected = drawn_log(Codec.GZIP, None, 20)
    with OnePartitionServer(log, {"Fetch": version}) as server:
        assert librdkafka.read(server) == expected
        assert server.partition.versions["Fetch"] == {version}
