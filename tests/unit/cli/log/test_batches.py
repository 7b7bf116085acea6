"""A walk goes on behind damage: what is good is found, and what is bad is named, wherever it is."""

import random
from pathlib import Path

import pytest

from ottla.cli.log import batches as walk
from ottla.cli.log.batches import Batch, Batches, Damage
from ottla.records.scan import scan
from ottla.runtime.disk import SystemDisk
from tests.unit.cli.log_directory import plain

GOOD = [plain(offset, 3, codec=offset % 2) for offset in range(0, 90, 3)]
STARTS = [sum(map(len, GOOD[:n])) for n in range(len(GOOD))]


def walked(
    tmp_path: Path, data: bytes, position: int = 0, offset_min: int | None = 0
) -> list[Batch | Damage]:
    path = tmp_path / "some.log"
    path.write_bytes(data)
    file = SystemDisk().open(str(path), read_only=True)
    found = [
        one._replace(view=memoryview(bytes(one.view))) if isinstance(one, Batch) else one
        for one in Batches(file, position, len(data), offset_min)
    ]
    file.close()
    return found


def offsets(found: list[Batch | Damage]) -> list[int]:
    return [one.row.base_offset for one in found if isinstance(one, Batch) and not one.faults]


def damages(found: list[Batch | Damage]) -> list[tuple[int, int]]:
    return [(one.position, one.size_bytes) for one in found if isinstance(one, Damage)]


@pytest.mark.parametrize("run_bytes", [300, 1 << 20])
def test_good_batches_come_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_bytes: int
) -> None:
    monkeypatch.setattr(walk, "RUN_BYTES", run_bytes)
    found = walked(tmp_path, b"".join(GOOD))
    assert [one.position for one in found] == STARTS
    assert [bytes(one.view) for one in found if isinstance(one, Batch)] == GOOD


def test_a_batch_larger_than_a_run_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "RUN_BYTES", 100)
    assert offsets(walked(tmp_path, b"".join(GOOD[:3]))) == [0, 3, 6]


@pytest.mark.parametrize("run_bytes", [300, 1 << 20])
@pytest.mark.parametrize("seed", range(20))
def test_bytes_of_chance_between_batches_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, run_bytes: int
) -> None:
    monkeypatch.setattr(walk, "RUN_BYTES", run_bytes)
    chance = random.Random(seed)
    noise = chance.randbytes(chance.randrange(1, 700))
    at = chance.randrange(len(GOOD))
    found = walked(tmp_path, b"".join([*GOOD[:at], noise, *GOOD[at:]]))
    assert offsets(found) == list(range(0, 90, 3))
    assert damages(found) == [(STARTS[at], len(noise))]


@pytest.mark.parametrize("at", range(8, 61))
def test_any_byte_of_a_header_may_be_wrong(tmp_path: Path, at: int) -> None:
    data = bytearray(b"".join(GOOD))
    data[STARTS[4] + at] ^= 0x41
    found = walked(tmp_path, bytes(data))
    good = [offset for offset in range(0, 90, 3) if offset != 12]
    # What no checksum covers can be another batch as well: the leader epoch.
    assert offsets(found) == (sorted([*good, 12]) if 12 <= at < 16 else good)
    bad = [one for one in found if isinstance(one, Damage) or one.faults]
    assert [one.position for one in bad] == ([] if 12 <= at < 16 else [STARTS[4]])


def test_a_wrong_checksum_is_named_with_both(tmp_path: Path) -> None:
    data = bytearray(b"".join(GOOD[:2]))
    data[70] ^= 1
    (first, second) = walked(tmp_path, bytes(data))
    assert isinstance(first, Batch)
    (fault,) = first.faults
    assert f"the checksum is {first.row.crc:08x}, that of the bytes is" in fault
    assert second.position == STARTS[1]


def test_an_offset_that_does_not_rise_is_a_fault_of_its_batch(tmp_path: Path) -> None:
    found = walked(tmp_path, GOOD[1] + GOOD[0] + GOOD[2], offset_min=4)
    assert [one.faults for one in found if isinstance(one, Batch)] == [
        ("offset 3 comes where 4 is least",),
        ("offset 0 comes where 6 is least",),
        (),
    ]


def test_a_torn_end_is_damage(tmp_path: Path) -> None:
    (first, torn) = walked(tmp_path, GOOD[0] + GOOD[1][:-1])
    assert offsets([first]) == [0]
    reason = "the file ends within a batch"
    assert torn == Damage(len(GOOD[0]), len(GOOD[1]) - 1, reason, is_torn_end=True)


def test_a_tail_of_zeros_is_no_damage(tmp_path: Path) -> None:
    found = walked(tmp_path, GOOD[0] + bytes(5000))
    assert isinstance(found[1], Damage)
    assert found[1].is_zeros
    assert damages(found) == [(len(GOOD[0]), 5000)]


def test_a_length_beyond_reason_costs_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "RUN_BYTES", 256)
    monkeypatch.setattr(walk, "BATCH_BYTES_MAX", 1000)
    data = bytearray(b"".join(GOOD))
    data[STARTS[2] + 8 : STARTS[2] + 12] = (2000).to_bytes(4, "big")
    found = walked(tmp_path, bytes(data))
    assert damages(found) == [(STARTS[2], len(GOOD[2]))]
    assert offsets(found) == [offset for offset in range(0, 90, 3) if offset != 6]


def test_a_file_that_is_cut_meanwhile_ends_the_walk(tmp_path: Path) -> None:
    path = tmp_path / "some.log"
    path.write_bytes(GOOD[0])
    file = SystemDisk().open(str(path), read_only=True)
    assert offsets(list(Batches(file, 0, 10_000))) == [0]
    file.close()


def test_the_samples_are_what_they_seem() -> None:
    assert len(scan(b"".join(GOOD)).rows) == len(GOOD)
