"""A clean stop: its mark says the truth, wherever it is cut off and whatever fails."""

import random
from collections.abc import Callable
from contextlib import suppress
from errno import EIO, ENOSPC

import pytest

from ottla.broker.partition_history import PartitionHistory
from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation, PowerCut
from ottla.storage.logs import Logs
from ottla.storage.stopping import Stop
from tests.unit.storage.log_directories import format_all
from tests.unit.storage.node_logs import (
    EPOCH,
    T,
    append,
    content,
    create,
    orders,
    plan,
    started,
    stop,
)

PATHS = ("/a", "/b")


def ready(record: Callable[[str], None] | None = None) -> tuple[SimulatedDisk, Logs]:
    """A log in each directory; in the first one all kinds of files wait to be written."""
    disk = SimulatedDisk(lambda: T, random.Random(0), record=record)
    format_all(disk, PATHS)
    logs = started(disk, PATHS)
    first, second = create(logs, orders(0)), create(logs, orders(1))
    append(first, 5)
    first.log.flush(T)
    append(first, 5)
    first.log.move_log_start(3)
    first.high_watermark = 15
    append(second, 1)
    return disk, logs


def told(logs: Logs) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for hosted in logs.all():
        history = hosted.log.history
        assert isinstance(history, PartitionHistory)
        log = hosted.log
        said = (log.log_start_offset, log.end_offset, hosted.high_watermark, content(log))
        found.append((hosted.partition, *said, history.producers(), history.epochs()))
    return sorted(found, key=repr)


def calls_of_a_stop() -> int:
    calls: list[str] = []
    _, logs = ready(calls.append)
    calls.clear()
    stop(logs)
    return len(calls)


CALLS = calls_of_a_stop()


def test_a_mark_says_the_truth_wherever_the_power_went() -> None:
    marked = 0
    for first in range(1, CALLS + 1):
        disk, logs = ready()
        before = told(logs)
        disk.inject(Fault(CutsPower(), first=first))
        with pytest.raises(PowerCut):
            stop(logs)
        for model in CrashModel:
            for image in disk.crash_images(model, images_max=6):
                marked += hold_against_mark(image, before)
    assert marked > 0, "no image had a mark"


def hold_against_mark(image: SimulatedDisk, before: list[tuple[object, ...]]) -> bool:
    """Does a start that believes a mark find all that there was?"""
    has_mark = [f"{path}/.kafka_cleanshutdown" in image.contents() for path in PATHS]
    loading = plan(image, PATHS)
    for job in loading.in_turn():
        job.run()
    after = loading.finish()
    assert after.set_aside == []
    assert loading.broker_epoch == (EPOCH if all(has_mark) else None)
    for number, has in enumerate(has_mark):
        if has:
            found = [one for one in told(after) if one[0] == orders(number)]
            assert found == [one for one in before if one[0] == orders(number)]
    return any(has_mark)


@pytest.mark.parametrize("number", [EIO, ENOSPC])
def test_no_call_that_fails_leaves_a_wrong_mark(number: int) -> None:
    for first in range(1, CALLS + 1):
        disk, logs = ready()
        before = told(logs)
        disk.inject(Fault(Fails(number), first=first))
        stopping = Stop(logs, T)
        for job in stopping.close_jobs:
            try_it(job.run)
        for mark in stopping.mark_jobs(EPOCH):
            try_it(mark.run)
        disk.heal()
        disk.end_process()
        hold_against_mark(disk, before)


def try_it(run: Callable[[], None]) -> None:
    with suppress(OSError):
        run()


def test_a_log_that_was_not_closed_leaves_its_directory_unmarked() -> None:
    disk, logs = ready()
    disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, "/a/orders-0/*", count=None))
    stopping = Stop(logs, T)
    for job in stopping.close_jobs:
        try_it(job.run)
    assert [job.is_closed for job in stopping.close_jobs] == [False, True]
    marks = stopping.mark_jobs(EPOCH)
    assert [mark.is_clean for mark in marks] == [False, True]
    for mark in marks:
        mark.run()
    assert "/b/.kafka_cleanshutdown" in disk.contents()
    assert "/a/.kafka_cleanshutdown" not in disk.contents()
