"""Bytes that are wrong: a typed fault that names the place, after the rows before it."""

from types import ModuleType

import pytest

from ottla.kernels import arrow
from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated
from ottla.kernels.selection import HEADERS, Selection
from ottla.records import columns as face
from ottla.records.columns import SPARK_COLUMNS, Columns, Shape
from ottla.records.compression import RATIO_FREE_BYTES, compress
from ottla.records.scratch import Scratch
from tests.costs import calls
from tests.unit.kernels.arrow_twin import uncompiled_arrow
from tests.unit.records.batch_bytes import Batch, Record, nullable, with_section, zigzag

ALL = Columns(SPARK_COLUMNS)
GOOD = Batch([Record(0), Record(1)])


def record(body: bytes) -> bytes:
    return zigzag(len(body)) + body


def failing(data: bytes, columns: Columns = ALL) -> Malformed:
    with pytest.raises(Malformed) as caught:
        columns.table(data)
    return caught.value


HEADERLESS = b"\0" + zigzag(0) * 2 + nullable(b"k") + nullable(b"v")


@pytest.mark.parametrize(
    ("section", "fault", "reason"),
    [
        (zigzag(-1) + bytes(20), Truncated, "longer than what holds it"),
        (zigzag(1 << 30) + bytes(20), Truncated, "longer than what holds it"),
        (b"\xff" * 20, InvalidValue, "varint"),
        (record(b"\0" + b"\xff" * 10 + bytes(9)), InvalidValue, "varint"),
        (record(b"\0" + zigzag(0) + zigzag(-1) + bytes(9)), InvalidValue, "outside its batch"),
        (record(b"\0" + zigzag(0) + zigzag(1) + bytes(9)), InvalidValue, "outside its batch"),
        (record(b"\0" + zigzag(0) * 2 + zigzag(9) + bytes(8)), Truncated, "a field of it"),
        (record(b"\0" + zigzag(0) * 3 + zigzag(9) + bytes(8)), Truncated, "a field of it"),
        (record(HEADERLESS), Truncated, "a field of it"),
        (record(HEADERLESS + zigzag(-1)), InvalidValue, "headers"),
        (record(HEADERLESS + zigzag(2) + b"\0"), InvalidValue, "headers"),
        (record(HEADERLESS + zigzag(1) + nullable(None) * 2), InvalidValue, "headers"),
        (record(HEADERLESS + zigzag(1) + b"\2" + b"x" + b"\4"), Truncated, "a field of it"),
        (record(HEADERLESS + zigzag(0) + b"x"), InvalidValue, "headers"),
        (Record().written() + b"x", InvalidValue, "left after the batch's last record"),
        (bytes(6), Truncated, "1 records cannot be"),
    ],
)
def test_a_section_that_lies(section: bytes, fault: type[Malformed], reason: str) -> None:
    found = failing(GOOD.written() + with_section(Batch(last_offset_delta=0), section))
    assert type(found) is fault
    assert reason in str(found)
    assert found.position >= len(GOOD.written())


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (Batch(base_offset=-1), "negative offset"),
        (Batch(last_offset_delta=-1), "negative offset"),
        (Batch(base_offset=(1 << 63) - 1), "more than 63 bits"),
        (Batch(record_count=-1), "-1 records"),
        (Batch(record_count=2), "2 records"),
        (Batch(record_count=1 << 30, last_offset_delta=1 << 30), "cannot be in the batch"),
        (Batch(attributes=5), "codec 5"),
        (Batch(attributes=3), "lz4"),
    ],
)
def test_a_header_that_lies(batch: Batch, reason: str) -> None:
    assert reason in str(failing(GOOD.written() + batch.written()))


@pytest.mark.parametrize(
    ("at", "byte", "reason"),
    [
        (8, 0xFF, "a batch of -"),
        (11, 13, "a batch of 13 bytes"),
        (11, 48, "a batch of 48 bytes"),
        (16, 1, "magic 1"),
        (17, 0, "checksum"),
        (70, 0, "checksum"),
    ],
)
def test_a_byte_that_is_wrong(at: int, byte: int, reason: str) -> None:
    data = bytearray(GOOD.written())
    assert data[at] != byte
    data[at] = byte
    assert reason in str(failing(bytes(data)))


