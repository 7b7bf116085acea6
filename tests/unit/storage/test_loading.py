"""What a start must not take for granted: what of a log is on the device, and old checkpoints."""

from collections.abc import Iterator

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.storage.directory_logs import DirectoryLogs
from ottla.storage.file_names import RECOVERY_POINTS
from ottla.storage.logs import Logs
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import T, append, content, create, orders, started, stop

PATHS = ("/a",)
ORDERS = orders(0)


def images(disk: SimulatedDisk) -> Iterator[SimulatedDisk]:
    for model in CrashModel:
        yield from disk.crash_images(model, images_max=60)


def write_points(home: DirectoryLogs) -> None:
    """Write the recovery points."""
    job = home.plan_offsets(RECOVERY_POINTS)
    assert job is not None
    job.run()
    home.offsets.ended(job, has_failed=False)


def held(disk: SimulatedDisk, whole: bytes) -> None:
    """See that every power cut leaves a log whole, and none takes it for corrupt."""
    for image in images(disk):
        after = started(image, PATHS)
        assert after.set_aside == []
        assert content(after[ORDERS].log) == whole


def fresh(batches: int) -> tuple[SimulatedDisk, Logs]:
    disk = formatted(PATHS)
    logs = started(disk, PATHS)
    append(create(logs, ORDERS), batches)
    return disk, logs


@pytest.mark.parametrize("batches", [1, 20])
def test_a_first_flush_brings_the_names_of_a_new_log(batches: int) -> None:
    disk, logs = fresh(batches)
    logs[ORDERS].log.flush(T)
    write_points(logs.homes[0])
    held(disk, content(logs[ORDERS].log))


@pytest.mark.parametrize("batches", [1, 20])
def test_what_a_killed_process_left_is_not_taken_for_synced(batches: int) -> None:
    disk, logs = fresh(batches)
    whole = content(logs[ORDERS].log)
    disk.end_process()
    again = started(disk, PATHS)
    assert again[ORDERS].log.recovery_point == 0
    again[ORDERS].log.flush(T)
    write_points(again.homes[0])
    held(disk, whole)


def test_names_that_a_killed_process_made_are_brought_by_the_next_flush() -> None:
    disk, logs = fresh(1)
    logs[ORDERS].log.flush(T)
    append(logs[ORDERS], 20)
    whole = content(logs[ORDERS].log)
    disk.end_process()
    # The epochs are on the device already, so that they bring no names along.
    again = started(disk, PATHS)
    again[ORDERS].log.flush(T)
    write_points(again.homes[0])
    held(disk, whole)


@pytest.mark.parametrize("batches", [1, 20])
def test_a_clean_stop_after_a_kill_holds_too(batches: int) -> None:
    disk, logs = fresh(batches)
    whole = content(logs[ORDERS].log)
    disk.end_process()
    assert stop(started(disk, PATHS)) == [True]
    held(disk, whole)


@pytest.mark.parametrize("is_clean", [True, False])
def test_a_recovery_point_past_the_end_is_taken_back(is_clean: bool) -> None:
    disk, logs = fresh(20)
    log = logs[ORDERS].log
    log.flush(T)
    write_points(logs.homes[0])
    if is_clean:
        stop(logs)
    disk.end_process()
    # A person has restored an older state of the log.
    for name in disk.names("/a/orders-0"):
        if name.startswith(f"{log.segments.active.base_offset:020}"):
            disk.remove(f"/a/orders-0/{name}")
    again = started(disk, PATHS)
    shorter = again[ORDERS].log
    assert shorter.end_offset == log.segments.active.base_offset
    (directory,) = again.directories.live
    assert directory.read_offsets(RECOVERY_POINTS)[ORDERS] <= shorter.end_offset
    # What is appended now may be torn, and is no corruption.
    append(again[ORDERS], 2)
    for image in images(disk):
        assert started(image, PATHS).set_aside == []
