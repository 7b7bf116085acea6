"""A partition moves to another directory while it is used, and no failure loses or doubles it."""

from errno import EIO, ENOSPC

import pytest

from ottla.broker.partition_history import PartitionHistory
from ottla.kernels.faults import Malformed
from ottla.records.scan import scan
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation, PowerCut
from ottla.storage.directory_logs import HostedLog
from ottla.storage.logs import Logs
from ottla.storage.moves import CopyPiece, Move, SwapLogs, start_move
from ottla.wire.fields import Uuid
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import SMALL, T, append, batch, content, create, orders, started

PATHS = ("/a", "/b")
UNIQUE = Uuid(b"\5" * 16)
ORDERS = orders(0)


def ready(batches: int = 12) -> tuple[SimulatedDisk, Logs, Move]:
    """A log of several segments in the first directory, and its move to the second one."""
    disk = formatted(PATHS)
    logs = started(disk, PATHS)
    hosted = create(logs, ORDERS)
    append(hosted, batches)
    hosted.log.flush(T)
    hosted.high_watermark = 7
    there = logs.homes[1].directory
    histories = (PartitionHistory(), PartitionHistory())
    return disk, logs, start_move(logs, ORDERS, there, UNIQUE, histories, T)


def step(move: Move) -> object:
    """Do the next job; give it."""
    job = move.plan(T)
    if job is None:
        return None
    fault: Malformed | OSError | None = None
    try:
        job.run()
    except (Malformed, OSError) as failed:
        fault = failed
    removal = move.ended(job, fault, T)
    if removal is not None:
        removal.run()
    return job


def finish(move: Move) -> None:
    for _ in range(200):
        if move.is_over:
            return
        step(move)
    raise AssertionError("it never ends")


def told(hosted: HostedLog) -> tuple[object, ...]:
    history, log = hosted.log.history, hosted.log
    assert isinstance(history, PartitionHistory)
    bounds = (log.log_start_offset, log.end_offset, hosted.high_watermark)
    return (*bounds, content(log), history.producers(), history.epochs())


def test_a_partition_moves_with_all_that_is_known_of_it() -> None:
    disk, logs, move = ready()
    logs[ORDERS].log.move_log_start(5)
    before = told(logs[ORDERS])
    finish(move)
    assert move.fault is None
    after = logs[ORDERS]
    assert (after.directory.path, told(after)) == ("/b", before)
    assert logs.future == {}
    assert [len(home.hosted) for home in logs.homes] == [0, 1]
    append(after, 3)
    assert not any("orders" in path for path in disk.contents() if path.startswith("/a/"))
    whole = told(after)[:2]
    disk.end_process()
    again = started(disk, PATHS)
    assert told(again[ORDERS])[1] == whole[1]
    assert again.future == {}


def test_what_is_appended_meanwhile_comes_along() -> None:
    _, logs, move = ready()
    for _ in range(6):
        append(logs[ORDERS], 2)
        job = step(move)
        assert not isinstance(job, SwapLogs)
    before = told(logs[ORDERS])
    finish(move)
    assert told(logs[ORDERS]) == before


def test_nobody_appends_while_the_folders_are_swapped() -> None:
    _, logs, move = ready()
    while not isinstance(job := move.plan(T), SwapLogs):
        assert job is not None
        assert not logs[ORDERS].is_taken
        job.run()
        move.ended(job, None, T)
    assert logs[ORDERS].is_taken
    assert move.plan(T) is None, "I-MOVE-1"
    job.run()
    move.ended(job, None, T)
    assert not logs[ORDERS].is_taken


def test_a_log_that_is_cut_meanwhile_takes_its_copy_along() -> None:
    _, logs, move = ready()
    step(move)
    logs.truncate_to(logs[ORDERS], 9, T)
    append(logs[ORDERS], 2)
    before = told(logs[ORDERS])
    finish(move)
    assert told(logs[ORDERS]) == before


