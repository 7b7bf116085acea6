"""Finding batches, and records by time."""

from zlib import crc32

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded
from ottla.records.builder import BatchOptions, write_batch, write_empty_batch
from ottla.records.check import check_copied, entry_checksum
from ottla.records.compression import Codec
from ottla.records.message_set import write_message_set
from ottla.records.scan import BatchRow, Place, Stop, TimedOffset, find_offset, find_record, scan
from ottla.records.scan import find_timestamp as find_by_time
from tests.unit.records.samples import T, batch, with_header

SIZE = len(batch(3))
RUN = b"".join(batch(3, BatchOptions(base_offset=at)) for at in (0, 10, 20))


def message(offset: int, magic: int, timestamp: int = 0) -> bytes:
    """A message of an old format without key and value."""
    body = bytes([magic, 0]) + (timestamp.to_bytes(8, "big") if magic else b"") + b"\xff" * 8
    whole = crc32(body).to_bytes(4, "big") + body
    return offset.to_bytes(8, "big") + len(whole).to_bytes(4, "big") + whole


def test_rows_say_what_headers_say() -> None:
    options = BatchOptions(
        base_offset=10,
        partition_leader_epoch=3,
        producer_id=2**40,
        producer_epoch=9,
        base_sequence=5,
        is_transactional=True,
    )
    sent = batch(3, options)
    found = scan(b"xx" + sent, 2)
    crc = int.from_bytes(sent[17:21], "big")
    row = BatchRow(2, len(sent), 2, 16, 10, 12, T, T + 2, 2**40, 9, 5, 3, 3, crc)
    assert found == ([row], 2 + len(sent), Stop.END)


def test_messages_of_old_formats_are_rows_too() -> None:
    mixed = message(1, 0) + message(2, 1, T) + batch(3, BatchOptions(base_offset=3))
    found = check_copied(mixed)
    assert [row.magic for row in found.rows] == [0, 1, 2]
    assert [row.max_timestamp for row in found.rows] == [-1, T, T + 2]
    assert [row.last_offset for row in found.rows] == [1, 2, 5]
    assert found.stop is Stop.END
    assert all(entry_checksum(mixed, row) == row.crc for row in found.rows)
    assert found.rows[1][8:13] == (-1, -1, -1, -1, -1)


def test_a_walk_goes_on_where_its_rows_were_full() -> None:
    first = scan(RUN, 0, 2)
    assert (len(first.rows), first.end_position, first.stop) == (2, 2 * SIZE, Stop.FULL)
    rest = scan(RUN, first.end_position, 2)
    assert (len(rest.rows), rest.end_position, rest.stop) == (1, 3 * SIZE, Stop.END)
    assert scan(RUN, 0, 3).stop is Stop.FULL
    assert scan(RUN, 0, 0) == ([], 0, Stop.FULL)


def test_a_walk_begins_within_the_bytes() -> None:
    for position in (-1, len(RUN) + 1):
        with pytest.raises(InvalidValue, match="begins outside"):
            scan(RUN, position)
    assert scan(b"").stop is Stop.END
    assert scan(memoryview(b"")).stop is Stop.END


@pytest.mark.parametrize(
    ("tail", "stop"),
    [
        (bytes(100), Stop.LENGTH),
        (bytes(5), Stop.TORN),
        (b"\xff" * 100, Stop.LENGTH),
        (bytes(8) + b"\x7f" + bytes(90), Stop.TORN),
        (bytes(11) + b"\x40" + bytes(4) + b"\x03" + bytes(90), Stop.MAGIC),
        (bytes(11) + b"\x30" + bytes(4) + b"\x02" + bytes(90), Stop.LENGTH),
        (bytes(11) + b"\x15" + bytes(4) + b"\x01" + bytes(90), Stop.LENGTH),
        (batch(3, BatchOptions(base_offset=22)), Stop.ORDER),
        (with_header(batch(), base_offset=-1), Stop.FIELDS),
        (with_header(batch(), base_offset=2**63 - 2), Stop.FIELDS),
        (with_header(batch(), base_offset=99, last_offset_delta=-1), Stop.FIELDS),
        (with_header(batch(), base_offset=99, records_count=-1), Stop.FIELDS),
        (message(-1 % 2**64, 1), Stop.FIELDS),
    ],
)
def test_a_walk_says_where_and_why_it_stops(tail: bytes, stop: Stop) -> None:
    assert scan(RUN + tail)[1:] == (len(RUN), stop)
    assert find_offset(RUN + tail, 2**62) == (len(RUN), 0, stop)


def test_offsets_are_found_or_the_next_after_them() -> None:
    places = {offset: find_offset(RUN, offset) for offset in range(24)}
    for offset, place in places.items():
        if offset > 22:
            assert place == Place(len(RUN), 0, Stop.END)
        else:
            wanted = 0 if offset <= 2 else 1 if offset <= 12 else 2
            assert place == Place(wanted * SIZE, SIZE, Stop.FOUND)
    assert find_offset(RUN, 0, SIZE).position == SIZE


def test_times_are_found_by_header_then_by_record() -> None:
    times = [(0, T + 5), (1, T + 1), (2, T + 9)]
    sent = write_batch([(o, t, None, None, []) for o, t in times], BatchOptions())
    assert find_by_time(sent, T + 10).stop is Stop.END
    assert find_by_time(sent, T + 9) == (0, len(sent), Stop.FOUND)
    assert find_by_time(sent, T, offset_min=3).stop is Stop.END
    assert find_record(sent, T, 0, 0) == TimedOffset(0, T + 5)
    assert find_record(sent, T, 1, 0) == TimedOffset(1, T + 1)
    assert find_record(sent, T + 6, 0, 0) == TimedOffset(2, T + 9)
    assert find_record(sent, T + 10, 0, 0) is None
    assert find_record(sent, T, 3, 0) is None


def test_compressed_records_are_found_by_time_within_a_limit() -> None:
    sent = batch(100, BatchOptions(codec=1, base_offset=50))
    assert find_record(sent, T + 70, 0, 1 << 20) == TimedOffset(120, T + 70)
    with pytest.raises(LimitExceeded):
        find_record(sent, T + 70, 0, 100)


def test_an_appended_batch_has_one_time() -> None:
    sent = batch(3, BatchOptions(append_timestamp=T + 50))
    assert find_record(sent, T + 10, 1, 0) == TimedOffset(1, T + 50)


def test_empty_batches_hold_offsets_but_no_records() -> None:
    empty = write_empty_batch(BatchOptions(base_offset=5), 9, T)
    assert find_offset(empty, 7) == (0, 61, Stop.FOUND)
    assert find_record(empty, 0, 0, 0) is None


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_a_record_is_found_by_its_time_in_a_wrapper_too(codec: Codec) -> None:
    times = (T + 5, T + 1, T + 9) if codec else (T + 5,)
    rows = [(7 + index, time, b"k", b"v") for index, time in enumerate(times)]
    sent = write_message_set(1, codec, rows)
    assert find_record(sent, T, 0, 1 << 20) == TimedOffset(7, T + 5)
    assert find_record(sent, T + 10, 0, 1 << 20) is None
    if codec:
        assert find_record(sent, T, 8, 1 << 20) == TimedOffset(8, T + 1)
        with pytest.raises(LimitExceeded):
            find_record(sent, T, 0, 10)
    assert find_record(write_message_set(0, codec, rows), 0, 0, 1 << 20) is None
