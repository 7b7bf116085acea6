"""What opening logs after an unclean end costs: every batch checked, every index made anew.

Two segments of 1 GiB in one log, and two such logs on two threads, files warm in memory. Run as
`python -m bench.recovery [FOLDER]` from the project's top; FOLDER is where the logs are made.
"""

import sys
import tempfile
import threading
from pathlib import Path
from time import perf_counter, process_time

from bench.log_samples import fill, opened

ROUNDS = 3
LOG_BYTES = 2 << 30


def recover(folders: list[Path]) -> tuple[float, float]:
    """Open logs as after a kill, each on its own thread; give seconds by the clock and of CPU."""

    def one(folder: Path) -> None:
        _, findings = opened(folder, is_clean=False)
        assert not findings.cuts

    threads = [threading.Thread(target=one, args=(folder,)) for folder in folders]
    began, used = perf_counter(), process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return perf_counter() - began, process_time() - used


def measure(folders: list[Path], size_bytes: int) -> tuple[float, float]:
    """The fastest of some rounds, in seconds a gigabyte: of the clock for each log, and of CPU."""
    spent = min(recover(folders) for _ in range(ROUNDS))
    return spent[0] / size_bytes * 1e9, spent[1] / (size_bytes * len(folders)) * 1e9


def main(root: Path, log_bytes: int = LOG_BYTES) -> None:
    """Measure one log, then two at once."""
    folders = [root / "one-0", root / "two-0"]
    sizes = [fill(folder, log_bytes) for folder in folders]
    for count in (1, 2):
        clock, cpu = measure(folders[:count], sizes[0])
        print(f"{count} log of {sizes[0] / 1e9:.2f} GB: {clock:.3f} s/GB a log, {cpu:.3f} CPU s/GB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as made:
        main(Path(made))
