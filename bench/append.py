"""What an append of 16 KiB costs: the log's own part, without the network and the checks.

User CPU is what the code costs; system CPU is the kernel's copy into its cache. Run as
`python -m bench.append [FOLDER]` from the project's top; FOLDER is where the logs are made.
"""

import sys
import tempfile
from os import times
from pathlib import Path

from bench.log_samples import Batches, T, opened
from ottla.storage.log import Log

APPENDS = 60_000


def append(logs: list[Log], count: int = APPENDS) -> tuple[float, float]:
    """Append batches to logs in turn; give microseconds of user and system CPU a batch."""
    batches = Batches()
    before = times()
    done = 0
    while done < count:
        for log in logs:
            log.append([batches.at(log.end_offset)], T)
        done += len(logs)
    after = times()
    return (after.user - before.user) / done * 1e6, (after.system - before.system) / done * 1e6


def unchanged(count: int = APPENDS) -> float:
    """What the loop costs by itself, in microseconds of user CPU a batch."""
    batches = Batches()
    before = times()
    for offset in range(count):
        batches.at(offset)
    return (times().user - before.user) / count * 1e6


def main(root: Path) -> None:
    """Measure one log and a thousand."""
    loop = unchanged()
    for count in (1, 1000):
        logs: list[Log] = []
        for number in range(count):
            folder = root / f"{count}-{number}"
            folder.mkdir()
            logs.append(opened(folder, is_clean=True)[0])
        append(logs, 2 * count)
        user, system = append(logs)
        print(f"{count} logs: {user - loop:.2f} us user, {system:.2f} us system a batch of 16 KiB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as made:
        main(Path(made))
