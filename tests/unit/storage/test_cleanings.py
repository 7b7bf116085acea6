"""Logs are cleaned as time goes by: begun, kept to a pace, stopped, failed, and written down."""

from collections.abc import Callable
from dataclasses import replace
from errno import EIO, ENOSPC
from itertools import product
from typing import TypeAlias

import pytest

from ottla.broker.partition_history import PartitionHistory
from ottla.config import log as log_rows
from ottla.config.settings import Settings
from ottla.config.table import Table
from ottla.kernels.compaction import OffsetMap
from ottla.records.reader import read_records
from ottla.records.scan import scan
from ottla.sim.faults import Fails, Fault, Operation
from ottla.storage.cleaning import cleaning as cleaning_module
from ottla.storage.cleaning import hosted_cleaning
from ottla.storage.cleaning.cleanings import Cleanings
from ottla.storage.cleaning.hosted_cleaning import (
    CleanPiece,
    MakeMap,
    SettleSwap,
    StageSwap,
    Uncleanable,
)
from ottla.storage.cleaning.options import CleanerOptions, cleaner_options_of
from ottla.storage.commits import Commits
from ottla.storage.directory_logs import Busy, HostedLog
from ottla.storage.file_names import CLEANER_OFFSETS
from ottla.storage.logs import Logs
from ottla.storage.moves import start_move
from ottla.storage.schedule import Schedule, Task
from ottla.storage.upkeep import Job, Upkeep
from ottla.wire.fields import Uuid
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import (
    SMALL,
    KnownTopics,
    T,
    append,
    content,
    create,
    orders,
    started,
    stop,
)

COMPACTED = replace(SMALL, is_compacted=True, is_deleted=False, file_delete_delay_ms=7000)
LATER_MS = 10**9
PATHS = ("/a",)
Ended: TypeAlias = tuple[Job, OSError | None]


def fill(hosted: HostedLog, batches: int) -> None:
    """Append, bring it to the device, and have it on enough replicas."""
    append(hosted, batches)
    hosted.log.flush(T)
    hosted.high_watermark = hosted.log.end_offset


class Node:
    """The upkeep of compacted logs, on a disk of its own, in a time that is told."""

    def __init__(
        self, *batches: int, paths: tuple[str, ...] = PATHS, options: CleanerOptions | None = None
    ) -> None:
        self.disk = formatted(paths)
        self.paths = paths
        self.logs = started(self.disk, paths)
        self.options = options or CleanerOptions(map_bytes=24 * 1000)
        self.now_ms = T
        for number, count in enumerate(batches):
            hosted = create(self.logs, orders(number), COMPACTED)
            fill(hosted, count)
        self.begin()

    def begin(self) -> None:
        intervals = dict.fromkeys(Task, LATER_MS)
        schedule = Schedule(intervals, LATER_MS, self.now_ms)
        schedule.due(self.now_ms)
        self.cleanings = Cleanings(self.logs, self.options, lambda: bytes(16), self.now_ms)
        self.upkeep = Upkeep(self.logs, Commits(), schedule, self.now_ms, self.cleanings)

    def run(self, jobs: list[Job]) -> list[Ended]:
        ended: list[Ended] = []
        for job in jobs:
            fault = None
            try:
                job.run()
            except OSError as failed:
                fault = failed
            self.upkeep.ended(job, fault, self.now_ms)
            ended.append((job, fault))
        return ended

    def tick(self) -> list[Ended]:
        return self.run(self.upkeep.plan(self.now_ms))

    def rest(self) -> list[Ended]:
        """Do all that can be done at this time."""
        ended: list[Ended] = []
        for _ in range(1000):
            if self.upkeep.next_ms > self.now_ms:
                return ended
            ended += self.tick()
        raise AssertionError("it never rests")

    def until(self, kind: type[Job], nth: int = 1) -> Job:
        """Go on up to a job, which is given and not run."""
        for _ in range(1000):
            jobs = self.upkeep.plan(self.now_ms)
            for job in [job for job in jobs if isinstance(job, kind)]:
                nth -= 1
                if not nth:
                    jobs.remove(job)
                    self.run(jobs)
                    return job
            self.run(jobs)
        raise AssertionError(f"no {kind.__name__}")

    def start_again(self) -> None:
        self.disk.end_process()
        self.logs = started(self.disk, self.paths, KnownTopics(COMPACTED), self.now_ms)
        self.begin()

    def strays(self) -> list[str]:
        return [path for path in self.disk.contents() if ".cleaned" in path or ".swap" in path]


