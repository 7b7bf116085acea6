"""Group commit: what is acknowledged is on the device, and a round is all that it costs."""

import random
from dataclasses import replace
from errno import EIO, ENOSPC

import pytest

from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation
from ottla.storage.commits import Commits
from ottla.storage.directory_logs import HostedLog
from ottla.storage.log import FLUSHED_SEGMENTS_MAX
from ottla.storage.log_options import LogOptions
from ottla.storage.logs import Logs
from tests.unit.storage.log_directories import format_all
from tests.unit.storage.node_logs import SMALL, T, append, content, create, orders, started

PATHS = ("/a", "/b")
LARGE = LogOptions()


def ready(
    partitions: int, options: LogOptions = LARGE
) -> tuple[SimulatedDisk, Logs, list[HostedLog], list[str]]:
    """Logs whose first names are on the device, and the calls of the disk from then on."""
    calls: list[str] = []
    disk = SimulatedDisk(lambda: T, random.Random(0), record=calls.append)
    format_all(disk, PATHS)
    logs = started(disk, PATHS)
    hosted = [create(logs, orders(number), options) for number in range(partitions)]
    for one in hosted:
        append(one)
        one.log.flush(T)
    calls.clear()
    return disk, logs, hosted, calls


def syncs(calls: list[str]) -> int:
    return sum(call.startswith("sync") for call in calls)


def run_round(commits: Commits) -> list[HostedLog]:
    moved: list[HostedLog] = []
    for job in commits.plan():
        job.run()
        moved += commits.ended(job, T)
    return moved


def test_many_appends_to_many_logs_cost_a_sync_a_log() -> None:
    _, _, hosted, calls = ready(20)
    commits = Commits(is_durable=True)
    for _ in range(50):
        for one in hosted:
            append(one)
            commits.appended(one, T)
    moved = run_round(commits)
    assert syncs(calls) == 20
    assert set(moved) == set(hosted)
    assert all(one.log.durable_offset == one.log.end_offset for one in hosted)
    assert commits.is_idle


def test_what_comes_while_a_round_runs_shares_the_next_one() -> None:
    _, _, (one, other, *_), calls = ready(2)
    assert one.directory is not other.directory
    commits = Commits(is_durable=True)
    append(one)
    commits.appended(one, T)
    (first,) = commits.plan()
    end_offset = one.log.end_offset
    for _ in range(10):
        append(one)
        commits.appended(one, T)
    assert commits.plan() == [], "I-COM-1"
    # The other directory does not wait for this one.
    append(other)
    commits.appended(other, T)
    (elsewhere,) = commits.plan()
    elsewhere.run()
    assert commits.ended(elsewhere, T) == [other]
    first.run()
    assert commits.ended(first, T) == [one]
    assert one.log.durable_offset == end_offset, "I-COM-2"
    assert run_round(commits) == [one]
    assert one.log.durable_offset == one.log.end_offset
    assert syncs(calls) == 3
    assert commits.is_idle


def test_a_commit_leaves_the_recovery_point_and_a_flush_moves_it() -> None:
    _, _, (one,), _ = ready(1)
    point = one.log.recovery_point
    commits = Commits(is_durable=True)
    append(one)
    commits.appended(one, T)
    run_round(commits)
    assert (one.log.recovery_point, one.log.durable_offset) == (point, one.log.end_offset)
    one.log.flush(T)
    assert one.log.recovery_point == one.log.end_offset


def test_what_is_durable_survives_every_power_cut() -> None:
    disk, _, hosted, _ = ready(2, SMALL)
    commits = Commits(is_durable=True)
    chance, sizes = random.Random(3), dict[HostedLog, int]()
    for turn in range(30):
        for one in hosted:
            for _ in range(chance.randrange(4)):
                append(one)
                commits.appended(one, T)
        if turn % 3 == 0:
            run_round(commits)
            sizes = {one: len(content(one.log)) for one in hosted}
        durable = [
            (one.partition, one.log.durable_offset, content(one.log)[: sizes[one]])
            for one in hosted
        ]
        for image in disk.crash_images(images_max=4, chance=chance):
            after = started(image, PATHS)
            assert after.set_aside == []
            for partition, offset, whole in durable:
                log = after[partition].log
                assert log.end_offset >= offset
                assert content(log).startswith(whole)


