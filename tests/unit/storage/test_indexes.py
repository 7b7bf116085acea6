"""The indexes of a segment: what is found, what is cut, what is refused."""

from pathlib import Path
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.kernels.faults import InvalidValue
from ottla.runtime.disk import SystemDisk
from ottla.storage.handles import Handles
from ottla.storage.offset_index import OffsetIndex, OffsetPosition
from ottla.storage.time_index import TimeIndex, TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction, TransactionIndex

BYTES_MAX = 1 << 20


def offset_index(folder: Path, base_offset: int = 1000, bytes_max: int = BYTES_MAX) -> OffsetIndex:
    return OffsetIndex(Handles(SystemDisk(), 8), str(folder / "1000.index"), base_offset, bytes_max)


def time_index(folder: Path, base_offset: int = 1000, bytes_max: int = BYTES_MAX) -> TimeIndex:
    return TimeIndex(
        Handles(SystemDisk(), 8), str(folder / "1000.timeindex"), base_offset, bytes_max
    )


def test_offset_entries_are_kafkas_bytes(tmp_path: Path) -> None:
    index = offset_index(tmp_path)
    index.append(1005, 4200)
    index.append(1010, 9000)
    index.entries.write()
    assert (tmp_path / "1000.index").read_bytes() == pack(">iiii", 5, 4200, 10, 9000)


def test_an_offset_is_found_at_the_entry_before_it(tmp_path: Path) -> None:
    index = offset_index(tmp_path)
    assert index.find(1003) == OffsetPosition(1000, 0)
    for step in range(1, 2000):
        index.append(1000 + 3 * step, 100 * step)
    for step in (1, 2, 511, 512, 513, 1024, 1998, 1999):
        found = OffsetPosition(1000 + 3 * step, 100 * step)
        assert index.find(1000 + 3 * step) == found
        assert index.find(1001 + 3 * step) == found
    assert index.find(1002) == OffsetPosition(1000, 0)
    assert index.find(1 << 40) == OffsetPosition(1000 + 3 * 1999, 199_900)


def test_nothing_is_opened_before_it_is_needed(tmp_path: Path) -> None:
    assert offset_index(tmp_path).find(5000) == OffsetPosition(1000, 0)
    assert not list(tmp_path.iterdir())


def test_an_index_opens_as_it_was_left(tmp_path: Path) -> None:
    index = offset_index(tmp_path)
    index.append(1005, 4200)
    index.entries.write()
    again = offset_index(tmp_path)
    assert again.last.offset == 1005
    again.append(1006, 8400)
    again.entries.write()
    assert offset_index(tmp_path).find(1006) == OffsetPosition(1006, 8400)


@pytest.mark.parametrize("entries", [0, 1, 2, 7, 600])
def test_zeros_at_the_end_are_no_entries(tmp_path: Path, entries: int) -> None:
    written = b"".join(pack(">ii", step, 4096 * step) for step in range(1, entries + 1))
    (tmp_path / "1000.index").write_bytes(written + bytes(8 * 1000))
    index = offset_index(tmp_path)
    assert len(index.entries) == entries
    index.entries.trim()
    assert (tmp_path / "1000.index").read_bytes() == written


def test_a_first_entry_of_zeros_counts_if_another_follows(tmp_path: Path) -> None:
    (tmp_path / "1000.index").write_bytes(pack(">iiii", 0, 0, 1, 70) + bytes(16))
    assert len(offset_index(tmp_path).entries) == 2


def test_half_an_entry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "1000.index").write_bytes(bytes(12))
    with pytest.raises(InvalidValue, match="12 bytes are no whole entries"):
        offset_index(tmp_path).find(1000)


def test_an_index_is_full_at_its_size(tmp_path: Path) -> None:
    index = offset_index(tmp_path, bytes_max=20)
    index.append(1001, 1)
    assert not index.is_full
    index.append(1002, 2)
    assert index.is_full
    with pytest.raises(AssertionError):
        index.append(1003, 3)


def test_times_rise_and_one_place_is_kept_for_the_roll(tmp_path: Path) -> None:
    index = time_index(tmp_path, bytes_max=36)
    assert index.last == TimestampOffset(-1, 1000)
    index.append(50, 1001)
    index.append(50, 1002)
    index.append(60, 1003)
    assert index.is_full
    index.append(70, 1004)
    index.entries.write()
    assert (tmp_path / "1000.timeindex").read_bytes() == pack(">qiqiqi", 50, 1, 60, 3, 70, 4)
    assert index.find(49) == TimestampOffset(-1, 1000)
    assert index.find(65) == TimestampOffset(60, 1003)
    assert index.find(70) == TimestampOffset(70, 1004)


def test_times_are_cut_by_offset(tmp_path: Path) -> None:
    index = time_index(tmp_path)
    for step in range(5):
        index.append(100 + step, 1000 + 10 * step)
    index.truncate_to(1020)
    assert index.last == TimestampOffset(101, 1010)
    index.truncate_to(1000)
    assert index.last == TimestampOffset(-1, 1000)


@pytest.mark.parametrize("entries", [[(50, 3), (40, 4)], [(50, -1)]])
def test_a_time_index_that_lies_is_refused(tmp_path: Path, entries: list[tuple[int, int]]) -> None:
    data = b"".join(pack(">qi", *entry) for entry in entries)
    (tmp_path / "1000.timeindex").write_bytes(data)
    with pytest.raises(InvalidValue):
        time_index(tmp_path).check()


def transactions(folder: Path) -> TransactionIndex:
    return TransactionIndex(Handles(SystemDisk(), 8), str(folder / "0.txnindex"), 0)


def test_aborted_transactions_that_overlap(tmp_path: Path) -> None:
    index = transactions(tmp_path)
    aborted = [
        AbortedTransaction(1, 0, 10, 5),
        AbortedTransaction(2, 5, 20, 12),
        AbortedTransaction(1, 25, 30, 31),
    ]
    for one in aborted:
        index.append(one)
    assert index.overlapping(0, 4).transactions == aborted[:1]
    assert index.overlapping(11, 24) == (aborted[1:2], True)
    assert index.overlapping(0, 100) == (aborted, False)
    assert index.overlapping(31, 40) == ([], False)
    index.truncate_to(20)
    index.entries.write()
    assert transactions(tmp_path).overlapping(0, 100).transactions == aborted[:1]


def test_a_transaction_index_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0.txnindex").write_bytes(pack(">hqqqq", 1, 1, 2, 3, 4))
    with pytest.raises(InvalidValue, match="entry 0 has version 1"):
        transactions(tmp_path).check()


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.integers(1, 50), max_size=1500),
    targets=st.lists(st.integers(-10, 80_000), min_size=1, max_size=20),
    cut=st.integers(0, 80_000),
)
def test_search_and_cut_are_those_of_a_scan(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int], targets: list[int], cut: int
) -> None:
    index = offset_index(tmp_path_factory.mktemp("index"), base_offset=0)
    entries: list[OffsetPosition] = []
    for step in steps:
        last = entries[-1] if entries else OffsetPosition(0, 0)
        entries.append(OffsetPosition(last.offset + step, last.position + 10 * step))
        index.append(*entries[-1])
    for _ in range(2):
        for target in targets:
            below = [entry for entry in entries if entry.offset <= target]
            assert index.find(target) == (below[-1] if below else OffsetPosition(0, 0))
        index.truncate_to(cut)
        entries = [entry for entry in entries if entry.offset < cut]