def offsets(hosted: HostedLog) -> list[int]:
    data, found = content(hosted.log), list[int]()
    for row in scan(data).rows:
        batch = data[row.position : row.position + row.size_bytes]
        found += [one.offset for one in read_records(batch, len(batch))]
    return found


def kinds(ended: list[Ended]) -> list[str]:
    return [type(job).__name__ for job, _ in ended]


def is_clean(hosted: HostedLog) -> bool:
    return hosted.cleaned_offset == hosted.log.segments.active.base_offset


def test_a_dirty_log_is_cleaned_and_that_is_written_down() -> None:
    node = Node(40)
    hosted = node.logs[orders(0)]
    before = hosted.log.size_bytes
    ended = node.rest()
    assert [fault for _, fault in ended if fault] == []
    assert is_clean(hosted)
    assert hosted.log.size_bytes < before / 4
    said = b"0\n1\norders 0 %d\n" % (hosted.cleaned_offset or 0)
    assert node.disk.contents()[f"/a/{CLEANER_OFFSETS}"] == said
    assert hosted.cleaning is None
    assert node.strays() == []
    # Its old files stay for those who still read them.
    assert any(path.endswith(".deleted") for path in node.disk.contents())
    node.now_ms += COMPACTED.file_delete_delay_ms
    node.rest()
    assert not any(path.endswith(".deleted") for path in node.disk.contents())


def test_nothing_dirty_is_looked_for_again_after_the_backoff() -> None:
    node = Node(1, options=CleanerOptions(backoff_ms=500))
    node.rest()
    assert node.upkeep.next_ms == T + 500
    fill(node.logs[orders(0)], 40)
    node.now_ms += 499
    assert kinds(node.rest()) == []
    node.now_ms += 1
    assert "MakeMap" in kinds(node.rest())


def test_what_is_not_on_enough_replicas_is_not_cleaned() -> None:
    node = Node(40)
    node.logs[orders(0)].high_watermark = 0
    assert kinds(node.rest()) == []


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_so_many_are_cleaned_at_once_as_there_are_threads(threads: int) -> None:
    node = Node(20, 20, 20, options=CleanerOptions(threads=threads))
    jobs = node.upkeep.plan(T)
    assert [type(job) for job in jobs] == [MakeMap] * min(threads, 3)
    assert [type(job) for job in node.upkeep.plan(T)] == []
    node.run(jobs)
    node.rest()
    assert sum(is_clean(hosted) for hosted in node.logs.all()) == (3 if threads else 0)


def test_no_cleaner_no_cleaning() -> None:
    node = Node(40, options=CleanerOptions(is_enabled=False))
    assert kinds(node.rest()) == []


def test_options_are_those_of_the_broker() -> None:
    given = {
        "log.cleaner.enable": "false",
        "log.cleaner.threads": "3",
        "log.cleaner.dedupe.buffer.size": "2400",
        "log.cleaner.io.buffer.load.factor": "0.5",
        "log.cleaner.io.max.bytes.per.second": "1000.5",
        "log.cleaner.backoff.ms": "7",
    }
    found = cleaner_options_of(Settings.of_broker(Table.of(log_rows), given))
    assert found == CleanerOptions(False, 3, 2400, 0.5, 1000.5, 7)
    assert cleaner_options_of(Settings.of_broker(Table.of(log_rows), {})) == CleanerOptions()


@pytest.mark.parametrize("count", [0, 1, 2, 10, 29, 30, 31, 10**12])
def test_maps_share_the_memory_and_are_no_larger_than_needed(count: int) -> None:
    options = CleanerOptions(threads=3, map_bytes=2400, load_factor=0.9)
    size_bytes, keys_max = options.map_size(count)
    OffsetMap(bytearray(size_bytes), bytes(16), keys_max)
    assert size_bytes <= 800
    assert keys_max >= min(count, 29)


def test_all_cleanings_together_keep_to_the_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_cleaning, "PIECE_BYTES", 1)
    node = Node(200, 200, options=CleanerOptions(threads=2, bytes_per_second=20_000))
    moved_bytes, last_ms = 0, T
    while not all(is_clean(hosted) for hosted in node.logs.all()):
        for job, _ in node.tick():
            if isinstance(job, CleanPiece):
                moved_bytes += job.size_bytes
                last_ms = node.now_ms
        node.now_ms = max(node.now_ms + 50, min(node.upkeep.next_ms, node.now_ms + 60_000))
    assert moved_bytes > 40_000
    # What may go before the rate is judged for the first time is two runs each 50 ms.
    assert (last_ms - T) / 1000 > (moved_bytes - 30_000) / 20_000
    assert (last_ms - T) / 1000 < 2 * moved_bytes / 20_000 + 2


