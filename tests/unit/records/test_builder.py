"""Writing batches, and what cannot be written."""

from typing import Any

import pytest

from ottla.kernels.faults import InvalidValue, Truncated, Unencodable
from ottla.records.batch import HEADER_BYTES, BatchHeader, batch_at
from ottla.records.builder import BatchBuilder, BatchOptions, write_batch, write_empty_batch
from ottla.records.control import ControlKey, EndMarker
from ottla.records.reader import read_records
from ottla.records.rebuild import OpenBatch, recompress
from tests.unit.records.samples import INFLATED_BYTES_MAX, T, batch


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ((0, T, "key", None, []), "not str"),
        ((0, T, None, 7, []), "not int"),
        ((0, T, None, None, [(b"name", None)]), "a string, not bytes"),
        ((0, T, None, None, [("name", "value")]), "not str"),
        ((0, T, None, None, [("\ud800", None)]), "no UTF-8"),
        ((0, 2**63, None, None, []), "does not fit 64 bits"),
        ((-1, T, None, None, []), "does not rise"),
        ((2**31, T, None, None, []), "too far from the base"),
        ((0.5, T, None, None, []), "whole numbers"),
        (("0", T, None, None, []), "whole numbers"),
        ((0, None, None, None, []), "whole numbers"),
        ((0, T, None, None, 5), "no record: .* not iterable"),
        ((0, T, None, None, ["name"]), "no record: "),
        ((0, T, None, None), "no record: "),
    ],
)
def test_what_no_record_holds_is_named(row: Any, why: str) -> None:
    with pytest.raises(Unencodable, match=why) as caught:
        write_batch([row], BatchOptions())
    assert caught.value.place == "records[0]"


def test_the_record_at_fault_is_named() -> None:
    with pytest.raises(Unencodable, match=r"records\[1\]: offset 0 does not rise"):
        write_batch([(0, T, None, None, [])] * 2, BatchOptions())


def test_a_batch_has_records() -> None:
    with pytest.raises(Unencodable, match="no records"):
        write_batch([], BatchOptions())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("producer_id", 1 << 63),
        ("producer_epoch", 1 << 15),
        ("base_sequence", 1 << 31),
        ("partition_leader_epoch", "1"),
        ("append_timestamp", 1 << 63),
        ("codec", 5),
    ],
)
def test_what_no_header_holds_is_refused(name: str, value: Any) -> None:
    options = BatchOptions(**{name: value})
    with pytest.raises(Unencodable):
        write_batch([(0, T, None, None, [])], options)


def test_keys_are_hashed_and_a_missing_one_is_zeros() -> None:
    rows = [(0, T, b"k", None, []), (1, T, None, None, []), (2, T, b"k", None, [])]
    hashes = OpenBatch(write_batch(rows), 0).key_hashes(bytes(16))
    assert hashes[:16] == hashes[32:] != bytes(16)
    assert hashes[16:32] == bytes(16)


def test_an_empty_batch_has_nothing_to_decompress() -> None:
    written = write_empty_batch(BatchOptions(base_offset=3, codec=1), 5)
    assert BatchHeader.parse(written).codec == 0
    assert list(read_records(written, 0)) == []


def test_any_buffer_is_a_value() -> None:
    written = write_batch([(0, T, bytearray(b"k"), memoryview(b"v"), [])], BatchOptions())
    (record,) = read_records(written, 0)
    assert (record.key, record.value) == (b"k", b"v")


def test_views_are_of_the_batch_itself() -> None:
    written = bytes(batch(1))
    (record,) = read_records(written, 0, as_views=True)
    assert isinstance(record.value, memoryview)
    assert record.value.obj is written


def test_a_reader_goes_on_over_many_records() -> None:
    written = batch(1000, BatchOptions(base_offset=7, codec=3))
    offsets = [record.offset for record in read_records(written, INFLATED_BYTES_MAX)]
    assert offsets == list(range(7, 1007))


@pytest.mark.parametrize(("sequence", "last"), [(-1, -1), (0, 2), (2**31 - 2, 0), (2**31 - 1, 1)])
def test_sequences_wrap(sequence: int, last: int) -> None:
    assert BatchHeader.parse(batch(3, BatchOptions(base_sequence=sequence))).last_sequence == last


def test_a_builder_fills_up_and_never_passes_its_size() -> None:
    builder = BatchBuilder(BatchOptions(base_offset=5), bytes_max=2000)
    taken = 0
    while builder.append(T + taken, b"k" * 10, b"v" * 100, [("name", b"x" * 20)]):
        taken += 1
    written = builder.build()
    assert 5 < taken == BatchHeader.parse(written).records_count
    assert len(written) <= builder.size_bytes_max <= 2000
    assert BatchHeader.parse(written).last_offset == 5 + taken - 1


def test_the_largest_overheads_are_counted() -> None:
    builder = BatchBuilder(BatchOptions(), bytes_max=1)
    assert builder.append(0, bytes(2**20), bytes(2**20), [("n", bytes(2**20))])
    assert not builder.append(0, None, None)
    builder.rows.append((2**31 - 1, -(2**63), b"", b"", []))
    written = builder.build()
    assert len(written) <= builder.size_bytes_max + 36


def test_a_builder_extends_as_long_as_there_is_room() -> None:
    builder = BatchBuilder(BatchOptions(), bytes_max=HEADER_BYTES + 100)
    assert builder.extend([(T, None, b"v")] * 9) == 2
    assert len(builder.rows) == 2


def test_headers_are_checked_where_they_are_parsed() -> None:
    sent = bytes(batch())
    with pytest.raises(Truncated):
        BatchHeader.parse(sent[:60])
    with pytest.raises(Truncated):
        BatchHeader.parse(sent, -1)
    with pytest.raises(InvalidValue, match="magic 1"):
        BatchHeader.parse(sent[:16] + b"\1" + sent[17:])
    with pytest.raises(InvalidValue, match="a batch of 48 bytes"):
        BatchHeader.parse(bytes(11) + b"\x30" + sent[12:])
    with pytest.raises(Truncated):
        batch_at(sent[:-1])
    assert batch_at(b"xx" + sent + b"yy", 2) == sent


def test_a_reader_wants_one_whole_batch() -> None:
    sent = bytes(batch())
    for wrong in (sent[:-1], sent + b"\0"):
        with pytest.raises(Truncated, match="one whole batch"):
            list(read_records(wrong, 0))


def test_a_batch_is_recompressed_from_what_it_holds() -> None:
    packed = batch(3, BatchOptions(codec=1))
    with pytest.raises(InvalidValue, match="inflated section"):
        recompress(packed, 0)
    assert recompress(packed, 0, inflated=bytes(batch()[61:])) == batch()


def test_a_horizon_does_not_move() -> None:
    first = OpenBatch(batch(), 0).keep(b"\1\1\1", T + 5)
    again = OpenBatch(first, 0).keep(b"\1\1\1", T + 99)
    assert BatchHeader.parse(again).delete_horizon_ms == T + 5
    assert [record.timestamp for record in read_records(again, 0)] == [T, T + 1, T + 2]


@pytest.mark.parametrize("parse", [ControlKey.parse, EndMarker.parse])
def test_control_bytes_may_grow_but_not_shrink(parse: Any) -> None:
    assert parse(b"\0\1\0\0\0\7\7\7")[0] == 1
    for short in (None, b"", b"\0\0\0"):
        with pytest.raises(Truncated):
            parse(short)
    with pytest.raises(InvalidValue, match="version -1"):
        parse(b"\xff\xff\0\0\0\0")
