"""One node under faults keeps its promises; and each bug that is planted is found."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from ottla.broker.partitions import Partition
from ottla.broker.waiting import Parked, Waiting
from ottla.records.scan import BatchRow
from ottla.sim.workload import BrokenPromise
from ottla.storage.log import Log
from ottla.wire.fields import Buffer
from tests.sim.runs import Run

SEEDS = range(20)
FINDING_SEEDS_MAX = 200


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_are_kept(seed: int) -> None:
    Run(seed).run()


@pytest.mark.parametrize("seed", SEEDS)
def test_promises_of_a_durable_node_outlive_a_power_cut(seed: int) -> None:
    Run(seed, is_durable=True).run()


def acknowledge_before_append(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tell the client that a batch is there, whatever comes of the write."""
    append = Partition.append

    def careless(self: Partition, data: Buffer, rows: list[BatchRow], now_ms: int) -> bool:
        try:
            return append(self, data, rows, now_ms)
        except OSError:
            return False

    monkeypatch.setattr(Partition, "append", careless)


def skip_a_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mark a stop as clean without having brought the logs to the device."""

    def careless(self: Log, now_ms: int) -> None:
        del now_ms
        self.recovery_point = self.end_offset

    monkeypatch.setattr(Log, "flush", careless)


def count_before_the_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a durable node count what it has only appended."""

    def careless(self: Partition, data: Buffer, rows: list[BatchRow], now_ms: int) -> bool:
        self.log.append([(data, rows)], now_ms)
        self.leader.end_offset = self.log.end_offset
        return self.commit(self.log.end_offset)

    monkeypatch.setattr(Partition, "append", careless)


def lose_a_parked_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget each seventh request that has to wait."""
    park = Waiting.park
    count = 0

    def careless(self: Waiting, parked: Parked) -> None:
        nonlocal count
        count += 1
        if count % 7:
            park(self, parked)

    monkeypatch.setattr(Waiting, "park", careless)


PLANTS = [acknowledge_before_append, skip_a_sync, count_before_the_sync, lose_a_parked_request]


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.__name__ for plant in PLANTS])
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    for seed in range(FINDING_SEEDS_MAX):
        try:
            Run(seed, is_durable=plant is count_before_the_sync).run()
        except BrokenPromise:
            return
    pytest.fail(f"{FINDING_SEEDS_MAX} seeds did not find it")


def trace_hash(seed: int, hash_seed: str) -> str:
    code = f"from tests.sim.runs import Run; r = Run({seed}); r.run(); print(r.world.trace_hash)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_seed_is_a_run_whatever_the_hash_seed(seed: int) -> None:
    first, second = trace_hash(seed, "1"), trace_hash(seed, "77")
    assert first == second
    assert len(first) == 64