@pytest.mark.parametrize(
    ("kind", "nth"),
    [(MakeMap, 1), *product([CleanPiece, StageSwap, SettleSwap], [1, 2])],
)
def test_a_stop_in_the_midst_leaves_a_log_that_a_start_believes(kind: type[Job], nth: int) -> None:
    node = Node(40)
    hosted = node.logs[orders(0)]
    last = hosted.log.end_offset - 1
    node.run([node.until(kind, nth)])
    assert stop(node.logs) == [True]
    assert node.strays() == []
    node.start_again()
    node.rest()
    hosted = node.logs[orders(0)]
    assert is_clean(hosted)
    assert offsets(hosted)[-1] == last
    assert len(offsets(hosted)) < 20


@pytest.mark.parametrize("kind", [MakeMap, CleanPiece])
def test_a_log_that_is_cut_while_it_is_cleaned_is_begun_anew(kind: type[Job]) -> None:
    node = Node(40)
    hosted = node.logs[orders(0)]
    job = node.until(kind)
    node.logs.truncate_to(hosted, 21, T)
    node.run([job])
    assert hosted.cleaning is None
    assert hosted.cleaned_offset is None
    assert node.strays() == []
    assert node.cleanings.cleaner.uncleanable == {}
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert is_clean(hosted)
    assert offsets(hosted)[-1] == 19


@pytest.mark.parametrize("kind", [StageSwap, SettleSwap])
@pytest.mark.parametrize("cut", [Logs.truncate_to, Logs.start_at])
def test_a_log_is_not_cut_in_the_midst_of_a_swap(
    kind: type[Job], cut: Callable[[Logs, HostedLog, int, int], None]
) -> None:
    node = Node(40)
    hosted = node.logs[orders(0)]
    job = node.until(kind)
    with pytest.raises(Busy):
        cut(node.logs, hosted, 21, T)
    node.run([job])
    node.rest()
    cut(node.logs, hosted, 21, T)


@pytest.mark.parametrize("kind", [MakeMap, CleanPiece, StageSwap, SettleSwap])
def test_a_log_is_deleted_while_it_is_cleaned(kind: type[Job]) -> None:
    node = Node(40)
    job = node.until(kind)
    removal = node.logs.delete(orders(0), Uuid(b"\5" * 16))
    hosted = create(node.logs, orders(0), COMPACTED)
    fill(hosted, 30)
    before = content(hosted.log)
    node.run([job])
    assert content(hosted.log) == before
    assert node.strays() == [] or all("-delete" in path for path in node.strays())
    removal.run()
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert is_clean(hosted)
    assert node.strays() == []


def test_a_pause_ends_a_cleaning_and_holds() -> None:
    node = Node(40)
    job = node.until(CleanPiece, 2)
    node.cleanings.cleaner.pause(orders(0))
    node.run([job])
    node.now_ms += node.options.backoff_ms
    assert kinds(node.rest()) == []
    assert node.strays() == []
    node.cleanings.cleaner.resume(orders(0))
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert is_clean(node.logs[orders(0)])


def test_a_damaged_log_is_set_aside_and_others_are_cleaned() -> None:
    node = Node(40, 30)
    damaged = node.logs[orders(0)]
    path = f"{damaged.log.segments.first.stem}.log"
    with_file = node.disk.open(path, create=False)
    with_file.write([b"\xff"], 70)
    faults = [fault for _, fault in node.rest() if fault is not None]
    assert [type(fault) for fault in faults] == [Uncleanable]
    assert path.removesuffix(".log") in str(faults[0])
    assert list(node.cleanings.cleaner.uncleanable) == [orders(0)]
    assert is_clean(node.logs[orders(1)])
    assert damaged.directory.is_live
    node.now_ms += node.options.backoff_ms
    assert "MakeMap" not in kinds(node.rest())


def test_no_room_leaves_the_log_and_it_is_tried_again() -> None:
    node = Node(40)
    node.disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, "*.cleaned"))
    hosted = node.logs[orders(0)]
    before = content(hosted.log)
    node.rest()
    # Only what nothing had to be written for has gone.
    assert before.endswith(content(hosted.log))
    assert hosted.cleaned_offset is None
    assert node.strays() == []
    assert node.cleanings.cleaner.uncleanable == {}
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert is_clean(hosted)


