"""What it costs to check, list, find, read, write, hash and keep batches of magic 2, on one core.

Each line is a piece of work on one batch: microseconds, gigabytes of batch a second, and how many
times longer the uncompiled kernel takes. Run as `python -m bench.batches` from the project's top.
"""

import timeit
from collections.abc import Callable
from types import ModuleType

from ottla.kernels import batches, cleaning, record_writer, records
from ottla.records.builder import BatchOptions, Row, write_batch
from ottla.records.check import Rules, check, check_copied
from ottla.records.reader import read_records
from tests.unit.kernels.twins import uncompiled

T = 1_700_000_000_000
ROUNDS = 7
SHAPES = {"16 KiB of 16 records": (16, 990), "1 MiB of 10,000 records": (10_000, 81)}


def microseconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The fastest of some rounds: what disturbs a round only ever makes it slower."""
    timer = timeit.Timer(work)
    count, _ = timer.autorange()
    return min(timer.repeat(rounds, count)) / count * 1e6


def kernel_works(
    rows: list[Row], batch: bytes, kernels: dict[str, ModuleType]
) -> dict[str, Callable[[], object]]:
    """The work of each kernel, by kernels that are compiled or not."""
    record, clean = kernels["records"], kernels["cleaning"]
    listed = record.list_records(batch)
    marks = bytes(index % 2 for index in range(len(rows)))
    run = batch * 3
    cells = bytearray(112)
    secret = bytes(16)
    return {
        "check_records": lambda: record.check_records(batch, None, 7, 0, 2 * T),
        "find_timestamp (not found)": lambda: record.find_timestamp(batch, None, 2 * T, 0),
        "list_records": lambda: record.list_records(batch),
        "hash_keys": lambda: clean.hash_keys(batch, listed, secret),
        "keep_records (half)": lambda: clean.keep_records(batch, listed, marks, T),
        "read_records": lambda: record.read_records(record.open_records(batch), len(rows), False),
        "write_records": lambda: kernels["record_writer"].write_records(rows, 0, T),
        "scan (one header)": lambda: kernels["batches"].scan(run, 0, cells),
    }


def report(name: str, batch: bytes, spent: float, slow: float | None = None) -> None:
    """Print one line."""
    ratio = "" if slow is None else f" {slow / spent:8.0f} x"
    print(f"{name:28} {spent:9.2f} us {len(batch) / spent / 1000:8.2f} GB/s{ratio}")


def main() -> None:
    """Measure both shapes."""
    compiled = {
        "batches": batches,
        "cleaning": cleaning,
        "record_writer": record_writer,
        "records": records,
    }
    slow = {name: uncompiled(name) for name in compiled}
    rules = Rules(batch_bytes_max=1 << 21)
    for title, (count, value_bytes) in SHAPES.items():
        rows: list[Row] = [
            (index, T + index, b"key-%08d" % index, bytes(value_bytes), [])
            for index in range(count)
        ]
        batch = bytes(write_batch(rows, BatchOptions()))
        assert check(batch, rules, T).error == 0
        print(f"{title}: {len(batch)} bytes")
        report("check, all of it", batch, microseconds(lambda b=batch: check(b, rules, T)))
        report("check_copied", batch, microseconds(lambda b=batch: check_copied(b)))
        report("read, as Record", batch, microseconds(lambda b=batch: list(read_records(b, 0))))
        slow_works = kernel_works(rows, batch, slow)
        for name, work in kernel_works(rows, batch, compiled).items():
            report(name, batch, microseconds(work), microseconds(slow_works[name], 1))


if __name__ == "__main__":
    main()
