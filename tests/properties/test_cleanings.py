"""Whatever happens to a node between cleanings, the last record of each key is there."""

from dataclasses import replace
from random import Random

import pytest

from ottla.records.builder import BatchOptions, write_batch
from ottla.records.reader import read_records
from ottla.records.scan import scan
from ottla.storage.cleaning.cleanings import Cleanings
from ottla.storage.cleaning.options import CleanerOptions
from ottla.storage.commits import Commits
from ottla.storage.directory_logs import HostedLog
from ottla.storage.schedule import Schedule, Task
from ottla.storage.upkeep import Job, Upkeep
from tests.unit.storage.log_directories import formatted
from tests.unit.storage.node_logs import (
    SMALL,
    KnownTopics,
    T,
    content,
    create,
    orders,
    started,
    stop,
)

PATHS = ("/a",)
PARTITIONS = 2
COMPACTED = replace(
    SMALL, is_compacted=True, is_deleted=True, retention_bytes=6000, file_delete_delay_ms=300
)
CLEANER = CleanerOptions(threads=2, map_bytes=24 * 12, backoff_ms=50, bytes_per_second=200_000)


class World:
    """A node that is filled, tended and started again, and what its logs must hold."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.now_ms = T
        self.disk = formatted(PATHS)
        self.written = [dict[int, tuple[bytes, bytes]]() for _ in range(PARTITIONS)]
        self.cleaned = 0
        self.logs = started(self.disk, PATHS)
        for number in range(PARTITIONS):
            create(self.logs, orders(number), COMPACTED)
        self.begin()

    def begin(self) -> None:
        schedule = Schedule(dict.fromkeys(Task, 200), 10, self.now_ms)
        cleanings = Cleanings(self.logs, CLEANER, lambda: self.chance.randbytes(16), self.now_ms)
        self.upkeep = Upkeep(self.logs, Commits(), schedule, self.now_ms, cleanings)
        self.jobs: list[Job] = []

    def append(self) -> None:
        number = self.chance.randrange(PARTITIONS)
        log = self.logs[orders(number)].log
        rows = [
            (log.end_offset + at, self.now_ms, b"%d" % self.chance.randrange(20), value, ())
            for at in range(self.chance.randrange(1, 6))
            for value in [self.chance.randbytes(30)]
        ]
        data = bytes(write_batch(rows, BatchOptions(base_offset=log.end_offset)))
        log.append([(data, scan(data).rows)], self.now_ms)
        self.written[number].update((row[0], (row[2], row[3])) for row in rows)
        self.logs[orders(number)].high_watermark = log.end_offset

    def tend(self) -> None:
        """Plan, and let some of the jobs that are under way run, in any order."""
        self.now_ms += self.chance.randrange(60)
        self.jobs += self.upkeep.plan(self.now_ms)
        self.chance.shuffle(self.jobs)
        for _ in range(self.chance.randrange(len(self.jobs) + 1)):
            self.run(self.jobs.pop())

    def run(self, job: Job) -> None:
        job.run()
        self.upkeep.ended(job, None, self.now_ms)

    def start_again(self, *, is_clean: bool) -> None:
        while is_clean and self.jobs:
            self.run(self.jobs.pop())
        if is_clean:
            assert stop(self.logs, self.now_ms) == [True]
        self.disk.end_process()
        self.logs = started(self.disk, PATHS, KnownTopics(COMPACTED), self.now_ms)
        for hosted in self.logs.all():
            hosted.high_watermark = hosted.log.end_offset
        self.begin()

    def check(self) -> None:
        for number, written in enumerate(self.written):
            hosted = self.logs[orders(number)]
            start_offset = hosted.log.log_start_offset
            found = records(hosted)
            assert all(written[offset] == one for offset, one in found.items())
            last = {key: offset for offset, (key, _) in sorted(written.items())}
            assert {offset for offset in last.values() if offset >= start_offset} <= found.keys()
            appended = [offset for offset in written if offset >= start_offset]
            self.cleaned += len(appended) > len(found)


def records(hosted: HostedLog) -> dict[int, tuple[bytes, bytes]]:
    data, found = content(hosted.log), dict[int, tuple[bytes, bytes]]()
    for row in scan(data).rows:
        batch = data[row.position : row.position + row.size_bytes]
        for one in read_records(batch, len(batch)):
            if one.offset >= hosted.log.log_start_offset:
                found[one.offset] = (bytes(one.key or b""), bytes(one.value or b""))
    return found


@pytest.mark.parametrize("seed", range(6))
def test_the_last_record_of_each_key_stays(seed: int) -> None:
    world = World(seed)
    starts = 0
    for step in range(600):
        match world.chance.randrange(100):
            case draw if draw < 50:
                world.append()
            case draw if draw < 98:
                world.tend()
            case draw:
                world.start_again(is_clean=draw == 98)
                starts += 1
        if step % 5 == 0:
            world.check()
    world.check()
    assert starts, "drawn too seldom"
    assert world.cleaned > 20, "it was never cleaned"
    assert any(world.logs[orders(n)].log.log_start_offset for n in range(PARTITIONS))
