"""Clean a log of keys of 1 KB, each written twice, beside Apache Kafka's own cleaner.

Both clean a copy of one folder, in segments of 100 MiB with a map of 128 MiB. Kafka's cleaner is
that of the jars which the tests use; without them or Java only ours is measured. There must be room
for three copies of the log where temporary files lie. Memory is the most that a process took, less
what it had taken before: the map, and a constant.

    python -m bench.cleaning [gibibytes]
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Final

from bench.kafka_classes import KafkaProgram, UnavailableError
from ottla.broker.partition_history import PartitionHistory
from ottla.kernels.compaction import ENTRY_BYTES, OffsetMap
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from ottla.runtime.disk import SystemDisk
from ottla.storage.cleaning.cleaning import Cleaning, swap
from ottla.storage.cleaning.plan import plan_cleaning
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Opening, open_log

SOURCE: Final = Path("tests/conformance/java/CleanerOracle.java").resolve()
TURNS: Final = 3
MAP_BYTES: Final = 128 << 20
SEGMENT_BYTES: Final = 100 << 20
VALUE_BYTES: Final = 1000
BATCH_RECORDS: Final = 16
NOW_MS: Final = 1_700_000_000_000
MiB: Final = 1 << 20
OPTIONS: Final = LogOptions(segment_bytes=SEGMENT_BYTES, is_deleted=False, is_compacted=True)


def opened(folder: Path) -> Log:
    """A log that ended cleanly."""
    opening = Opening(NOW_MS, is_clean=True)
    return open_log(Handles(SystemDisk(), 100), str(folder), OPTIONS, PartitionHistory(), opening)[
        0
    ]


def fill(folder: Path, size_bytes: int, *, is_shuffled: bool) -> None:
    """Write every key twice: in the same order, or the second time in another one."""
    chance = random.Random(0)
    log = opened(folder)
    keys = list(range(size_bytes // (VALUE_BYTES + 80) // 2))
    value = chance.randbytes(VALUE_BYTES)
    for turn in range(2):
        if is_shuffled and turn:
            chance.shuffle(keys)
        for at in range(0, len(keys), BATCH_RECORDS):
            base = log.end_offset
            rows = [
                (base + n, NOW_MS, b"%032d" % key, value, ())
                for n, key in enumerate(keys[at : at + BATCH_RECORDS])
            ]
            options = BatchOptions(
                base_offset=base, producer_id=7, producer_epoch=0, base_sequence=base
            )
            data = write_batch(rows, options)
            log.append([(data, scan(data).rows)], NOW_MS)
    log.roll(NOW_MS)
    log.close(NOW_MS)


def clean_ours(folder: Path) -> None:
    """Clean in this process, and print how long each part took."""
    log = opened(folder)
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.perf_counter()
    slots = MAP_BYTES // ENTRY_BYTES
    keys = OffsetMap(bytearray(MAP_BYTES), os.urandom(16), int(slots * 0.9))
    plan = plan_cleaning(log, 0, log.segments.active.base_offset, NOW_MS)
    cleaning = Cleaning(plan, keys)
    cleaning.fill()
    filled = time.perf_counter()
    removals = [swap(log, group, cleaning.write(group)) for group in cleaning.groups]
    ended = time.perf_counter()
    after = resource.getrusage(resource.RUSAGE_SELF)
    for removal in removals:
        removal.run()
    log.close(NOW_MS)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    size, kept = cleaning.outcome.read_bytes / MiB, cleaning.outcome.kept_bytes / MiB
    grown = (after.ru_maxrss - before.ru_maxrss) / 1024
    print(
        f"ours   {size / (ended - began):6.0f} {size / cpu:6.0f} MiB/s overall and of CPU;"
        f" {size / (filled - began):.0f} MiB/s indexing, {size / (ended - filled):.0f} cleaning;"
        f" {size:.0f} MiB to {kept:.0f}; {grown:.0f} MiB more memory",
        flush=True,
    )


def cpu_seconds(process_id: int) -> float:
    """What a process has used so far; zero where that cannot be known."""
    try:
        words = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def clean_copy(folder: Path) -> tuple[float, float]:
    """Clean a copy in a process of its own; give MiB a second of the clock, and of CPU."""
    copy = folder.parent / "ours" / folder.name
    shutil.copytree(folder, copy)
    command = [sys.executable, "-m", "bench.cleaning", str(copy)]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    shutil.rmtree(copy.parent)
    print(said, end="", flush=True)
    rate, cpu_rate = said.split()[1:3]
    return float(rate), float(cpu_rate)


def clean_theirs(kafka: KafkaProgram, folder: Path, size_bytes: int) -> tuple[float, float]:
    """Have Kafka clean a copy; give MiB a second of the clock, and of CPU with the opening."""
    copy = folder.parent / "theirs" / folder.name
    shutil.copytree(folder, copy)
    options = f"internal.segment.bytes {SEGMENT_BYTES} max.message.bytes 1000012"
    before = cpu_seconds(kafka.process_id)
    took_ms = int(kafka.ask(f"clean {copy} 0 {NOW_MS} {MAP_BYTES} {options}").split()[1])
    cpu = cpu_seconds(kafka.process_id) - before
    shutil.rmtree(copy.parent)
    rate = size_bytes / MiB / took_ms * 1000
    print(f"Kafka  {rate:6.0f} MiB/s overall, {cpu:5.2f} CPU s with its opening", flush=True)
    return rate, size_bytes / MiB / cpu


def beside(folder: Path) -> None:
    """Clean in turns, Kafka once more before, to be warm; print the medians of the ratios."""
    size_bytes = sum(path.stat().st_size for path in folder.glob("*.log"))
    try:
        with KafkaProgram(SOURCE) as kafka:
            clean_theirs(kafka, folder, size_bytes)
            turns = [
                (clean_copy(folder), clean_theirs(kafka, folder, size_bytes)) for _ in range(TURNS)
            ]
        clock, cpu = (median(ours[n] / theirs[n] for ours, theirs in turns) for n in (0, 1))
        print(f"ours is {clock:.2f} times as fast by the clock, {cpu:.2f} times by CPU")
    except UnavailableError as reason:
        print(f"Kafka: {reason}")
        clean_copy(folder)


def main(gibibytes: float) -> None:
    """Measure both, for keys that come again in the same order and in another."""
    for is_shuffled in (False, True):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary) / "orders-0"
            folder.mkdir()
            fill(folder, int(gibibytes * (1 << 30)), is_shuffled=is_shuffled)
            print("shuffled" if is_shuffled else "in order")
            beside(folder)


if __name__ == "__main__":
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_dir():
        clean_ours(Path(sys.argv[1]))
    else:
        main(float(sys.argv[1]) if len(sys.argv) > 1 else 1)
