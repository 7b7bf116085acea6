"""Cleaning a log by hand: what stays, what it costs, and how it is stopped."""

import random
from contextlib import suppress
from errno import ENOSPC

import pytest

from ottla.kernels.faults import Malformed
from ottla.records.batch import seal
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation
from ottla.storage.cleaning.cleaning import Cancelled, clean, discard, swap
from ottla.storage.cleaning.pace import Throttle
from ottla.storage.file_names import Stage
from ottla.storage.recovery import Corrupt
from tests.scenarios.compacted_log import NOW_MS, OPTIONS, CompactedLog, Kinds, values_of

FOLDER = "/orders-0"


def empty_log(seed: int = 0) -> CompactedLog[SimulatedDisk]:
    disk = SimulatedDisk(lambda: NOW_MS, random.Random(seed))
    disk.make_folder(FOLDER)
    return CompactedLog(disk, FOLDER, random.Random(seed), Kinds())


def put(made: CompactedLog[SimulatedDisk], *pairs: tuple[bytes, bytes | None]) -> None:
    """Append one batch."""
    base = made.log.end_offset
    rows = [(base + at, made.now_ms, key, value, ()) for at, (key, value) in enumerate(pairs)]
    data = bytes(write_batch(rows, BatchOptions(base_offset=base)))
    made.log.append([(data, scan(data).rows)], made.now_ms)


def roll(made: CompactedLog[SimulatedDisk]) -> None:
    made.log.roll(made.now_ms)
    made.log.flush(made.now_ms)


def names(made: CompactedLog[SimulatedDisk], stage: Stage) -> list[str]:
    return [name for name in made.disk.names(FOLDER) if stage and name.endswith(stage)]


def test_the_last_record_of_a_key_stays_at_its_offset() -> None:
    made = empty_log()
    put(made, (b"a", b"1"), (b"b", b"1"))
    put(made, (b"a", b"2"))
    roll(made)
    put(made, (b"b", b"active"))
    cleaning = made.clean()
    assert values_of(made.data()) == [(1, b"b", b"1"), (2, b"a", b"2"), (3, b"b", b"active")]
    assert cleaning.end_offset == 3
    assert (cleaning.outcome.read_records, cleaning.outcome.kept_records) == (3, 2)


def test_a_tombstone_stays_for_its_time() -> None:
    made = empty_log()
    put(made, (b"a", b"1"), (b"b", b"1"))
    put(made, (b"a", None))
    roll(made)
    put(made, (b"c", b""))
    roll(made)
    assert made.clean().outcome.next_horizon_ms == NOW_MS + OPTIONS.delete_retention_ms
    assert (2, b"a", None) in values_of(made.data())
    made.now_ms += OPTIONS.delete_retention_ms - 1
    put(made, (b"c", b""))
    roll(made)
    made.clean()
    assert (2, b"a", None) in values_of(made.data())
    made.now_ms += 1
    cleaning = made.clean()
    assert (2, b"a", None) not in values_of(made.data())
    assert cleaning.outcome.next_horizon_ms is None


def test_a_full_map_takes_several_rounds() -> None:
    made = empty_log()
    for turn in (b"1", b"2"):
        put(made, *((b"%d" % key, turn) for key in range(20)))
    roll(made)
    rounds = 0
    while made.first_dirty_offset < 40:
        made.clean(slots=5)
        rounds += 1
    assert rounds == 10
    assert [value for _, _, value in values_of(made.data())] == [b"2"] * 20


def test_small_segments_become_one() -> None:
    made = empty_log()
    for key in range(6):
        put(made, (b"%d" % key, b"v" * 500))
        roll(made)
    made.clean()
    assert [segment.base_offset for segment in made.log.segments] == [0, 6]
    made.open(is_clean=False)
    assert [offset for offset, _, _ in values_of(made.data())] == [*range(6)]


def test_what_is_left_of_a_cleaning_is_only_what_the_log_shows() -> None:
    made = empty_log(3)
    made.grow(120)
    made.end_transactions()
    cleaning = made.planned()
    removals = clean(made.log, cleaning)
    assert names(made, Stage.DELETED)
    for removal in removals:
        removal.run()
    assert not any(names(made, stage) for stage in Stage)
    before = made.data()
    made.open(is_clean=False)
    assert made.data() == before


