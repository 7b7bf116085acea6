"""Every column of every kind of batch, and every way to ask for less."""

import datetime as dt
import mmap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from ottla.kernels import arrow
from ottla.kernels.selection import KEY, Selection
from ottla.records.columns import EVERY_ROW, SPARK_COLUMNS, Columns, Shape, Window
from ottla.records.compression import compress
from ottla.records.scratch import Scratch
from tests.unit.kernels.arrow_twin import uncompiled_arrow
from tests.unit.records.batch_bytes import LOG_APPEND_TIME, Batch, Record

EVERYTHING = (*SPARK_COLUMNS, "leaderEpoch", "producerId")

RECORDS = [
    Record(0, 0, b"a", b"first", [(b"trace", b"1"), (b"trace", None), (b"", b"")]),
    Record(1, 5, None, b"no key"),
    Record(3, 2, b"c", None),
    Record(4, -7, b"", b"", [("höhe".encode(), b"\xff")]),
]
BATCH = Batch(RECORDS, base_offset=100, leader_epoch=9, producer_id=77)


def column(name: str, data: bytes, window: Window = EVERY_ROW) -> list[object]:
    """One column of a run, with timestamps as the numbers that they are."""
    table = Columns([name], Shape(timestamp_unit="ms")).table(data, window)
    table.validate(full=True)
    values = table[name]
    return (values.cast("int64") if name == "timestamp" else values).to_pylist()


