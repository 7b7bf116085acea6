"""Cleaning against a dictionary: the last of every key stays, and nobody sees a difference."""

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT
from ottla.sim.disk import SimulatedDisk
from ottla.wire.fields import Buffer
from tests.scenarios.compacted_log import NOW_MS, OPTIONS, CompactedLog, Kinds, shown

FOLDER = "/orders-0"
Records = list[tuple[int, bytes | None, bytes | None]]


def begun(seed: int, codec: int, keys: int, retention_ms: int) -> CompactedLog[SimulatedDisk]:
    disk = SimulatedDisk(lambda: NOW_MS, random.Random(seed))
    disk.make_folder(FOLDER)
    options = replace(OPTIONS, delete_retention_ms=retention_ms)
    kinds = Kinds(codecs=(0, codec), keys=keys)
    return CompactedLog(disk, FOLDER, random.Random(seed), kinds, options)


def committed(made: CompactedLog[SimulatedDisk], end_offset: int) -> Records:
    """What a reader of committed records sees before an offset, by the index of aborted ones."""
    log = made.log
    aborted = log.aborted(log.segments.first.base_offset, log.end_offset)
    found: Records = []
    for batch in shown(made.data()):
        attributes, producer_id = batch.row[3], batch.row[8]
        for record in batch.records if not attributes & CONTROL_BIT else ():
            is_aborted = attributes & TRANSACTIONAL_BIT and any(
                one.producer_id == producer_id
                and one.first_offset <= record.offset < one.last_offset
                for one in aborted
            )
            if record.offset < end_offset and not is_aborted:
                found.append((record.offset, _bytes(record.key), _bytes(record.value)))
    return found


def last_sequences(made: CompactedLog[SimulatedDisk]) -> dict[int, tuple[int, int, int]]:
    """What tells a retry of a producer's last batch from a new one."""
    return {
        one.producer_id: (one.epoch, one.last_sequence, one.last_offset)
        for one in made.log.history.producers()
        if one.last_offset >= 0
    }


def _bytes(part: Buffer | None) -> bytes | None:
    return None if part is None else bytes(part)


def expected(before: Records, clean_end: int) -> tuple[Records, Records]:
    """What must stay of it, and of that the tombstones, which may go in time."""
    last = {key: offset for offset, key, _ in before if offset < clean_end and key is not None}
    stays = [one for one in before if one[0] >= clean_end or last.get(one[1]) == one[0]]
    return stays, [one for one in stays if one[2] is None and one[0] < clean_end]


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    codec=st.integers(0, 4),
    keys=st.sampled_from([1, 4, 12]),
    slots=st.lists(st.sampled_from([3, 9, 1000]), min_size=1, max_size=3),
    retention_ms=st.sampled_from([0, 500, 10**9]),
)
def test_the_last_of_every_key_stays(
    seed: int, codec: int, keys: int, slots: list[int], retention_ms: int
) -> None:
    made = begun(seed, codec, keys, retention_ms)
    stable_offset = 0
    for some in slots:
        made.grow(25)
        made.now_ms += 300
        stable_offset = made.last_stable_offset
        upper_offset = made.upper_offset
        before, rows = committed(made, stable_offset), made.rows()
        if upper_offset <= made.first_dirty_offset:
            continue
        made.clean(some)
        after = committed(made, stable_offset)
        stays, tombstones = expected(before, made.first_dirty_offset)
        gone = [one for one in stays if one not in after]
        assert [one for one in after if one not in stays] == []
        assert after == [one for one in stays if one not in gone]
        assert all(one in tombstones for one in gone)
        if retention_ms == 10**9:
            assert not gone
        kept = {row.base_offset: row for row in made.rows()}
        for row in rows:
            if row.base_offset in kept:
                found = kept[row.base_offset]
                assert found[5:6] + found[8:11] == row[5:6] + row[8:11]
        assert kept.keys() <= {row.base_offset for row in rows}
        before_producers = last_sequences(made)
        made.close()
        for name in made.disk.names(FOLDER):
            if name.endswith(".snapshot"):
                made.disk.remove(f"{FOLDER}/{name}")
        made.open(is_clean=False)
        assert last_sequences(made) == before_producers
        assert committed(made, stable_offset) == after
