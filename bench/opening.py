"""What opening segments after a clean end costs, and that memory does not grow with their bytes.

Ten thousand small segments of one log; then logs of 1 GiB and of 50 GiB, whose files are mostly
holes that no index points into. Run as `python -m bench.opening [FOLDER]` from the project's top.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

from bench.log_samples import DEFAULT, Batches, T, opened
from ottla.storage.log import Log

SEGMENTS = 10_000
ROUNDS = 3
_GIB = 1 << 30
_RESIDENT = """
import sys
from pathlib import Path
from bench.log_samples import opened
logs = [opened(Path(sys.argv[1]), is_clean=True)[0]] if sys.argv[1:] else []
print(next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM")))
"""


def fill_segments(folder: Path, count: int) -> Log:
    """Fill a log of so many segments of one batch, and close it."""
    folder.mkdir(parents=True)
    log, _ = opened(folder, is_clean=True)
    batches = Batches()
    for _ in range(count):
        log.append([batches.at(log.end_offset)], T)
        log.roll(T)
    log.close(T)
    return log


def fill_holes(folder: Path, size_bytes: int) -> None:
    """Make a log of segments of 1 GiB that take hardly any room, but for the last."""
    log = fill_segments(folder, size_bytes // _GIB)
    for segment in list(log.segments)[:-1]:
        os.truncate(f"{segment.stem}.log", _GIB)


def open_clean(folder: Path) -> tuple[float, float]:
    """Open a log as after a clean end; give seconds by the clock and of CPU."""
    began, used = perf_counter(), process_time()
    log, findings = opened(folder, is_clean=True, options=replace(DEFAULT))
    spent = perf_counter() - began, process_time() - used
    assert not findings.checked_bytes
    assert len(log.segments) > 1
    return spent


def resident_kib(*folder: Path) -> int:
    """The most memory of a process that opens a log, or none."""
    command = [sys.executable, "-W", "ignore", "-c", _RESIDENT, *map(str, folder)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(root: Path) -> None:
    """Measure all of it."""
    fill_segments(root / "many-0", SEGMENTS)
    clock, cpu = min(open_clean(root / "many-0") for _ in range(ROUNDS))
    print(f"{SEGMENTS} segments: {clock:.3f} s, {cpu:.3f} s of CPU")
    for gibibytes in (1, 50):
        folder = root / f"holes-{gibibytes}"
        fill_holes(folder, gibibytes * _GIB)
        print(f"{gibibytes} GiB of segments: {resident_kib(folder)} KiB of memory at most")
    print(f"no log: {resident_kib()} KiB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as made:
        main(Path(made))