def test_the_schema_is_that_of_sparks_own_source() -> None:
    pair = pa.struct([("key", pa.string()), ("value", pa.binary())])
    assert Columns(SPARK_COLUMNS).schema == pa.schema(
        [
            ("key", pa.binary()),
            ("value", pa.binary()),
            ("topic", pa.string()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("timestamp", pa.timestamp("us", "UTC")),
            ("timestampType", pa.int32()),
            ("headers", pa.list_(pa.field("element", pair))),
        ]
    )


def test_all_columns_of_a_batch() -> None:
    (batch,) = Columns(EVERYTHING).read(BATCH.written(), topic="orders", partition=3)
    batch.validate(full=True)
    assert batch.column("key").to_pylist() == [b"a", None, b"c", b""]
    assert batch.column("value").to_pylist() == [b"first", b"no key", None, b""]
    assert batch.column("topic").to_pylist() == ["orders"] * 4
    assert batch.column("partition").to_pylist() == [3] * 4
    assert batch.column("offset").to_pylist() == [100, 101, 103, 104]
    assert batch.column("timestampType").to_pylist() == [0] * 4
    assert batch.column("leaderEpoch").to_pylist() == [9] * 4
    assert batch.column("producerId").to_pylist() == [77] * 4
    assert batch.column("timestamp")[1].as_py() == dt.datetime(
        1970, 1, 1, 0, 0, 1, 5000, tzinfo=dt.UTC
    )


def test_headers_may_repeat_be_empty_or_null_and_none_at_all_is_null() -> None:
    assert column("headers", BATCH.written()) == [
        [
            {"key": "trace", "value": b"1"},
            {"key": "trace", "value": None},
            {"key": "", "value": b""},
        ],
        None,
        None,
        [{"key": "höhe", "value": b"\xff"}],
    ]


def test_header_keys_that_are_not_utf8_are_made_readable() -> None:
    records = [Record(headers=[(b"\xffx", b"v"), (b"fine", None)])]
    assert column("headers", Batch(records).written()) == [
        [{"key": "\ufffdx", "value": b"v"}, {"key": "fine", "value": None}]
    ]


def test_more_headers_than_there_was_room_for() -> None:
    headers = [(b"k%d" % index, bytes(index)) for index in range(1000)]
    records = [Record(0, 0, None, None, headers), Record(1), Record(2, 0, None, None, headers[:3])]
    expected = [{"key": name.decode(), "value": value} for name, value in headers]
    assert column("headers", Batch(records).written()) == [expected, None, expected[:3]]


def test_timestamps_of_the_producer_and_of_the_log() -> None:
    assert column("timestamp", BATCH.written()) == [1000, 1005, 1002, 993]
    stamped = Batch(RECORDS, attributes=LOG_APPEND_TIME, max_timestamp=5000).written()
    assert column("timestamp", stamped) == [5000] * 4
    assert column("timestampType", stamped + BATCH.written()) == [1] * 4 + [0] * 4


def test_timestamps_wrap_around_as_in_java() -> None:
    last = (1 << 63) - 1
    batch = Batch([Record(timestamp_delta=1)], base_timestamp=last, max_timestamp=last).written()
    assert column("timestamp", batch) == [-last - 1]
    latest = Batch(base_timestamp=last).written()
    assert column("timestamp", latest) == [last]
    assert column("timestamp", latest, Window(end_timestamp=last - 1)) == []


def test_a_batch_that_compaction_emptied_has_no_rows() -> None:
    empty = Batch([], 200, last_offset_delta=9).written()
    assert column("offset", BATCH.written() + empty + BATCH.written()) == [100, 101, 103, 104] * 2
    assert column("offset", empty) == []
    assert column("offset", b"") == []


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_compressed_batches_are_as_uncompressed_ones(codec: int) -> None:
    records = [Record(index, index, b"%d" % index, bytes(1000)) for index in range(300)]
    plain = Batch(records, attributes=0).written()
    packed = Batch(records, attributes=codec, compress=lambda data: compress(codec, data)).written()
    columns = Columns(EVERYTHING)
    expected = columns.table(plain + BATCH.written() + plain)
    assert columns.table(packed + BATCH.written() + packed).equals(expected)
    assert len(packed) < len(plain) / 10


def test_fewer_columns_do_not_change_the_others() -> None:
    data = BATCH.written() + Batch(RECORDS, attributes=LOG_APPEND_TIME).written()
    whole = Columns(EVERYTHING).table(data)
    for subset in range(1 << len(EVERYTHING)):
        names = [name for index, name in enumerate(EVERYTHING) if subset >> index & 1]
        some = Columns(names).table(data)
        assert some.equals(whole.select(names)), names


def test_no_columns_still_count_rows() -> None:
    data = BATCH.written() * 3
    assert [batch.num_rows for batch in Columns([]).read(data)] == [12]
    pieces = Columns([], Shape(rows_max=5)).read(data)
    assert [batch.num_rows for batch in pieces] == [5, 5, 2]
    assert [batch.num_rows for batch in Columns([]).read(data, Window(start_offset=103))] == [6]
    assert Columns(["topic"]).table(data).num_rows == 12


def test_offsets_within_a_window() -> None:
    data = BATCH.written() + Batch(RECORDS, 105).written()
    assert column("offset", data, Window(103, 106)) == [103, 104, 105]
    assert column("value", data, Window(103, 106)) == [None, b"", b"first"]
    assert column("offset", data, Window(102, 102)) == []
    assert column("offset", data, Window(start_offset=109)) == [109]
    assert column("offset", data, Window(start_offset=110)) == []
    assert column("producerId", data, Window(104, 106)) == [77, -1]


def test_timestamps_within_a_window() -> None:
    data = BATCH.written() + Batch(RECORDS, 200, base_timestamp=2000).written()
    within = Window(start_timestamp=1000, end_timestamp=2002)
    assert column("offset", data, within) == [100, 101, 103, 200, 204]
    assert column("timestampType", data, within) == [0] * 5
    assert column("offset", data, Window(start_timestamp=2006)) == []


def test_what_is_outside_the_window_is_not_even_checked() -> None:
    broken = bytearray(BATCH.written())
    broken[-1] ^= 1
    later = Batch(RECORDS, 200, base_timestamp=2000).written()
    assert column("offset", broken + later, Window(start_offset=105)) == [200, 201, 203, 204]
    assert column("offset", later + broken, Window(start_timestamp=1500)) == [200, 201, 203, 204]
    assert column("offset", broken, Window(end_offset=100)) == []


def test_pieces_end_at_rows_or_bytes() -> None:
    records = [Record(index, 0, b"k" * 10, b"v" * 90) for index in range(10)]
    data = Batch(records).written()
    columns = ["key", "value", "offset"]

    def sizes(shape: Shape) -> list[int]:
        assert offsets(Columns(columns, shape).read(data)) == [*range(10)]
        return [batch.num_rows for batch in Columns(columns, shape).read(data)]

    assert sizes(Shape()) == [10]
    assert sizes(Shape(rows_max=4)) == [4, 4, 2]
    assert sizes(Shape(bytes_max=300)) == [3, 3, 3, 1]
    assert sizes(Shape(bytes_max=299)) == [2] * 5
    assert sizes(Shape(bytes_max=1)) == [1] * 10


@pytest.mark.parametrize("kernel", [arrow, uncompiled_arrow()])
def test_a_small_piece_takes_an_empty_key(kernel: ModuleType) -> None:
    data = Batch([Record(key=b"")]).written()
    wanted = Selection(columns=KEY, bytes_max=1)
    run = kernel.Run(data, wanted, None, Scratch().decompress, [])
    assert run.fill() == 1
    assert run.take()["key"] == (0, None, bytearray(8), bytearray())


def test_more_rows_than_there_was_room_for_at_first() -> None:
    count = 20_000
    records = [Record(index, index, None if index % 3 else b"k") for index in range(count)]
    shape = Shape(rows_max=1 << 20, bytes_max=1 << 30)
    (batch,) = Columns(EVERYTHING, shape).read(Batch(records).written())
    batch.validate(full=True)
    assert batch.column("offset").to_pylist() == [*range(count)]
    assert batch.column("key").to_pylist() == [record.key for record in records]
    assert batch.column("headers").null_count == count


def test_large_columns_hold_the_same() -> None:
    large = Columns(EVERYTHING, Shape(large=True)).table(BATCH.written())
    large.validate(full=True)
    assert large.schema.field("value").type == pa.large_binary()
    assert large.to_pylist() == Columns(EVERYTHING).table(BATCH.written()).to_pylist()


def test_a_shape_that_32_bits_cannot_count_must_be_large() -> None:
    with pytest.raises(ValueError, match="2 GiB"):
        Columns(["value"], Shape(bytes_max=1 << 31)).read(b"")
    Columns(["value"], Shape(bytes_max=1 << 31, large=True)).read(b"")
    with pytest.raises(ValueError, match="no headers"):
        Columns(["headers"], Shape(bytes_max=1 << 31, large=True)).read(b"")
    with pytest.raises(ValueError, match="at least one row"):
        Columns(["value"], Shape(rows_max=0)).read(b"")


@pytest.mark.parametrize("names", [["size"], ["key", "key"]])
def test_columns_must_be_known_and_named_once(names: list[str]) -> None:
    with pytest.raises(ValueError, match="each once"):
        Columns(names)


def test_columns_outlive_what_they_were_read_from(tmp_path: Path) -> None:
    path = tmp_path / "0.log"
    path.write_bytes(BATCH.written())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        table = Columns(["key", "value"]).table(memoryview(mapped))
    assert table["value"].to_pylist() == [b"first", b"no key", None, b""]


def test_a_run_that_is_cut_off_ends_before_the_cut() -> None:
    whole = BATCH.written()
    for length in range(len(whole)):
        reading = Columns(["offset"]).read(whole + whole[:length])
        assert offsets(reading) == [100, 101, 103, 104]
        assert reading.position == len(whole)


def offsets(batches: Iterator[pa.RecordBatch]) -> list[object]:
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]
