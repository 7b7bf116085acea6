"""Which batches a reader of committed records gets, as a Java consumer would."""

import pytest

from ottla.kernels.faults import InvalidValue, Truncated
from ottla.records.columns import EVERY_ROW, Aborted, Columns, Window
from ottla.records.compression import compress
from tests.unit.records.batch_bytes import (
    CONTROL,
    TRANSACTIONAL,
    Batch,
    Record,
    marker,
    with_section,
)

OFFSETS = Columns(["offset"])


def data(base_offset: int, producer_id: int, attributes: int = TRANSACTIONAL) -> bytes:
    records = [Record(0), Record(1)]
    return Batch(records, base_offset, attributes, producer_id=producer_id).written()


def offsets(run: bytes, *aborted: Aborted, window: Window = EVERY_ROW) -> list[int]:
    table = OFFSETS.table(run, window, aborted)
    return [offset for offset in table["offset"].to_pylist() if offset is not None]


# Producer 1 aborts 0..6 and commits 8..10, producer 2 commits 2..7, producer 3 has no transactions.
LOG = b"".join(
    [
        data(0, 1),
        data(2, 2),
        data(4, 1),
        marker(6, 1, commit=False),
        marker(7, 2, commit=True),
        data(8, 1),
        marker(10, 1, commit=True),
        data(11, 3, attributes=0),
    ]
)


def test_control_batches_are_never_rows() -> None:
    assert offsets(LOG) == [0, 1, 2, 3, 4, 5, 8, 9, 11, 12]
    assert Columns([]).table(LOG).num_rows == 10


def test_an_aborted_transaction_is_left_out_until_its_marker() -> None:
    assert offsets(LOG, Aborted(1, 0)) == [2, 3, 8, 9, 11, 12]
    assert Columns([]).table(LOG, aborted=[Aborted(1, 0)]).num_rows == 6
    assert offsets(LOG, Aborted(1, 0, 6)) == [2, 3, 8, 9, 11, 12]


def test_a_transaction_may_begin_within_the_run() -> None:
    assert offsets(LOG, Aborted(1, 4)) == [0, 1, 2, 3, 8, 9, 11, 12]
    assert offsets(LOG, Aborted(1, 5)) == [0, 1, 2, 3, 8, 9, 11, 12]


def test_the_marker_counts_even_before_the_window() -> None:
    assert offsets(LOG, Aborted(1, 0), window=Window(7)) == [8, 9, 11, 12]
    assert offsets(LOG, Aborted(1, 0), window=Window(1, 9)) == [2, 3, 8]


def test_a_run_without_the_marker_is_cut_by_the_last_offset_alone() -> None:
    tail = data(8, 1) + marker(10, 1, commit=True)
    assert offsets(tail, Aborted(1, 0)) == []
    assert offsets(tail, Aborted(1, 0, 6)) == [8, 9]


def test_transactions_one_after_the_other_in_any_order() -> None:
    run = LOG + data(13, 1) + data(15, 2) + marker(17, 2, commit=False)
    run += marker(18, 1, commit=False) + data(19, 2)
    expected = [2, 3, 8, 9, 11, 12, 19, 20]
    assert offsets(run, Aborted(2, 15), Aborted(1, 0), Aborted(1, 13)) == expected
    assert offsets(run, Aborted(2, 15, 17), Aborted(1, 0, 6), Aborted(1, 13, 18)) == expected


def test_batches_outside_transactions_stay() -> None:
    run = data(0, 1, attributes=0) + data(2, 1) + data(4, -1, attributes=0)
    assert offsets(run, Aborted(1, 0)) == [0, 1, 4, 5]


def test_a_marker_may_be_compressed() -> None:
    zipped = Batch(
        [Record(key=b"\0\0\0\0", value=bytes(6))],
        6,
        CONTROL | TRANSACTIONAL | 1,
        producer_id=1,
        compress=lambda section: compress(1, section),
    )
    run = data(0, 1) + zipped.written() + data(8, 1)
    assert offsets(run, Aborted(1, 0)) == [8, 9]


def test_an_emptied_marker_ends_nothing() -> None:
    emptied = Batch([], 6, CONTROL | TRANSACTIONAL, producer_id=1, last_offset_delta=0)
    run = data(0, 1) + emptied.written() + data(8, 1)
    assert offsets(run, Aborted(1, 0)) == []


def test_a_marker_without_a_type_is_a_fault() -> None:
    batch = Batch([Record()], 6, CONTROL | TRANSACTIONAL, producer_id=1)
    for section in (bytes(7), b"\xff" * 9):
        with pytest.raises(Truncated, match="without a type"):
            offsets(data(0, 1) + with_section(batch, section), Aborted(1, 0))


def test_a_markers_checksum_is_compared() -> None:
    broken = bytearray(marker(6, 1, commit=False))
    broken[-1] ^= 1
    with pytest.raises(InvalidValue, match="checksum"):
        offsets(data(0, 1) + broken, Aborted(1, 0))
