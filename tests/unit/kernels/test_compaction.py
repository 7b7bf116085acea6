"""The map of offsets and the choice by it: compiled as uncompiled, and as a dictionary says."""

from array import array
from random import Random
from types import ModuleType
from typing import Any

import pytest

from ottla.kernels import compaction
from ottla.kernels.faults import InvalidValue, Malformed
from ottla.records.batch import seal
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.reader import read_records
from ottla.records.scan import BatchRow, scan
from tests.unit.kernels.twins import uncompiled

SECRET = bytes(range(16))
TIMES = (1000, 6000)
TWINS = (compaction, uncompiled("compaction"))


def empty_map(kernel: ModuleType, slots: int = 100, entries_max: int = 90) -> Any:
    return kernel.OffsetMap(bytearray(slots * compaction.ENTRY_BYTES), SECRET, entries_max)


def drawn_run(random: Random, count: int) -> bytes:
    """Batches with few keys, tombstones, times of both kinds and horizons."""
    data, offset = bytearray(), random.randrange(3)
    for _ in range(count):
        rows: list[Row] = []
        for _ in range(random.choice((1, 2, 7))):
            key = random.choice((b"", b"a", b"b" * 7, b"c" * 8, b"d" * 30, None))
            value = random.choice((b"", b"value", None))
            rows.append((offset, random.choice((-1, 500, 7000, 1 << 40)), key, value, ()))
            offset += random.choice((1, 1, 3))
        options = BatchOptions(
            base_offset=rows[0][0],
            append_timestamp=random.choice((None, None, 800)),
            delete_horizon_ms=random.choice((None, None, 900, 1100)),
            producer_id=random.choice((-1, 9)),
            base_sequence=3,
        )
        data += write_batch(rows, options)
    return bytes(data)


def cells(rows: list[BatchRow], *more: int) -> bytearray:
    return bytearray(array("q", [n for r in rows for n in (r.position, r.size_bytes, *more)]))


@pytest.mark.parametrize("seed", range(40))
def test_both_twins_give_the_same(seed: int) -> None:
    random = Random(seed)
    run = drawn_run(random, 12)
    rows = scan(run).rows
    entries_max, start_offset = random.choice((1, 3, 90)), random.choice((0, 4, 15))
    takes = cells(rows, 1)
    bits = bytearray(
        array(
            "q",
            [n for r in rows for n in (r.position, r.size_bytes, random.randrange(16), 0, 0, 0)],
        )
    )
    answers: list[Any] = []
    for kernel in TWINS:
        keys, out, places = empty_map(kernel, 100, entries_max), bytearray(), bytearray(bits)
        done = kernel.fill(keys, run, bytearray(takes), start_offset)
        size_bytes = kernel.choose(keys, run, places, out, TIMES)
        answers.append((done, len(keys), keys.latest_offset, bytes(out[:size_bytes]), places))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("seed", range(20))
def test_what_stays_is_what_a_dictionary_says(seed: int) -> None:
    run = drawn_run(Random(f"dictionary {seed}"), 20)
    rows = scan(run).rows
    keys, out = empty_map(compaction), bytearray()
    assert compaction.fill(keys, run, cells(rows, 1), 0) == len(rows)
    batches = [run[row.position : row.position + row.size_bytes] for row in rows]
    records = [record for batch in batches for record in read_records(batch, len(batch))]
    last = {record.key: record.offset for record in records if record.key is not None}
    assert len(keys) == len(last)
    assert {key: keys.get(key) for key in last} == last
    assert keys.get(b"another") == -1
    places = cells(rows, 0, 0, 0, 0)
    size_bytes = compaction.choose(keys, run, places, out, TIMES)
    kept: list[int] = []
    for row in scan(out[:size_bytes]).rows:
        batch = out[row.position : row.position + row.size_bytes]
        kept += [record.offset for record in read_records(batch, len(batch))]
    horizons = {row.base_offset: row.base_timestamp for row in rows if row.attributes & 64}
    expected: list[int] = []
    for row, batch in zip(rows, batches, strict=True):
        is_over = row.base_offset in horizons and horizons[row.base_offset] <= TIMES[0]
        expected += [
            one.offset
            for one in read_records(batch, len(batch))
            if last.get(one.key) == one.offset and not (is_over and one.value is None)
        ]
    assert kept == expected


def test_a_map_says_when_it_is_full_and_how_far_it_came() -> None:
    run = bytes(write_batch([(at, 0, b"%d" % at, b"", ()) for at in range(10)]))
    keys = empty_map(compaction, 8, 4)
    assert compaction.fill(keys, run, cells(scan(run).rows, 1), 2) == 0
    assert keys.is_full
    assert (len(keys), keys.latest_offset) == (4, 5)
    keys.advance(3)
    assert keys.latest_offset == 5


def test_every_place_can_be_used_and_keys_that_meet_are_told_apart() -> None:
    for kernel in TWINS:
        keys = empty_map(kernel, 8, 7)
        for at in range(7):
            keys.put(b"%d" % at, at)
        assert [keys.get(b"%d" % at) for at in range(9)] == [*range(7), -1, -1]


def test_a_map_needs_a_place_that_stays_free() -> None:
    for kernel in TWINS:
        for slots, entries_max in ((8, 8), (8, 0), (0, 1)):
            with pytest.raises(InvalidValue, match="places cannot hold"):
                empty_map(kernel, slots, entries_max)


def test_memory_that_was_used_before_is_cleared() -> None:
    for kernel in TWINS:
        memory = bytearray(b"\xff" * 10 * compaction.ENTRY_BYTES)
        assert kernel.OffsetMap(memory, SECRET, 5).get(b"key") == -1


def test_places_outside_of_the_bytes_are_refused() -> None:
    run = bytes(write_batch([(0, 0, b"k", b"", ())]))
    for kernel in TWINS:
        for position, size in ((-1, len(run)), (1, len(run)), (0, 60), (0, 2**62), (2**62, 61)):
            wrong = bytearray(array("q", (position, size, 1)))
            with pytest.raises(InvalidValue, match="not among the bytes"):
                kernel.fill(empty_map(kernel), run, wrong, 0)
            wrong = bytearray(array("q", (position, size, 0, 0, 0, 0)))
            with pytest.raises(InvalidValue, match="not among the bytes"):
                kernel.choose(empty_map(kernel), run, wrong, bytearray(), TIMES)
        with pytest.raises(InvalidValue, match="no whole places"):
            kernel.fill(empty_map(kernel), run, bytearray(7), 0)


@pytest.mark.parametrize("seed", range(30))
def test_damage_is_met_the_same_way_and_never_read_past(seed: int) -> None:
    random = Random(f"damage {seed}")
    run = bytearray(drawn_run(random, 3))
    rows = scan(run).rows
    row = random.choice(rows)
    for _ in range(3):
        run[row.position + random.randrange(57, row.size_bytes)] = random.choice((0, 1, 127, 255))
    seal(memoryview(run)[row.position : row.position + row.size_bytes])
    answers: list[Any] = []
    for kernel in TWINS:
        keys, out, answer = empty_map(kernel), bytearray(), list[Any]()
        try:
            answer.append(kernel.fill(keys, run, cells(rows, 1), 0))
        except Malformed as fault:
            answer.append(str(fault))
        try:
            size_bytes = kernel.choose(keys, run, cells(rows, 0, 0, 0, 0), out, TIMES)
            answer.append(bytes(out[:size_bytes]))
        except Malformed as fault:
            answer.append(str(fault))
        answers.append((answer, keys.latest_offset))
    assert answers[0] == answers[1]
