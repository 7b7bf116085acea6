"""Print how fast runs of batches become Arrow's columns, on one core.

Give `--mebibytes` for the size of each run and `--rounds` for how often each is read; the best
round counts, in time that this thread had a processor. The runs repeat blocks of random records.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unittest.mock import patch

from ottla.records import columns as face
from ottla.records.columns import SPARK_COLUMNS, Columns
from ottla.records.compression import compress
from tests.unit.kernels.arrow_twin import uncompiled_arrow
from tests.unit.records.batch_bytes import Batch, Record

BATCH_BYTES = 16384
BLOCK_BATCHES = 64
KINDS = {"all": SPARK_COLUMNS, "offset, key": ("offset", "key"), "timestamp": ("timestamp",)}


@dataclass(frozen=True)
class Sample:
    """A run of batches of records of one size."""

    name: str
    data: bytes
    records: int


def words(chance: random.Random, size: int) -> bytes:
    """Text that lz4 makes somewhat smaller, as it does most records."""
    drawn = b" ".join(b"%x" % chance.getrandbits(chance.choice((12, 64))) for _ in range(size // 4))
    return drawn[:size]


def sample(record_bytes: int, codec: int, run_bytes: int) -> Sample:
    chance = random.Random(record_bytes)
    count = BATCH_BYTES // (record_bytes + 8)
    block = b""
    for index in range(BLOCK_BATCHES):
        base = index * count
        records = [
            Record(at, at, b"%08d" % (base + at), words(chance, record_bytes - 8))
            for at in range(count)
        ]
        written = Batch(records, base, codec, compress=lambda data: compress(codec, data))
        block += written.written()
    repeats = max(1, run_bytes // len(block))
    name = f"{record_bytes} B, {'lz4' if codec else 'none'}"
    return Sample(name, block * repeats, count * BLOCK_BATCHES * repeats)


def best_seconds(action: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        action()
        best = min(best, time.thread_time() - start)
    return best


def rate(run: Sample, names: Sequence[str], check_crcs: bool, rounds: int) -> str:
    columns = Columns(names, check_crcs=check_crcs)

    def read() -> None:
        rows = sum(batch.num_rows for batch in columns.read(run.data))
        assert rows == run.records

    seconds = best_seconds(read, rounds)
    return f"{len(run.data) / seconds / 1e9:6.2f} GB/s {run.records / seconds / 1e6:7.1f} M rec/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    runs = [
        sample(size, codec, arguments.mebibytes << 20) for codec in (0, 3) for size in (1000, 100)
    ]
    for run in runs:
        for kind, names in KINDS.items():
            for check_crcs in (True, False):
                label = f"{run.name}, {kind}, {'checked' if check_crcs else 'unchecked'}"
                print(f"{label:36}", rate(run, names, check_crcs, arguments.rounds))
    small = sample(1000, 0, 1 << 20)
    compiled = best_seconds(lambda: Columns(SPARK_COLUMNS).table(small.data), 5)
    with patch.object(face, "Run", uncompiled_arrow().Run):
        uncompiled = best_seconds(lambda: Columns(SPARK_COLUMNS).table(small.data), 3)
    ratio = uncompiled / compiled
    print(f"compiled is {ratio:.0f} times as fast as uncompiled ({small.name}, all)")


if __name__ == "__main__":
    main()
