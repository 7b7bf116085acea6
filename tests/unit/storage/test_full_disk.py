"""A full disk refuses what needs room, whole; reads, deletes, retention and a start go on."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from ottla.broker.partition_history import PartitionHistory
from ottla.ports import Disk
from ottla.runtime.disk import SystemDisk
from ottla.sim.disk import SimulatedDisk
from ottla.storage.commits import Commits
from ottla.storage.directory_offsets import CHECKPOINTS
from ottla.storage.logs import Logs
from ottla.storage.schedule import Schedule, Task
from ottla.storage.stopping import Stop
from ottla.storage.upkeep import Upkeep
from ottla.storage.writes import DiskFull
from ottla.wire.fields import Uuid
from tests.unit.ports.disks import simulated
from tests.unit.storage.log_directories import format_all
from tests.unit.storage.node_logs import SMALL, T, append, batch, content, create, orders, started

OPTIONS = replace(SMALL, retention_ms=1000, file_delete_delay_ms=0)
SIZE_BYTES = 1 << 20
UNIQUE = Uuid(b"\5" * 16)


@pytest.fixture(params=["simulated", "mounted"])
def small(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Disk, str]]:
    """A disk of one mebibyte, and a folder on it."""
    if request.param == "simulated":
        disk = simulated(capacity_bytes=SIZE_BYTES)
        disk.make_folder("/data")
        yield disk, "/data"
        return
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_BYTES}", "tmpfs", str(tmp_path)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a mount takes Linux and its administrator")
    try:
        yield SystemDisk(), str(tmp_path)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def fill_up(disk: Disk, folder: str) -> None:
    """Take all the room that there is."""
    file = disk.open(f"{folder}/ballast", create=True)
    for size_bytes in (65536, 4096, 256, 1):
        with suppress(OSError):
            while True:
                file.write([b"x" * size_bytes], file.size())
    file.close()


def filled(disk: Disk, folder: str) -> tuple[Logs, list[str]]:
    """Two logs on a disk without room."""
    paths = [f"{folder}/a"]
    format_all(disk, paths)
    logs = started(disk, paths)
    for number in range(2):
        append(create(logs, orders(number), OPTIONS), 9)
    fill_up(disk, folder)
    return logs, paths


def refused(logs: Logs, number: int) -> None:
    """See that an append is refused whole: all the room of the last page may still be there."""
    log = logs[orders(number)].log
    for _ in range(100):
        before = (log.end_offset, content(log))
        try:
            log.append([batch(log)], T)
        except DiskFull:
            assert (log.end_offset, content(log)) == before
            return
    pytest.fail("there is still room")


def end(disk: Disk, logs: Logs) -> None:
    """End as a killed process does."""
    logs.directories.release()
    if isinstance(disk, SimulatedDisk):
        disk.end_process()


def test_appends_are_refused_whole_and_reads_go_on(small: tuple[Disk, str]) -> None:
    logs, _ = filled(*small)
    for _ in range(3):
        refused(logs, 0)
        refused(logs, 1)
    assert logs.directories.offline == {}
    log = logs[orders(0)].log
    assert log.find_timestamp(T + 5) is not None
    assert log.aborted(0, 9) == []


def test_a_roll_is_refused_and_can_be_asked_again(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, _ = filled(disk, folder)
    log = logs[orders(0)].log
    log.set_options(replace(OPTIONS, segment_bytes=1))
    refused(logs, 0)
    disk.remove(f"{folder}/ballast")
    append(logs[orders(0)], 3)
    assert content(log)


def test_room_makes_the_same_append_possible(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, paths = filled(disk, folder)
    refused(logs, 0)
    disk.remove(f"{folder}/ballast")
    append(logs[orders(0)], 2)
    whole = content(logs[orders(0)].log)
    end(disk, logs)
    assert content(started(disk, paths)[orders(0)].log) == whole


def test_retention_and_deletion_make_room(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, _ = filled(disk, folder)
    refused(logs, 0)
    for hosted in logs.all():
        hosted.high_watermark = hosted.log.end_offset
    upkeep = Upkeep(logs, Commits(), Schedule(dict.fromkeys(Task, 1), 0, T), T)
    kept = logs[orders(0)].log.end_offset
    for now_ms in range(T + 10_000, T + 10_004):
        for job in upkeep.plan(now_ms):
            fault = None
            try:
                job.run()
            except OSError as failed:
                fault = failed
            upkeep.ended(job, fault, now_ms)
    assert logs[orders(0)].log.log_start_offset == kept
    assert logs.directories.offline == {}
    logs.delete(orders(1), UNIQUE).run()
    append(logs[orders(0)], 1)


def test_a_start_needs_no_room(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, paths = filled(disk, folder)
    refused(logs, 0)
    before = [content(logs[orders(number)].log) for number in range(2)]
    for hosted in logs.all():
        for name in disk.names(hosted.placed.path):
            if name.endswith("index"):
                disk.remove(f"{hosted.placed.path}/{name}")
    fill_up(disk, folder)
    for _ in range(2):
        end(disk, logs)
        logs = started(disk, paths)
        assert logs.set_aside == []
        assert [content(logs[orders(number)].log) for number in range(2)] == before
        assert logs[orders(0)].log.find_timestamp(T + 5) is not None
        refused(logs, 0)


def test_a_stop_without_room_is_an_unclean_one(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, paths = filled(disk, folder)
    refused(logs, 0)
    before = [content(logs[orders(number)].log) for number in range(2)]
    stopping = Stop(logs, T)
    for job in stopping.close_jobs:
        with suppress(OSError):
            job.run()
    for mark in stopping.mark_jobs(7):
        with suppress(OSError):
            mark.run()
    end(disk, logs)
    after = started(disk, paths)
    assert [content(after[orders(number)].log) for number in range(2)] == before


def test_a_recovery_point_that_cannot_be_taken_back_is_removed(small: tuple[Disk, str]) -> None:
    disk, folder = small
    logs, paths = filled(disk, folder)
    end(disk, logs)
    disk.remove(f"{folder}/ballast")
    logs = started(disk, paths)
    hosted = logs[orders(0)]
    hosted.log.flush(T)
    job = logs.homes[0].plan_offsets(CHECKPOINTS[0])
    assert job is not None
    job.run()
    logs.homes[0].offsets.ended(job, has_failed=False)
    fill_up(disk, folder)
    logs.truncate_to(hosted, 5, T)
    end(disk, logs)
    after = started(disk, paths)
    assert after.set_aside == []
    history = after[orders(0)].log.history
    assert isinstance(history, PartitionHistory)
    assert after[orders(0)].log.end_offset == 4


def test_the_mounted_disk_is_really_small(small: tuple[Disk, str]) -> None:
    disk, folder = small
    fill_up(disk, folder)
    assert disk.free_bytes(folder) < os.sysconf("SC_PAGE_SIZE")
