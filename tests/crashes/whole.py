"""Explore every workload up to a length, from every start: `python -m tests.crashes.whole`.

Nobody waits for this in a test; it prints how much it saw, and every failure.
"""

import sys
from argparse import ArgumentParser
from itertools import product
from multiprocessing import Pool
from time import process_time

from ottla.sim.crash import CrashModel
from tests.crashes.explorer import Counts, Explorer
from tests.crashes.operations import OPERATIONS, STARTS


def explored(part: tuple[str, str, str, int]) -> tuple[Counts, list[str], float]:
    """All workloads that begin with one operation."""
    name, model, first, length = part
    start = next(start for start in STARTS if start.name == name)
    explorer = Explorer(start, CrashModel(model))
    failures: list[str] = []
    began = process_time()
    for rest in (rest for n in range(length) for rest in product(OPERATIONS, repeat=n)):
        try:
            explorer.explore((first, *rest))
        except Exception as fault:  # noqa: BLE001  Each failure is told and the rest explored.
            failures.append(f"{name} {model}: {' '.join((first, *rest))}: {fault!r:.300}")
    return explorer.counts, failures, process_time() - began


def main() -> int:
    parser = ArgumentParser(description="Explore what power cuts leave of a log.")
    parser.add_argument("--operations", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=[model.value for model in CrashModel])
    parser.add_argument("--starts", nargs="+", default=[start.name for start in STARTS])
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    parts = [
        (start, model, first, asked.operations)
        for model in asked.models
        for start in asked.starts
        for first in OPERATIONS
    ]
    is_bad = False
    with Pool(asked.processes, maxtasksperchild=1) as pool:
        found = pool.imap(explored, parts)
        for part, (counts, failures, seconds) in zip(parts, found, strict=True):
            print(*part[:3], counts, f"{seconds:.0f} s", flush=True)  # noqa: T201  It is a script that prints.
            for failure in failures:
                print("  FAILED", failure, flush=True)  # noqa: T201  It is a script that prints.
            is_bad |= bool(failures)
    return is_bad


if __name__ == "__main__":
    sys.exit(main())
