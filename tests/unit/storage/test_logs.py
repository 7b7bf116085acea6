"""The logs of a node: after a clean end and any other, with damage, with a disk that fails."""

from dataclasses import replace
from errno import EIO

import pytest

from ottla.broker.partition_history import PartitionHistory
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation
from ottla.storage.directories import open_directories
from ottla.storage.directory_logs import Busy
from ottla.storage.file_names import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from ottla.storage.loading import Loading
from ottla.storage.logs import Logs
from ottla.storage.recovery import Corrupt
from ottla.wire.fields import Uuid
from tests.unit.ports.disks import NOW_MS
from tests.unit.storage.log_directories import OWNER, TOPIC_ID, formatted
from tests.unit.storage.node_logs import (
    EPOCH,
    KnownTopics,
    append,
    content,
    create,
    orders,
    plan,
    started,
    stop,
)

PATHS = ("/a", "/b")
UNIQUE = Uuid(b"\5" * 16)


def filled(partitions: int = 4, batches: int = 9) -> tuple[SimulatedDisk, Logs]:
    """Two directories with logs of several segments each; the odd ones are flushed half way."""
    disk = formatted(PATHS)
    logs = started(disk, PATHS)
    for number in range(partitions):
        hosted = create(logs, orders(number))
        append(hosted, batches)
        if number % 2:
            hosted.log.flush(NOW_MS)
            append(hosted, batches)
        hosted.high_watermark = hosted.log.end_offset - 3
    return disk, logs


def told(logs: Logs) -> dict[object, tuple[object, ...]]:
    """What can be known of every log."""
    found: dict[object, tuple[object, ...]] = {}
    for partition, hosted in logs.current.items():
        log, history = hosted.log, hosted.log.history
        assert isinstance(history, PartitionHistory)
        found[partition] = (
            log.log_start_offset,
            log.end_offset,
            content(log),
            tuple(history.epochs()),
            tuple(history.producers()),
            hosted.topic_id,
            hosted.directory.path,
        )
    return found


def test_new_partitions_lie_where_there_are_the_fewest() -> None:
    _, logs = filled()
    paths = [logs[orders(number)].directory.path for number in range(4)]
    assert paths == ["/a", "/b", "/a", "/b"]


def test_a_clean_end_is_believed() -> None:
    disk, logs = filled()
    before = told(logs)
    marks = {h.partition: h.high_watermark for h in logs.all()}
    assert stop(logs) == [True, True]
    disk.end_process()
    loading = plan(disk, PATHS)
    assert loading.broker_epoch == EPOCH
    assert [p.bytes_total for p in loading.progress().values()] == [0, 0]
    for job in loading.in_turn():
        job.run()
        assert job.findings is not None
        assert job.findings.checked_bytes == 0
    after = loading.finish()
    assert told(after) == before
    assert {h.partition: h.high_watermark for h in after.all()} == marks
    assert {h.log.recovery_point == h.log.end_offset for h in after.all()} == {True}


def test_an_unclean_end_is_checked_from_the_recovery_point() -> None:
    disk, logs = filled()
    before = told(logs)
    disk.end_process()
    loading = plan(disk, PATHS)
    assert loading.broker_epoch is None
    jobs = list(loading.in_turn())
    assert sum(job.bytes_total for job in jobs) == sum(h.log.size_bytes for h in logs.all())
    jobs[0].run()
    progress = loading.progress()["/a"]
    assert (progress.logs_done, progress.logs_total) == (1, 2)
    assert 0 < progress.bytes_done < progress.bytes_total
    for job in jobs[1:]:
        job.run()
    assert told(loading.finish()) == before
    for job in jobs:
        assert job.findings is not None
        assert job.findings.checked_bytes == job.bytes_total == job.checked_bytes


def test_less_is_checked_once_recovery_points_were_written() -> None:
    disk, logs = filled()
    for home in logs.homes:
        job = home.plan_offsets(RECOVERY_POINTS)
        assert job is not None
        job.run()
    disk.end_process()
    sizes = {
        job.partition: job.bytes_total for jobs in plan(disk, PATHS).jobs.values() for job in jobs
    }
    assert sizes[orders(0)] == logs[orders(0)].log.size_bytes
    assert sizes[orders(1)] < logs[orders(1)].log.size_bytes