@pytest.mark.parametrize("kind", [CleanPiece, StageSwap, SettleSwap])
def test_a_broken_disk_costs_its_own_logs_only(kind: type[Job]) -> None:
    node = Node(40, 40, paths=("/a", "/b"))
    job = node.until(kind)
    lost = next(one for one in node.logs.all() if one.cleaning is not None).directory
    node.disk.inject(Fault(Fails(EIO), None, f"{lost.path}/*", count=None))
    node.run([job])
    node.rest()
    assert list(node.logs.directories.offline) == [lost.path]
    node.logs.drop_offline()
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert [is_clean(hosted) for hosted in node.logs.all()] == [True]


def test_a_swap_that_readers_see_is_brought_to_its_end() -> None:
    node = Node(40)
    job = node.until(SettleSwap)
    node.disk.inject(Fault(Fails(ENOSPC), Operation.RENAME, "/a/orders-0*"))
    node.run([job])
    node.rest()
    hosted = node.logs[orders(0)]
    assert hosted.is_swapping
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert is_clean(hosted)
    assert node.strays() == []


def test_retention_keeps_off_a_swap() -> None:
    node = Node(40)
    hosted = node.logs[orders(0)]
    hosted.log.options = replace(COMPACTED, is_deleted=True, retention_ms=0)
    job = node.until(StageSwap)
    node.now_ms += LATER_MS
    others = node.upkeep.plan(node.now_ms)
    assert hosted.log.log_start_offset == 0
    node.run([job, *others])
    node.rest()
    node.now_ms += LATER_MS
    node.rest()
    assert hosted.log.log_start_offset == hosted.log.end_offset


def test_a_segment_that_would_outgrow_its_positions_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = Node(40)
    monkeypatch.setattr(cleaning_module, "POSITION_MAX", 50)
    before = content(node.logs[orders(0)].log)
    faults = [str(fault) for _, fault in node.rest() if fault is not None]
    assert len(faults) == 1
    assert "larger than a segment can be" in faults[0]
    # Only what nothing had to be written for has gone.
    assert before.endswith(content(node.logs[orders(0)].log))
    assert offsets(node.logs[orders(0)])[-1] == 79
    assert node.strays() == []
    assert list(node.cleanings.cleaner.uncleanable) == [orders(0)]


def test_a_clock_that_is_set_back_holds_up_nothing() -> None:
    node = Node(1)
    node.rest()
    fill(node.logs[orders(0)], 40)
    node.now_ms -= LATER_MS
    node.tick()
    node.rest()
    assert is_clean(node.logs[orders(0)])


def test_options_without_sense_stop_no_node() -> None:
    options = CleanerOptions(map_bytes=-1, load_factor=-2, bytes_per_second=0)
    node = Node(40, options=options)
    hosted = node.logs[orders(0)]
    for _ in range(100):
        node.tick()
        node.now_ms = max(node.now_ms, node.upkeep.next_ms)
    assert hosted.cleaned_offset
    assert offsets(hosted)[-1] == 79


@pytest.mark.parametrize("kind", [MakeMap, CleanPiece])
def test_a_log_on_its_way_elsewhere_is_not_cleaned(kind: type[Job]) -> None:
    node = Node(40, paths=("/a", "/b"))
    hosted = node.logs[orders(0)]
    before = content(hosted.log)
    job = node.until(kind)
    (other,) = [home for home in node.logs.homes if home.directory is not hosted.directory]
    histories = (PartitionHistory(), PartitionHistory())
    move = start_move(node.logs, orders(0), other.directory, Uuid(b"\6" * 16), histories, T)
    node.run([job])
    node.now_ms += node.options.backoff_ms
    assert "MakeMap" not in kinds(node.rest())
    assert content(hosted.log) == before
    while not move.is_over:
        moving = move.plan(T)
        assert moving is not None
        moving.run()
        move.ended(moving, None, T)
    node.now_ms += node.options.backoff_ms
    node.rest()
    assert content(node.logs[orders(0)].log) != before
    assert is_clean(node.logs[orders(0)])


@pytest.mark.parametrize("kind", [StageSwap, SettleSwap])
def test_a_move_waits_for_a_swap(kind: type[Job]) -> None:
    node = Node(40, paths=("/a", "/b"))
    hosted = node.logs[orders(0)]
    node.until(kind)
    (other,) = [home for home in node.logs.homes if home.directory is not hosted.directory]
    histories = (PartitionHistory(), PartitionHistory())
    with pytest.raises(Busy):
        start_move(node.logs, orders(0), other.directory, Uuid(b"\6" * 16), histories, T)
    assert node.logs.future == {}
