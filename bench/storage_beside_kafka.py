"""Storage beside Apache Kafka 4.3.1's own classes, in one run: recovery, opening, appends.

Each case is done by both in turns, over the same files, and the ratio is the median of the turns'
ratios of CPU, so what else the machine does meanwhile hardly counts. Kafka's are warm: its first
turns are thrown away, and only the thread that does the work is counted, not its compiler or its
collector. Ours are counted with all threads. Kafka's append also checks the batch and gives it its
offset, which ours has had done before; its figure shows the size of things. `bench.cleaning` does
the same for cleaning.

    python -m bench.storage_beside_kafka [FOLDER [GIBIBYTES]]

FOLDER should be in memory, with room for twice the log.
"""

import sys
import tempfile
from collections.abc import Callable
from os import times
from pathlib import Path
from statistics import median
from time import process_time
from typing import Final

from bench.append import append
from bench.kafka_classes import KafkaProgram, UnavailableError
from bench.log_samples import Batches, fill, opened
from bench.opening import SEGMENTS, fill_segments, open_clean

SOURCE: Final = Path(__file__).with_name("java") / "StorageSpeed.java"
TURNS: Final = 5
WARM_TURNS: Final = 3
APPENDS: Final = 30_000


def beside(name: str, ours: Callable[[], float], theirs: Callable[[], float], unit: str) -> None:
    """Do both in turns, and print a line of the table."""
    for _ in range(WARM_TURNS):
        theirs()
    ours()
    turns = [(ours(), theirs()) for _ in range(TURNS)]
    mine, kafka = (median(column) for column in zip(*turns, strict=True))
    ratio = median(their / our for our, their in turns)
    print(f"{name:32} {mine:8.3f} {kafka:8.3f} {unit:10} {ratio:6.2f}x", flush=True)


def recovery(root: Path, kafka: KafkaProgram, size_bytes: int) -> None:
    """A log of segments of 1 GiB after a kill: all of it is checked."""
    folder = root / "unclean-0"
    gigabytes = fill(folder, size_bytes) / 1e9

    def ours() -> float:
        used = process_time()
        _, findings = opened(folder, is_clean=False)
        assert findings.checked_bytes == gigabytes * 1e9
        assert not findings.cuts
        return (process_time() - used) / gigabytes

    def theirs() -> float:
        return float(kafka.ask(f"unclean {folder}").split()[1]) / gigabytes

    beside(f"recovery of {gigabytes:.2f} GB", ours, theirs, "CPU s/GB")


def opening(root: Path, kafka: KafkaProgram) -> None:
    """Ten thousand segments after a clean end."""
    folder = root / "many-0"
    fill_segments(folder, SEGMENTS)

    def theirs() -> float:
        return float(kafka.ask(f"clean {folder}").split()[1])

    beside(f"opening {SEGMENTS} segments", lambda: open_clean(folder)[1], theirs, "CPU s")


def appends(root: Path, kafka: KafkaProgram, count: int) -> None:
    """Batches of 16 KiB to so many logs in turn; each turn makes new ones."""
    sample = root / "batch"
    sample.write_bytes(Batches().data)

    def ours() -> float:
        with tempfile.TemporaryDirectory(dir=root) as made:
            folders = [Path(made) / f"ours-{number}" for number in range(count)]
            for folder in folders:
                folder.mkdir()
            logs = [opened(folder, is_clean=True)[0] for folder in folders]
            return append(logs, APPENDS)[0]

    def theirs() -> float:
        with tempfile.TemporaryDirectory(dir=root) as made:
            answer = kafka.ask(f"append {made} {count} {APPENDS} {sample}")
            return float(answer.split()[2]) / APPENDS * 1e6

    beside(f"append of 16 KiB to {count} logs", ours, theirs, "user us")


def main(root: Path, size_bytes: int) -> None:
    """Measure all of it."""
    print(f"{'':32} {'Ottla':>8} {'Kafka':>8} {'':10} Kafka/Ottla")
    with KafkaProgram(SOURCE) as kafka:
        for count in (1, 1000):
            appends(root, kafka, count)
        opening(root, kafka)
        recovery(root, kafka, size_bytes)
    print(f"CPU of this process in all: {times().user:.1f} s user, {times().system:.1f} s system")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if sys.argv[1:] else None) as temporary:
        try:
            main(Path(temporary), int(float(sys.argv[2] if sys.argv[2:] else 2) * (1 << 30)))
        except UnavailableError as reason:
            print(f"Kafka: {reason}")