def corrupt(disk: SimulatedDisk, logs: Logs, number: int) -> str:
    """Let a bit rot below the recovery point; give the file."""
    hosted = logs[orders(number)]
    hosted.log.flush(NOW_MS)
    job = logs.home_of(hosted.directory).plan_offsets(RECOVERY_POINTS)
    assert job is not None
    job.run()
    path = f"{hosted.log.segments.active.stem}.log"
    disk.flip_bit(path, 70, 1)
    return path


def test_a_corrupt_log_is_set_aside_and_the_others_live() -> None:
    disk, logs = filled(3)
    append(logs[orders(2)], 1)
    path = corrupt(disk, logs, 2)
    before = {p: c for p, c in disk.contents().items() if "orders-2" in p}
    disk.end_process()
    after = started(disk, PATHS)
    assert sorted(after.current) == [orders(0), orders(1)]
    (aside,) = after.set_aside
    assert aside.partition == orders(2)
    assert isinstance(aside.fault, Corrupt)
    assert (aside.fault.place, aside.fault.position) == (path, 0)
    assert {p: c for p, c in disk.contents().items() if "orders-2" in p} == before
    # Its recovery point stays, and its directory gets no mark: both would hide it next time.
    assert stop(after) == [False, True]
    disk.end_process()
    loading = plan(disk, PATHS)
    assert loading.broker_epoch is None
    again = started_from(loading)
    assert [one.partition for one in again.set_aside] == [orders(2)]
    assert sorted(again.current) == [orders(0), orders(1)]


def started_from(loading: Loading) -> Logs:
    for job in loading.in_turn():
        job.run()
    return loading.finish()


def test_a_corrupt_log_can_be_deleted_and_made_anew() -> None:
    disk, logs = filled(3)
    corrupt(disk, logs, 2)
    disk.end_process()
    after = started(disk, PATHS)
    after.delete(orders(2), UNIQUE).run()
    assert after.set_aside == []
    assert create(after, orders(2)).log.end_offset == 0
    assert not any("-delete" in path for path in disk.contents())


@pytest.mark.parametrize("first", [1, 2, 4])
def test_a_directory_that_fails_costs_only_its_logs(first: int) -> None:
    disk, logs = filled()
    before = told(logs)
    disk.end_process()
    loading = plan(disk, PATHS)
    disk.inject(Fault(Fails(EIO), Operation.READ, "/b/orders*", first=first, count=None))
    after = started_from(loading)
    assert list(after.directories.offline) == ["/b"]
    assert told(after) == {p: said for p, said in before.items() if said[-1] == "/a"}
    assert after.set_aside == []


def test_a_directory_that_fails_later_takes_its_logs_along() -> None:
    disk, logs = filled()
    disk.inject(Fault(Fails(EIO), Operation.SYNC, "/a/*", count=None))
    with pytest.raises(OSError, match="offline"):
        logs[orders(0)].log.flush(NOW_MS)
    gone = logs.drop_offline()
    assert sorted(hosted.partition for hosted in gone) == [orders(0), orders(2)]
    assert sorted(logs.current) == [orders(1), orders(3)]
    assert create(logs, orders(9)).directory.path == "/b"


def test_a_deleted_partition_is_gone_before_its_files_are() -> None:
    disk, logs = filled()
    job = logs.delete(orders(0), UNIQUE)
    assert logs.get(orders(0)) is None
    new = create(logs, orders(0))
    assert (new.log.end_offset, new.log.size_bytes) == (0, 0)
    assert any("-delete/" in path for path in disk.contents())
    job.run()
    assert not any("-delete" in path for path in disk.contents())
    disk.end_process()
    assert started(disk, PATHS)[orders(0)].log.end_offset == 0


def test_what_waited_for_its_removal_is_removed_after_the_start() -> None:
    disk, logs = filled()
    logs.delete(orders(0), UNIQUE)
    disk.end_process()
    after = started(disk, PATHS)
    assert len(after.leftovers) == 1
    after.leftovers[0].run()
    assert not any("-delete" in path for path in disk.contents())