def test_a_round_can_be_dealt_among_threads() -> None:
    _, _, hosted, _ = ready(12)
    commits = Commits(is_durable=True, threads_max=4)
    for one in hosted:
        append(one)
        commits.appended(one, T)
    jobs = commits.plan()
    assert [len(job.flushes) for job in jobs] == [2, 2, 1, 1] * 2
    for job in jobs[:-1]:
        job.run()
        commits.ended(job, T)
    append(hosted[-1])
    commits.appended(hosted[-1], T)
    assert commits.plan() == []
    jobs[-1].run()
    commits.ended(jobs[-1], T)
    assert run_round(commits) == [hosted[-1]]


def test_a_failed_sync_is_final_for_its_directory() -> None:
    disk, logs, (one, other), calls = ready(2)
    commits = Commits(is_durable=True)
    for hosted in (one, other):
        append(hosted)
        commits.appended(hosted, T)
    disk.inject(Fault(Fails(EIO), Operation.SYNC, "/a/*"))
    before = one.log.durable_offset
    jobs = commits.plan()
    append(one)
    commits.appended(one, T)
    with pytest.raises(OSError, match="offline"):
        jobs[0].run()
    jobs[1].run()
    assert commits.ended(jobs[0], T) == []
    assert commits.ended(jobs[1], T) == [other]
    assert one.log.durable_offset == before
    calls.clear()
    assert commits.plan() == [], "I-COM-3"
    assert logs.drop_offline() == [one]
    commits.forget([one])
    assert calls == []
    assert commits.is_idle


def test_a_full_disk_holds_up_no_acknowledgement() -> None:
    disk, _, (one,), _ = ready(1, SMALL)
    commits = Commits(is_durable=True)
    append(one, 12)
    commits.appended(one, T)
    disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, "*.snapshot*", count=None))
    disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, "*.*index", count=None))
    point = one.log.recovery_point
    assert run_round(commits) == [one]
    assert (one.log.durable_offset, one.log.recovery_point) == (one.log.end_offset, point)
    disk.heal()
    append(one)
    assert one.log.is_flush_due(T)
    one.log.flush(T)
    assert one.log.recovery_point == one.log.end_offset


def test_without_durability_logs_are_flushed_as_their_options_say() -> None:
    _, _, (one,), _ = ready(1, LogOptions(flush_messages=6, flush_ms=1000))
    commits = Commits()
    point = one.log.recovery_point
    for count in range(1, 4):
        append(one)
        commits.appended(one, T)
        assert (run_round(commits) == [one]) == (count == 3)
    assert one.log.recovery_point == point + 6
    append(one)
    commits.look(one, T + 999)
    assert run_round(commits) == []
    commits.look(one, T + 1000)
    assert run_round(commits) == [one]


def test_a_roll_flushes_what_was_rolled() -> None:
    _, _, (one,), _ = ready(1, SMALL)
    commits = Commits()
    segments = len(one.log.segments)
    while len(one.log.segments) == segments:
        assert run_round(commits) == []
        append(one)
        commits.appended(one, T)
    assert run_round(commits) == [one]
    assert one.log.files.snapshots.offsets[-1] == one.log.segments.active.base_offset


def test_a_flush_of_many_segments_opens_few_files_at_once() -> None:
    options = replace(SMALL, segment_bytes=1)
    _, _, (one,), calls = ready(1, options)
    append(one, FLUSHED_SEGMENTS_MAX * 2 + 10)
    for is_durable in (True, False):
        commits = Commits(is_durable=is_durable)
        commits.appended(one, T)
        sizes: list[int] = []
        while jobs := commits.plan():
            (job,) = jobs
            sizes.append(len(job.flushes[0].flush.files))
            job.run()
            commits.ended(job, T)
            assert len(sizes) < 10
        assert max(sizes) <= 4 * FLUSHED_SEGMENTS_MAX
        assert one.log.recovery_point == one.log.durable_offset == one.log.end_offset
        append(one, FLUSHED_SEGMENTS_MAX * 2)
    assert syncs(calls) > FLUSHED_SEGMENTS_MAX
    one.log.flush(T)
    assert one.log.recovery_point == one.log.end_offset
