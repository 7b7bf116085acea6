"""What is due when, and that it is done, waited with, and done again after a failure."""

from dataclasses import replace
from errno import EIO, ENOSPC
from heapq import heappop, heappush

from ottla.config import log as log_rows
from ottla.config.settings import Settings
from ottla.config.table import Table
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation
from ottla.storage.commits import Commits, FlushLogs
from ottla.storage.directory_offsets import WriteOffsets
from ottla.storage.file_names import HIGH_WATERMARKS, RECOVERY_POINTS
from ottla.storage.logs import Logs
from ottla.storage.schedule import Schedule, Task, intervals_of, schedule_of
from ottla.storage.upkeep import AGAIN_MS, LOGS_AT_ONCE, Job, Upkeep
from ottla.wire.fields import Uuid
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import SMALL, T, append, create, orders, started

PATHS = ("/a", "/b")
OPTIONS = replace(SMALL, retention_ms=1000, file_delete_delay_ms=7000, flush_ms=500)
INTERVALS = {
    Task.RETENTION: 300,
    Task.FLUSH: 200,
    Task.RECOVERY_POINTS: 600,
    Task.LOG_STARTS: 600,
    Task.HIGH_WATERMARKS: 50,
    Task.PRODUCERS: 1000,
}


def ready(partitions: int = 2) -> tuple[SimulatedDisk, Logs, Upkeep]:
    disk = formatted(PATHS)
    logs = started(disk, PATHS)
    for number in range(partitions):
        append(create(logs, orders(number), OPTIONS), 9)
    return disk, logs, Upkeep(logs, Commits(), Schedule(INTERVALS, 100, T), T)


def tick(upkeep: Upkeep, now_ms: int) -> list[Job]:
    """Do what is due, and give it."""
    jobs = upkeep.plan(now_ms)
    for job in jobs:
        fault = None
        try:
            job.run()
        except OSError as failed:
            fault = failed
        upkeep.ended(job, fault, now_ms)
    return jobs


def names(jobs: list[Job]) -> list[str]:
    return [job.name if isinstance(job, WriteOffsets) else type(job).__name__ for job in jobs]


def test_each_task_comes_again_after_its_interval() -> None:
    schedule = Schedule(INTERVALS, 100, 0)
    expected: list[tuple[int, Task]] = []
    waiting = [(0 if task is Task.HIGH_WATERMARKS else 100, task.name) for task in Task]
    heap: list[tuple[int, str]] = []
    for one in waiting:
        heappush(heap, one)
    while heap[0][0] <= 3000:
        due_ms, name = heappop(heap)
        expected.append((due_ms, Task[name]))
        heappush(heap, (due_ms + INTERVALS[Task[name]], name))
    found: list[tuple[int, Task]] = []
    while schedule.next_ms <= 3000:
        now_ms = schedule.next_ms
        due = schedule.due(now_ms)
        assert due, "woken for nothing"
        found += [(now_ms, task) for task in due]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    # Woken late, a task is not made up for.
    assert len(schedule.due(100_000)) == len(Task)
    assert schedule.due(100_000) == []


def test_intervals_come_from_the_options() -> None:
    given = {"log.retention.check.interval.ms": "1234"}
    settings = Settings.of_broker(Table.of(log_rows), given)
    intervals = intervals_of(settings)
    assert intervals[Task.RETENTION] == 1234
    assert intervals[Task.RECOVERY_POINTS] == intervals[Task.LOG_STARTS] == 60_000
    assert intervals[Task.HIGH_WATERMARKS] == 5000
    assert schedule_of(settings, T).next_ms == T


def test_checkpoints_are_written_when_they_are_due_and_differ() -> None:
    _, logs, upkeep = ready()
    for hosted in logs.all():
        hosted.high_watermark = hosted.log.end_offset
    assert names(tick(upkeep, T)) == [HIGH_WATERMARKS] * 2
    assert names(tick(upkeep, T + 50)) == []
    logs[orders(0)].high_watermark -= 1
    expected = [RECOVERY_POINTS, RECOVERY_POINTS, HIGH_WATERMARKS, "FlushLogs", "FlushLogs"]
    assert names(tick(upkeep, T + 100)) == expected


