"""Give every target changed inputs, and say what came of it.

    python -m fuzz.run [--executions N] [--seconds S] [--seed N] [--target NAME] [--exact]
    python -m fuzz.run --replay FILE

An error that a target does not name, a broken check, too much memory, half a second spent on one
input and the end of the process are findings. A finding's input is written to a file, and the
command that reads it again is printed. The same seed makes the same inputs.
"""

import argparse
import array
import faulthandler
import mmap
import os
import resource
import sys
import traceback
import tracemalloc
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Final

from fuzz.corpus import TARGETS, pool
from fuzz.mutation import Mutator
from fuzz.target import Target
from ottla.wire.fields import Buffer

FINDINGS: Final = Path("build/fuzz")
MEASURED_EVERY: Final = 100
CHUNK: Final = 1000
INPUT_SECONDS_MAX: Final = 0.5
HANG_SECONDS: Final = 60
FINDINGS_MAX: Final = 5
RESIDENT_GROWTH_BYTES_MAX: Final = 256 << 20
_LAST_BYTES: Final = 1 << 20
# How a run ends that has told its findings: a sanitizer ends a process with 1, a crash otherwise.
_REPORTED: Final = 3


class TooMuch(Exception):
    """An input cost more memory or time than any may."""


@dataclass
class Outcome:
    """What came of one target's executions."""

    target: Target
    executions: int = 0
    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    findings: dict[str, Path] = field(default_factory=dict)
    resident_growth_bytes: int = 0


class LastInput:
    """The input that is being read, where it outlives the process."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(_LAST_BYTES))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _LAST_BYTES)
        self.path = path

    def hold(self, data: Buffer) -> None:
        self._map[: 4 + len(data)] = len(data).to_bytes(4, "big") + data

    def held(self) -> bytes:
        return self._map[4 : 4 + int.from_bytes(self._map[:4], "big")]


def exactly(data: Buffer) -> memoryview:
    """The bytes alone in their block of memory: bytes objects have one more behind them."""
    copy = memoryview(array.array("B", b"\0") * len(data))
    copy[:] = data
    return copy


def execute(target: Target, data: Buffer) -> str:
    """Read one input; give the fault's name, or nothing. Anything else is raised."""
    try:
        value = target.read(data)
    except target.faults as fault:
        return type(fault).__name__
    target.check(value)
    return ""


def measure(target: Target, data: Buffer) -> None:
    """Read an input once more, and see what memory Python took for it at any time."""
    tracemalloc.start()
    try:
        target.read(data)
    except target.faults:
        pass
    finally:
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    if peak_bytes > target.memory_bytes_max(len(data)):
        allowed = target.memory_bytes_max(len(data))
        raise TooMuch(f"{peak_bytes} bytes of memory for {len(data)}, {allowed} allowed")


def fuzz(
    target: Target,
    executions: int,
    deadline: float,
    seed: int,
    last: LastInput,
    given: Callable[[bytes], Buffer] = bytes,
) -> Outcome:
    """Execute a target so many times, or until it is late."""
    random = Random(f"{seed} {target.name}")
    mutator = Mutator(pool(target), target.tokens, random)
    outcome = Outcome(target)
    start = perf_counter()
    for data in mutator.pool[:executions]:
        _once(outcome, given(data), last, is_measured=False)
    before_bytes = _resident_bytes_max()
    while outcome.executions < executions and perf_counter() < deadline:
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        for _ in range(min(CHUNK, executions - outcome.executions)):
            data = given(bytes(target.repair(mutator.made(), random)))
            _once(outcome, data, last, is_measured=outcome.executions % MEASURED_EVERY == 0)
        if len(outcome.findings) >= FINDINGS_MAX:
            break
    faulthandler.cancel_dump_traceback_later()
    outcome.seconds = perf_counter() - start
    outcome.resident_growth_bytes = _resident_bytes_max() - before_bytes
    return outcome


def _once(outcome: Outcome, data: Buffer, last: LastInput, *, is_measured: bool) -> None:
    outcome.executions += 1
    last.hold(data)
    start = process_time()
    try:
        fault = execute(outcome.target, data)
        seconds = process_time() - start
        if seconds > INPUT_SECONDS_MAX:
            raise TooMuch(f"{seconds:.1f} s for {len(data)} bytes")
        if is_measured:
            measure(outcome.target, data)
    except Exception as finding:  # noqa: BLE001  Whatever was not expected is what is looked for.
        _note(outcome, data, finding)
    else:
        if fault:
            outcome.faults[fault] += 1