def test_folders_that_nobody_knows_become_strays() -> None:
    disk, logs = filled()
    before = told(logs)
    disk.end_process()
    after = started(disk, PATHS, KnownTopics(unknown=frozenset({"orders"})))
    assert len(after) == 0
    assert sum(path.endswith("-stray") for path in disk.contents()) == len(before)


def test_a_new_log_is_never_behind_an_old_recovery_point() -> None:
    disk, logs = filled(1)
    logs[orders(0)].log.flush(NOW_MS)
    home = logs.homes[0]
    job = home.plan_offsets(RECOVERY_POINTS)
    assert job is not None
    with_busy = logs.delete(orders(0), UNIQUE)
    with pytest.raises(Busy):
        create(logs, orders(0))
    job.run()
    home.offsets.ended(job, has_failed=False)
    append(create(logs, orders(0)))
    with_busy.run()
    found = open_directories(disk_after(disk), PATHS, OWNER).live[0].read_offsets(RECOVERY_POINTS)
    assert found.get(orders(0), 0) == 0


def disk_after(disk: SimulatedDisk) -> SimulatedDisk:
    disk.end_process()
    return disk


def test_a_recovery_point_is_taken_back_before_a_cut() -> None:
    disk, logs = filled(2)
    hosted = logs[orders(1)]
    hosted.log.flush(NOW_MS)
    home = logs.home_of(hosted.directory)
    job = home.plan_offsets(RECOVERY_POINTS)
    assert job is not None
    with pytest.raises(Busy):
        logs.truncate_to(hosted, 5, NOW_MS)
    job.run()
    home.offsets.ended(job, has_failed=False)
    logs.truncate_to(hosted, 5, NOW_MS)
    assert hosted.log.end_offset == 4
    assert hosted.high_watermark == 4
    # What is appended now is torn by the power cut, and is no corruption.
    append(hosted, 4)
    for image in disk.crash_images(images_max=30):
        after = started(image, PATHS)
        assert after.set_aside == []
        assert 4 <= after[orders(1)].log.end_offset <= hosted.log.end_offset


def test_no_cut_while_the_log_is_flushed() -> None:
    _, logs = filled(1)
    hosted = logs[orders(0)]
    flush = hosted.log.plan_flush()
    with pytest.raises(Busy):
        logs.truncate_to(hosted, 2, NOW_MS)
    with pytest.raises(Busy):
        logs.start_at(hosted, 2, NOW_MS)
    flush.run()
    hosted.log.flushed(flush, NOW_MS)
    logs.start_at(hosted, 2, NOW_MS)
    assert (hosted.log.log_start_offset, hosted.high_watermark) == (2, 2)


def test_checkpoints_hold_what_kafka_would_write() -> None:
    _, logs = filled(2)
    first, second = logs[orders(0)], logs[orders(1)]
    first.log.move_log_start(4)
    for home in logs.homes:
        for name in (RECOVERY_POINTS, LOG_START_OFFSETS, HIGH_WATERMARKS):
            job = home.plan_offsets(name)
            if job is not None:
                job.run()
    at_a, at_b = (home.directory for home in logs.homes)
    assert at_a.read_offsets(LOG_START_OFFSETS) == {orders(0): 4}
    assert at_b.read_offsets(LOG_START_OFFSETS) == {}
    assert at_a.read_offsets(RECOVERY_POINTS) == {orders(0): 0}
    assert at_b.read_offsets(RECOVERY_POINTS) == {orders(1): second.log.recovery_point}
    assert at_a.read_offsets(HIGH_WATERMARKS) == {orders(0): first.high_watermark}


def test_options_may_change_while_a_log_is_open() -> None:
    _, logs = filled(1)
    log = logs[orders(0)].log
    count = len(log.segments)
    log.set_options(replace(log.options, segment_bytes=1 << 20))
    append(logs[orders(0)], 30)
    assert len(log.segments) == count
    log.set_options(replace(log.options, segment_bytes=1))
    append(logs[orders(0)], 2)
    assert len(log.segments) == count + 2


def test_a_partition_has_the_id_of_its_topic() -> None:
    disk, logs = filled(1)
    disk.end_process()
    assert logs[orders(0)].topic_id == started(disk, PATHS)[orders(0)].topic_id == TOPIC_ID