def test_one_write_of_a_checkpoint_at_a_time() -> None:
    _, logs, upkeep = ready()
    (first, *others) = upkeep.plan(T)
    logs[orders(0)].high_watermark = 3
    assert [n for n in names(upkeep.plan(T + 50)) if n == HIGH_WATERMARKS] == []
    for job in (first, *others):
        job.run()
        upkeep.ended(job, None, T)
    assert names(tick(upkeep, T + 100)).count(HIGH_WATERMARKS) == 1


def test_a_write_that_failed_comes_again() -> None:
    disk, _, upkeep = ready(1)
    disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, f"*{HIGH_WATERMARKS}*"))
    assert names(tick(upkeep, T)) == [HIGH_WATERMARKS]
    assert names(tick(upkeep, T + 50)) == [HIGH_WATERMARKS]
    assert names(tick(upkeep, T + 99)) == []


def test_old_segments_go_at_once_and_their_files_later() -> None:
    disk, logs, upkeep = ready(1)
    hosted = logs[orders(0)]
    hosted.high_watermark = hosted.log.end_offset
    later = T + 10_000
    tick(upkeep, later)
    assert hosted.log.log_start_offset == hosted.log.end_offset
    removed = [path for path in disk.contents() if path.endswith(".log.deleted")]
    assert removed
    tick(upkeep, later + 6999)
    assert set(removed) <= disk.contents().keys()
    tick(upkeep, later + 7000)
    assert not set(removed) & disk.contents().keys()


def test_a_removal_that_failed_comes_again() -> None:
    disk, logs, upkeep = ready(1)
    upkeep.remove_later(logs.delete(orders(0), Uuid(b"\5" * 16)), T + 1)
    disk.inject(Fault(Fails(ENOSPC), Operation.REMOVE))
    tick(upkeep, T + 1)
    tick(upkeep, T + AGAIN_MS)
    assert any("-delete" in path for path in disk.contents())
    tick(upkeep, T + AGAIN_MS + 1)
    assert not any("-delete" in path for path in disk.contents())


def test_flushes_come_by_the_flush_task() -> None:
    _, logs, upkeep = ready(2)
    jobs = tick(upkeep, T + 600)
    flushes = [job for job in jobs if isinstance(job, FlushLogs)]
    assert sum(len(job.flushes) for job in flushes) == 2
    assert all(hosted.log.recovery_point == hosted.log.end_offset for hosted in logs.all())


def test_looking_at_many_logs_is_done_in_portions() -> None:
    disk = formatted(PATHS)
    logs = started(disk, PATHS)
    for number in range(LOGS_AT_ONCE * 2 + 1):
        append(create(logs, orders(number), OPTIONS), 1)
        logs[orders(number)].high_watermark = 2
    upkeep = Upkeep(logs, Commits(), Schedule(INTERVALS, 100, T), T)
    later, counts = T + 10_000, list[int]()
    while not counts or upkeep.next_ms <= later:
        tick(upkeep, later)
        counts.append(sum(hosted.log.log_start_offset == 2 for hosted in logs.all()))
    assert counts == [LOGS_AT_ONCE, LOGS_AT_ONCE * 2, LOGS_AT_ONCE * 2 + 1]


def test_a_deleted_log_is_left_alone() -> None:
    _, logs, upkeep = ready(2)
    for hosted in logs.all():
        hosted.high_watermark = hosted.log.end_offset
    hosted = logs[orders(0)]
    upkeep.plan(T)
    upkeep.remove_later(logs.delete(orders(0), Uuid(b"\5" * 16)), T + 10_000)
    tick(upkeep, T + 10_000)
    assert hosted.log.log_start_offset == 0


def test_a_lost_directory_costs_only_its_tasks() -> None:
    disk, logs, upkeep = ready(2)
    for hosted in logs.all():
        hosted.high_watermark = hosted.log.end_offset
    disk.inject(Fault(Fails(EIO), None, "/a/*", count=None))
    tick(upkeep, T + 10_000)
    assert list(logs.directories.offline) == ["/a"]
    logs.drop_offline()
    tick(upkeep, T + 20_000)
    assert logs[orders(1)].log.log_start_offset == 18