def test_a_log_that_loses_its_oldest_segments_is_followed() -> None:
    _, logs, move = ready(30)
    hosted = logs[ORDERS]
    step(move)
    # Of this producer nothing is left soon but what the log knows of it.
    hosted.log.append([batch(hosted.log, producer_id=8)], T)
    hosted.log.roll(T)
    hosted.high_watermark = hosted.log.end_offset
    removal = hosted.log.delete_old(hosted.high_watermark, T + 10 * SMALL.retention_ms)
    assert removal is not None
    append(hosted, 2)
    before = told(hosted)
    finish(move)
    assert told(logs[ORDERS]) == before


def test_pieces_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ottla.storage.moves.PIECE_BYTES", 400)
    _, logs, move = ready(20)
    before = told(logs[ORDERS])
    pieces = 0
    while not move.is_over:
        pieces += isinstance(step(move), CopyPiece)
    assert pieces >= 20 * 145 // 400
    assert told(logs[ORDERS]) == before


def test_bad_bytes_end_the_move_and_are_not_carried_over() -> None:
    disk, logs, move = ready()
    path = f"{logs[ORDERS].log.segments.first.stem}.log"
    second = scan(content(logs[ORDERS].log)).rows[1]
    disk.flip_bit(path, second.position + 70, 1)
    finish(move)
    assert isinstance(move.fault, Malformed)
    assert move.fault.position == second.position
    assert logs[ORDERS].directory.path == "/a"
    assert not logs[ORDERS].is_taken
    assert logs.future[ORDERS].log.end_offset == 0


@pytest.mark.parametrize("first", range(1, 40, 3))
def test_a_disk_without_room_leaves_the_partition_where_it_was(first: int) -> None:
    disk, logs, move = ready()
    disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, "/b/*", first=first, count=None))
    before = told(logs[ORDERS])
    finish(move)
    disk.heal()
    assert told(logs[ORDERS]) == before
    assert (logs[ORDERS].directory.path == "/a") == (move.fault is not None)
    append(logs[ORDERS], 1)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("first", [1, 2])
def test_a_directory_that_is_lost_in_the_swap_loses_no_batch(path: str, first: int) -> None:
    disk, logs, move = ready()
    before = told(logs[ORDERS])
    disk.inject(Fault(Fails(EIO), Operation.RENAME, f"{path}/orders*", first=first))
    finish(move)
    if move.fault is not None:
        logs.drop_offline()
    disk.heal()
    disk.end_process()
    after = started(disk, PATHS)
    assert told(after[ORDERS])[1] == before[1]
    assert told(after[ORDERS])[3] == before[3]


def calls_of_a_move() -> int:
    """How many calls a whole move makes."""
    count = 0
    for first in range(1, 1000):
        disk, _, move = ready()
        disk.inject(Fault(CutsPower(), first=first))
        try:
            finish(move)
        except PowerCut:
            count = first
            continue
        break
    return count


def test_a_power_cut_at_any_call_loses_nothing() -> None:
    swapped = 0
    for first in range(1, calls_of_a_move() + 1, 2):
        disk, logs, move = ready()
        whole = content(logs[ORDERS].log)
        disk.inject(Fault(CutsPower(), first=first))
        with pytest.raises(PowerCut):
            finish(move)
        for image in disk.crash_images(images_max=3):
            after = started(image, PATHS)
            assert after.set_aside == []
            assert content(after[ORDERS].log) == whole
            swapped += after[ORDERS].directory.path == "/b"
    assert swapped > 0


def test_a_start_goes_on_with_a_move() -> None:
    disk, logs, move = ready(20)
    step(move)
    whole = content(logs[ORDERS].log)
    disk.end_process()
    after = started(disk, PATHS)
    assert list(after.future) == [ORDERS]
    finish(Move(after, ORDERS, PartitionHistory()))
    assert after[ORDERS].directory.path == "/b"
    assert content(after[ORDERS].log) == whole
