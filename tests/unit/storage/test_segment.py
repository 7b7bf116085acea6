"""A segment against a list: what was appended is found by offset and time, cut and recovered."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.ports import File
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.check import check_copied
from ottla.records.scan import BatchRow, Stop
from ottla.runtime.disk import SystemDisk
from ottla.storage.handles import Handles
from ottla.storage.segment import Segment, SegmentOptions
from ottla.storage.time_index import TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction
from tests.unit.records.samples import T

OPTIONS = SegmentOptions(index_interval_bytes=200)


def opened(folder: Path, base_offset: int = 100) -> Segment:
    handles = Handles(SystemDisk(), 8)
    return Segment(handles, str(folder / f"{base_offset:020}"), base_offset, OPTIONS)


class Replayed:
    """The batches that recovery replayed, which are those that a history must know of."""

    def __init__(self) -> None:
        self.rows: list[BatchRow] = []

    def __call__(self, data: memoryview, rows: Sequence[BatchRow]) -> Sequence[AbortedTransaction]:
        assert data[rows[0].position + 16] == rows[0].magic
        self.rows += rows
        return ()


def written_file(segment: Segment) -> File:
    found = segment.read(segment.base_offset, 1)
    assert found is not None
    return found.file


def append(segment: Segment, data: bytes | bytearray) -> list[BatchRow]:
    rows = check_copied(data).rows
    segment.append([data], rows)
    return rows


def batch(offset: int, count: int, timestamp: int, codec: int = 0) -> bytearray:
    rows = [(offset + at, timestamp + at, b"k", b"v" * 40, []) for at in range(count)]
    return write_batch(rows, BatchOptions(base_offset=offset, codec=codec))


def filled(segment: Segment, seed: int) -> list[tuple[int, int, bytes]]:
    """Append batches with gaps between offsets and times that go up and down."""
    chance = random.Random(seed)
    written = []
    offset = segment.base_offset
    for _ in range(60):
        offset += chance.randrange(3)
        count = chance.randrange(1, 4)
        timestamp = T + chance.randrange(1000)
        data = batch(offset, count, timestamp, chance.choice([0, 0, 1]))
        written.append((offset, offset + count - 1, bytes(data)))
        append(segment, data)
        offset += count
    return written


@pytest.mark.parametrize("seed", range(5))
def test_any_offset_is_read_from_the_batch_that_holds_it(tmp_path: Path, seed: int) -> None:
    segment = opened(tmp_path)
    written = filled(segment, seed)
    for offset in range(100, written[-1][1] + 1):
        expected = next(data for _, last, data in written if last >= offset)
        found = segment.read(offset, 1)
        assert found is not None
        assert found.file.read(found.position, found.size_bytes) == expected
    assert segment.read(written[-1][1] + 1, 1) is None


def test_a_read_is_bounded_but_brings_the_first_batch_whole(tmp_path: Path) -> None:
    segment = opened(tmp_path)
    written = filled(segment, 1)
    first = len(written[0][2])
    assert segment.read(100, first + 7) == (written_file(segment), 0, first + 7)
    assert segment.read(100, 0) == (written_file(segment), 0, first)
    assert segment.read(100, 1 << 30) == (written_file(segment), 0, segment.size_bytes)
    assert segment.read(100, 1 << 30, end_position=50) == (written_file(segment), 0, 50)


@pytest.mark.parametrize("seed", range(5))
def test_a_time_is_found_at_its_first_record(tmp_path: Path, seed: int) -> None:
    segment = opened(tmp_path)
    records = []
    chance = random.Random(seed)
    for at in range(50):
        offset = 100 + 3 * at
        timestamp = T + chance.randrange(1000)
        append(segment, batch(offset, 3, timestamp, chance.choice([0, 4])))
        records += [TimestampOffset(timestamp + step, offset + step) for step in range(3)]
    for timestamp in range(T - 1, T + 1003, 9):
        for offset_min in (0, 160):
            expected = [one for one in records if one[0] >= timestamp and one[1] >= offset_min]
            assert segment.find_timestamp(timestamp, offset_min) == (expected or [None])[0]


@pytest.mark.parametrize("cut", [100, 101, 140, 180, 5000])
def test_a_cut_takes_the_batch_that_holds_the_offset(tmp_path: Path, cut: int) -> None:
    segment = opened(tmp_path)
    written = filled(segment, 3)
    kept = b"".join(data for _, last, data in written if last < cut)
    gone = segment.size_bytes - len(kept)
    assert segment.truncate_to(cut) == gone
    assert (tmp_path / f"{100:020}.log").read_bytes() == kept
    again = append(segment, batch(6000, 1, T))
    assert segment.read(6000, 1) == (written_file(segment), len(kept), again[0].size_bytes)


@pytest.mark.parametrize("seed", range(5))
def test_recovery_makes_the_same_indexes_anew(tmp_path: Path, seed: int) -> None:
    segment = opened(tmp_path)
    written = filled(segment, seed)
    segment.seal()
    segment.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for path in tmp_path.glob("*index"):
        path.write_bytes(b"lies")
    again = opened(tmp_path)
    replayed = Replayed()
    assert again.recover(replayed) == (0, Stop.END)
    again.seal()
    ends = (written[0], written[-1])
    assert [(row.base_offset, row.last_offset) for row in replayed.rows] == [
        (first, last) for first, last, _ in ends
    ]
    assert again.next_offset() == written[-1][1] + 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_recovery_cuts_at_the_first_bad_byte(tmp_path: Path) -> None:
    segment = opened(tmp_path)
    written = filled(segment, 2)
    data = written_file(segment).read(0, 1 << 20)
    segment.close()
    path = tmp_path / f"{100:020}.log"
    starts = [sum(len(one) for _, _, one in written[:at]) for at in range(len(written) + 1)]
    chance = random.Random(7)
    for at in (0, 1, 30, 59):
        # The offset and the epoch stand outside the checksum.
        where = starts[at] + chance.choice([16, 20, 25, len(written[at][2]) - 1])
        damaged = bytearray(data)
        damaged[where] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        again = opened(tmp_path)
        replayed = Replayed()
        found = again.recover(replayed)
        assert found.cut_bytes == len(data) - starts[at]
        assert found.stop is not Stop.END
        assert [row.last_offset for row in replayed.rows[-1:]] == [written[at - 1][1]][:at]
        assert again.next_offset() == (written[at - 1][1] + 1 if at else 100)
        assert path.read_bytes() == data[: starts[at]]
        again.close()


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\0" * 3, b"torn"])
def test_recovery_cuts_a_tail_that_is_no_batch(tmp_path: Path, tail: bytes) -> None:
    segment = opened(tmp_path)
    filled(segment, 4)
    segment.close()
    path = tmp_path / f"{100:020}.log"
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    again = opened(tmp_path)
    assert again.recover(Replayed()).cut_bytes == len(tail)
    assert path.read_bytes() == whole


def test_a_batch_larger_than_a_run_is_walked(tmp_path: Path) -> None:
    segment = opened(tmp_path)
    rows = [(100, T, b"k", b"v" * (3 << 20), [])]
    append(segment, write_batch(rows, BatchOptions(base_offset=100)))
    append(segment, batch(101, 1, T))
    assert segment.read(101, 1) is not None
    assert segment.recover(Replayed()) == (0, Stop.END)