def test_a_cleaning_that_is_cancelled_leaves_the_log_as_it_was() -> None:
    made = empty_log(1)
    made.grow(100)
    made.end_transactions()
    before = made.disk.names(FOLDER), made.data()
    calls = _calls_until_cancelled(made, 10**9)
    assert calls > 10
    for stop_at in range(1, calls):
        assert _calls_until_cancelled(made, stop_at) == stop_at
        assert (made.disk.names(FOLDER), made.data()) == before


def _calls_until_cancelled(made: CompactedLog[SimulatedDisk], stop_at: int) -> int:
    """Write all that a cleaning would, but cancel it at a call of its pace; remove it again."""
    calls = 0

    def count(size_bytes: int) -> None:
        nonlocal calls
        assert size_bytes > 0
        calls += 1
        if calls == stop_at:
            cleaning.cancel()

    cleaning = made.planned(pace=count)
    with suppress(Cancelled):
        cleaning.fill()
        for group in cleaning.groups:
            discard(cleaning.write(group))
    return calls


def test_no_room_leaves_the_log_as_it_was() -> None:
    made = empty_log(1)
    made.grow(100)
    made.end_transactions()
    before = made.data()
    for operation in (Operation.WRITE, Operation.RENAME):
        for first in (1, 2):
            made.disk.inject(Fault(Fails(ENOSPC), operation, paths="*.cleaned", first=first))
            cleaning = made.planned()
            cleaning.fill()
            names_before = made.disk.names(FOLDER)
            with pytest.raises(OSError, match="No space"):
                swap(made.log, cleaning.groups[0], cleaning.write(cleaning.groups[0]))
            made.disk.heal()
            assert (made.disk.names(FOLDER), made.data()) == (names_before, before)
    made.clean()
    assert made.data() != before


def test_a_group_whose_segments_left_the_log_is_given_up() -> None:
    made = empty_log(1)
    made.grow(100)
    made.end_transactions()
    cleaning = made.planned()
    cleaning.fill()
    new = cleaning.write(cleaning.groups[0])
    made.log.move_log_start(made.log.segments.active.base_offset)
    removal = made.log.delete_old(made.log.end_offset, made.now_ms)
    assert removal is not None
    removal.run()
    before = made.data()
    with pytest.raises(Cancelled):
        swap(made.log, cleaning.groups[0], new)
    assert made.data() == before
    assert not names(made, Stage.CLEANED)


@pytest.mark.parametrize("is_dirty", [True, False])
def test_damage_is_not_given_a_new_checksum(is_dirty: bool) -> None:
    made = empty_log()
    put(made, (b"a", b"1"), (b"b", b"1"))
    roll(made)
    if not is_dirty:
        made.clean()
    put(made, (b"a", b"2"))
    roll(made)
    path = f"{FOLDER}/{0:020}.log"
    made.log.flush(made.now_ms)
    made.disk.flip_bit(path, 70, 0)
    made.open(is_clean=True)
    before = made.disk.contents()
    with pytest.raises(Corrupt) as raised:
        made.clean()
    assert (raised.value.offset, raised.value.position) == (0, 0)
    assert made.disk.contents() == before


def test_records_that_cannot_be_read_end_the_cleaning() -> None:
    made = empty_log()
    rows = [(at, made.now_ms, b"k%d" % at, b"v" * 40, ()) for at in range(3)]
    data = bytearray(write_batch(rows, BatchOptions()))
    data[61] = 99
    seal(data)
    made.log.append([(bytes(data), scan(data).rows)], made.now_ms)
    roll(made)
    before = made.disk.contents()
    with pytest.raises(Malformed):
        made.clean()
    assert made.disk.contents() == before


def test_a_throttle_waits_for_what_went_too_fast() -> None:
    throttle = Throttle(1000, 0)
    assert throttle.wait_ms(500, 100) == 0
    assert throttle.wait_ms(500, 400) == 600
    # Now it is 1000 ms, and all is made up for.
    assert throttle.wait_ms(100, 1300) == 0
    assert throttle.wait_ms(100, 1500) == 0
    assert throttle.wait_ms(300, 1501) == 0
    assert throttle.wait_ms(1000, 2000) == 800
