"""A cleaning cut off at any call, by the power or by a failing disk, loses no record that stays."""

import random
from errno import EIO, ENOSPC

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, PowerCut
from ottla.storage.cleaning.cleaning import clean
from tests.scenarios.compacted_log import NOW_MS, CompactedLog, Kinds, Shown, shown

FOLDER = "/orders-0"
IMAGES_MAX = 5
SEED = 1
Records = dict[int, object]


def ready() -> CompactedLog[SimulatedDisk]:
    """A log of two groups at least, all of it on the device."""
    disk = SimulatedDisk(lambda: NOW_MS, random.Random(SEED))
    disk.make_folder(FOLDER)
    disk.sync_folder("/")
    made = CompactedLog(disk, FOLDER, random.Random(SEED), Kinds())
    made.grow(30)
    made.end_transactions()
    made.log.flush(made.now_ms)
    made.recovery_point = made.log.recovery_point
    made.now_ms += 10_000
    return made


def records(made: CompactedLog[SimulatedDisk]) -> Records:
    """Every record, of whichever batch, by its offset; offsets only rise."""
    batches: list[Shown] = shown(made.data())
    found: Records = {}
    before = -1
    for batch in batches:
        for record in batch.records:
            assert record.offset > before
            before = record.offset
            found[record.offset] = (record.timestamp, record.key, record.value, batch.row[8:11])
    return found


def reopened(disk: SimulatedDisk, made: CompactedLog[SimulatedDisk]) -> CompactedLog[SimulatedDisk]:
    """The log as a start finds it that cannot believe in a clean end."""
    again = object.__new__(CompactedLog)
    again.disk, again.folder, again.options = disk, made.folder, made.options
    again.now_ms, again.recovery_point = made.now_ms, made.recovery_point
    again.open(is_clean=False)
    return again


def check(
    disk: SimulatedDisk, made: CompactedLog[SimulatedDisk], old: Records, new: Records
) -> None:
    """What is found is what was there, but for records that the cleaning lets go of."""
    after = reopened(disk, made)
    found = records(after)
    assert found.items() <= old.items()
    assert new.items() <= found.items()
    assert after.log.end_offset == made.log.end_offset
    assert {name for name in disk.names(FOLDER) if name.count(".") > 1} == set()


def both() -> tuple[Records, Records]:
    """The records before a cleaning and after it."""
    made = ready()
    old = records(made)
    made.clean()
    return old, records(made)


@pytest.mark.parametrize("model", CrashModel)
def test_no_power_cut_loses_a_record_that_stays(model: CrashModel) -> None:
    old, new = both()
    assert len(new) < len(old) - 10
    for first in range(1, 10_000):
        made = ready()
        made.disk.inject(Fault(CutsPower(), first=first))
        try:
            clean(made.log, made.planned())
        except PowerCut:
            pass
        else:
            break
        made.disk.heal()
        for image in made.disk.crash_images(model, IMAGES_MAX, random.Random(first)):
            check(image, made, old, new)
    assert first > 60


@pytest.mark.parametrize("number", [EIO, ENOSPC])
def test_no_failing_call_loses_a_record_that_stays(number: int) -> None:
    old, new = both()
    for first in range(1, 10_000):
        made = ready()
        made.disk.inject(Fault(Fails(number), first=first))
        try:
            clean(made.log, made.planned())
        except OSError as fault:
            assert fault.errno == number  # noqa: PT017  The call that fails may be any.
        else:
            made.disk.heal()
            if records(made) == new and first > 60:
                break
        made.disk.heal()
        made.disk.end_process()
        check(made.disk, made, old, new)
    assert first > 60