def test_checksums_can_be_left_out() -> None:
    data = bytearray(GOOD.written())
    data[17] ^= 1
    assert Columns(["key"], check_crcs=False).table(bytes(data))["key"].to_pylist() == [b"key"] * 2


def test_the_rows_before_a_fault_come_first() -> None:
    sections = [Record(0).written(), Record(1).written(), b"\xff" * 9, Record(3).written()]
    broken = with_section(Batch([Record(3)] * 4, base_offset=10), b"".join(sections))
    reading = ALL.read(GOOD.written() + broken)
    assert next(reading)["offset"].to_pylist() == [0, 1, 10, 11]
    for _ in range(2):
        with pytest.raises(InvalidValue, match=r"records\[2\] at byte \d+: a varint .* offset 10"):
            next(reading)
        assert reading.position == len(GOOD.written())


def test_a_timestamp_beyond_microseconds_is_a_fault_only_where_it_is_wanted() -> None:
    nanoseconds = Batch(base_timestamp=1_700_000_000_000_000_000).written()
    assert "does not fit the wanted unit" in str(failing(nanoseconds))
    assert Columns(["key"]).table(nanoseconds).num_rows == 1
    milliseconds = Columns(["timestamp"], Shape(timestamp_unit="ms")).table(nanoseconds)
    assert milliseconds["timestamp"].cast("int64").to_pylist() == [1_700_000_000_000_000_000]


def test_the_scratch_grows_for_what_comes_out_and_no_further() -> None:
    scratch = Scratch()
    for size in (10, 1 << 20, 100, RATIO_FREE_BYTES):
        content = bytes(range(256)) * (size // 256)
        assert scratch.decompress(3, compress(3, content), 1 << 28) == content
    assert len(scratch._held) <= 2 * RATIO_FREE_BYTES
    with pytest.raises(LimitExceeded):
        scratch.decompress(4, compress(4, bytes(1 << 20)), (1 << 20) - 1)
    fresh = Scratch()
    with pytest.raises(InvalidValue):
        fresh.decompress(3, b"no lz4 frame" * 100, 1 << 28)
    assert len(fresh._held) == 1 << 16


def test_what_a_batch_may_hold_is_for_the_caller_to_say() -> None:
    batch = Batch([Record(value=bytes(1000))], attributes=1, compress=lambda raw: compress(1, raw))
    refused = failing(batch.written(), Columns(["value"], inflated_bytes_max=900))
    assert isinstance(refused, LimitExceeded)
    taken = Columns(["value"], inflated_bytes_max=1100).table(batch.written())
    assert taken["value"].to_pylist() == [bytes(1000)]


def test_neither_records_nor_batches_cost_python_calls() -> None:
    def run(batches: int, records: int) -> bytes:
        return Batch([Record(index) for index in range(records)]).written() * batches

    shape = Shape(rows_max=1 << 20, bytes_max=1 << 30)
    columns = Columns(SPARK_COLUMNS, shape)
    few, records, batches = run(1, 1), run(1, 5000), run(1000, 5)
    expected = calls(lambda: columns.table(few), face.__file__)
    assert 0 < expected < 100
    assert calls(lambda: columns.table(records), face.__file__) == expected
    assert calls(lambda: columns.table(batches), face.__file__) == expected


@pytest.mark.parametrize("kernel", [arrow, uncompiled_arrow()])
def test_headers_without_bytes_fill_a_piece_too(kernel: ModuleType) -> None:
    """Each takes two bytes of a batch, which may be compressed, and four times that in columns."""
    record = Record(headers=[(b"", None)] * 1000)
    batch = Batch([record], attributes=1, compress=lambda raw: compress(1, raw)).written()
    wanted = Selection(columns=HEADERS, bytes_max=20_000)
    run = kernel.Run(batch * 10, wanted, None, Scratch().decompress, [])
    assert [run.fill() for _ in range(6)] == [2, 2, 2, 2, 2, 0]