def _note(outcome: Outcome, data: Buffer, finding: Exception) -> None:
    """Keep the first input of each kind of finding."""
    place = traceback.extract_tb(finding.__traceback__)[-1]
    kind = f"{type(finding).__name__} at {Path(place.filename).name}:{place.lineno}"
    if kind in outcome.findings:
        return
    path = written(outcome.target, bytes(data))
    outcome.findings[kind] = path
    print(f"\nFINDING in {outcome.target.name}: {kind}: {str(finding)[:300]}")
    print(f"  python -m fuzz.run --replay {path}", flush=True)


def written(target: Target, data: bytes) -> Path:
    """Write an input whose name says its target."""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{target.name}-{sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def _resident_bytes_max() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def show(outcomes: list[Outcome]) -> None:
    """The table."""
    print(f"\n{'target':24}{'executions':>12}{'a second':>10}{'MiB':>5}{'findings':>10}  faults")
    for one in outcomes:
        rate = one.executions / one.seconds if one.seconds else 0
        faults = ", ".join(f"{name} {count}" for name, count in one.faults.most_common())
        growth = one.resident_growth_bytes >> 20
        print(
            f"{one.target.name:24}{one.executions:>12,}{rate:>10,.0f}{growth:>5}"
            f"{len(one.findings):>10}  {faults}"
        )
    executions = sum(one.executions for one in outcomes)
    seconds = sum(one.seconds for one in outcomes)
    findings = sum(len(one.findings) for one in outcomes)
    print(f"{'all':24}{executions:>12,}{executions / seconds:>10,.0f}{'':5}{findings:>10}")


def run_all(options: argparse.Namespace, last: LastInput) -> int:
    """Divide executions and time among the targets; give how many findings there are."""
    targets = [TARGETS[options.target]] if options.target else list(TARGETS.values())
    shares = sum(target.share for target in targets)
    end = perf_counter() + options.seconds
    outcomes: list[Outcome] = []
    for number, target in enumerate(targets):
        executions = -(-options.executions * target.share // shares)
        left = end - perf_counter()
        deadline = perf_counter() + max(left / (len(targets) - number), left / 2)
        last.path.with_suffix(".target").write_text(target.name)
        given = exactly if options.exact else bytes
        outcomes.append(fuzz(target, executions, deadline, options.seed, last, given))
    show(outcomes)
    for one in outcomes:
        # A sanitizer keeps what was freed for a while, so there this says nothing.
        if one.resident_growth_bytes > RESIDENT_GROWTH_BYTES_MAX and not options.exact:
            print(f"FINDING in {one.target.name}: {one.resident_growth_bytes} bytes of memory")
            return 1
    return sum(len(one.findings) for one in outcomes)


def watch(options: argparse.Namespace) -> int:
    """Run in a second process, so that its end is a finding too."""
    # Several runs may go on at the same time.
    last = LastInput(FINDINGS / f"last-{os.getpid()}.input")
    print(f"seed {options.seed}: {options.executions:,} executions, {options.seconds} s at most")
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        faulthandler.enable()
        status = _REPORTED if run_all(options, last) else 0
        sys.stdout.flush()
        os._exit(status)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, _REPORTED):
        target = TARGETS[last.path.with_suffix(".target").read_text()]
        path = written(target, last.held())
        print(f"\nFINDING in {target.name}: the process ended with {code}")
        print(f"  python -m fuzz.run --replay {path}")
    last.path.unlink()
    last.path.with_suffix(".target").unlink()
    return 1 if code else 0


def replay(path: Path, *, exact: bool) -> int:
    """Read one input again, showing what is raised."""
    target = TARGETS[path.name.rpartition("-")[0]]
    data = path.read_bytes()
    given = exactly(data) if exact else data
    print(f"{target.name}: {len(data)} bytes: {data[:200].hex()}")
    print(execute(target, given) or "no fault")
    measure(target, given)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz.run")
    parser.add_argument("--executions", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", choices=sorted(TARGETS), default="")
    parser.add_argument("--exact", action="store_true", help="no byte behind an input")
    parser.add_argument("--replay", type=Path)
    options = parser.parse_args()
    if options.replay:
        return replay(options.replay, exact=options.exact)
    return watch(options)


if __name__ == "__main__":
    sys.exit(main())
