"""Cleanings against Kafka 4.3.1's own cleaner, through random histories and several rounds.

Both clean the same folder; all segments that were cleaned must be the same afterwards: byte by byte
with their indexes where nothing is compressed, else in their headers and all that is inflated.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NoReturn

import pytest

from ottla.kernels.compaction import ENTRY_BYTES
from ottla.runtime.disk import SystemDisk
from ottla.storage.cleaning.dirtiness import dirtiness_of
from tests.conformance import jars
from tests.scenarios.compacted_log import OPTIONS, CompactedLog, Kinds, shown

SOURCE = Path(__file__).with_name("java") / "CleanerOracle.java"
ROUNDS = 4
Ask = Callable[[str], str]


@pytest.fixture(scope="module")
def ask(missing_peer: Callable[[str], NoReturn]) -> Iterator[Ask]:
    """Have Kafka's cleaner clean a folder."""
    try:
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
        command = [jars.tool("java"), *options, "-cp", jars.class_path("broker-4.3.1"), str(SOURCE)]
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_java, from_java = process.stdin, process.stdout

        def asked(line: str) -> str:
            to_java.write(line + "\n")
            to_java.flush()
            return from_java.readline().rstrip("\n")

        yield asked
        to_java.close()


def question(verb: str, made: CompactedLog[SystemDisk], folder: Path, slots: int = 1000) -> str:
    options = {
        "internal.segment.bytes": made.options.segment_bytes,
        "segment.index.bytes": made.options.segment.index_bytes_max,
        "index.interval.bytes": made.options.segment.index_interval_bytes,
        "delete.retention.ms": made.options.delete_retention_ms,
        "min.compaction.lag.ms": made.options.min_compaction_lag_ms,
        "max.compaction.lag.ms": made.options.max_compaction_lag_ms,
    }
    words = [verb, folder, made.first_dirty_offset, made.now_ms, slots * ENTRY_BYTES]
    words += [word for option in options.items() for word in option]
    return " ".join(map(str, words))


def files(folder: Path, upper_offset: int) -> dict[str, bytes]:
    """The files of the segments below an offset."""
    kinds = {".log", ".index", ".timeindex", ".txnindex"}
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix in kinds and int(path.stem) < upper_offset
    }


def times(folder: Path, names: dict[str, bytes]) -> dict[str, int]:
    """When the files of batches were modified."""
    return {
        name: (folder / name).stat().st_mtime_ns // 1_000_000
        for name in names
        if name.endswith(".log")
    }


def copied(folder: Path, turn: int) -> Path:
    """A copy for Kafka, which goes on removing files of it for a while."""
    copy = folder.parent / f"theirs-{turn}" / folder.name
    shutil.copytree(folder, copy)
    return copy


def age(folder: Path, random: Random, now_ms: int) -> None:
    """Let files have been modified at drawn times, which count for messages of magic 0 and 1."""
    for path in sorted(folder.glob("*.log")):
        modified_ms = now_ms - random.choice((0, 1000, 4000, 6000, 20_000))
        os.utime(path, ns=(modified_ms * 1_000_000,) * 2)


def kafka_is_misled(made: CompactedLog[SystemDisk]) -> bool:
    """Does Kafka take in too few keys, since it takes a transaction for aborted that is not?

    It begins within a segment, does not meet the markers before that, and yet takes all aborted
    transactions of the segment to be open: then a later one of such a producer seems aborted too.
    """
    first_dirty = made.first_dirty_offset
    begun = made.log.segments.from_offset(first_dirty)[0].base_offset
    aborted = made.log.aborted(begun, made.upper_offset)
    return any(begun <= one.last_offset < first_dirty for one in aborted)


def check_rounds(ask: Ask, folder: Path, kinds: Kinds, seed: str) -> None:
    """Clean in turns, and compare after each."""
    random = Random(seed)
    ours = folder / "orders-0"
    ours.mkdir()
    made = CompactedLog(SystemDisk(), str(ours), random, kinds)
    for turn in range(ROUNDS):
        made.grow(random.choice((20, 60, 90)))
        made.close()
        age(ours, random, made.now_ms)
        theirs = copied(ours, turn)
        made.now_ms += random.choice((10, 3000, 6000))
        made.open(is_clean=True)
        slots = random.choice((5, 12, 1000))
        upper_offset = made.upper_offset
        if upper_offset <= made.first_dirty_offset:
            continue
        is_misled = kafka_is_misled(made)
        answer = ask(question("clean", made, theirs, slots))
        made.clean(slots)
        made.close()
        if is_misled:
            made.open(is_clean=True)
            continue
        assert answer.split()[0] == str(made.first_dirty_offset)
        expected, found = files(theirs, upper_offset), files(ours, upper_offset)
        assert times(ours, found) == times(theirs, expected)
        if any(kinds.codecs):
            for name, content in expected.items():
                if name.endswith(".log"):
                    assert shown(found[name]) == shown(content)
        else:
            assert found == expected
        made.open(is_clean=True)


@pytest.mark.parametrize("seed", range(12))
def test_batches_that_lie_open(ask: Ask, tmp_path: Path, seed: int) -> None:
    check_rounds(ask, tmp_path, Kinds(), f"open {seed}")


@pytest.mark.parametrize("seed", range(4))
def test_batches_of_every_codec(ask: Ask, tmp_path: Path, seed: int) -> None:
    check_rounds(ask, tmp_path, Kinds(codecs=(0, 1, 2, 3, 4)), f"codecs {seed}")


@pytest.mark.parametrize("seed", range(4))
def test_messages_of_older_formats(ask: Ask, tmp_path: Path, seed: int) -> None:
    kinds = Kinds(magics=(0, 1, 2), codecs=(0, 0, 1, 2, 3))
    check_rounds(ask, tmp_path, kinds, f"older {seed}")


@pytest.mark.parametrize("seed", range(6))
def test_how_dirty_a_log_is(ask: Ask, tmp_path: Path, seed: int) -> None:
    random = Random(f"dirtiness {seed}")
    ours = tmp_path / "orders-0"
    ours.mkdir()
    options = replace(
        OPTIONS,
        min_compaction_lag_ms=random.choice((0, 500, 4000)),
        max_compaction_lag_ms=random.choice((5000, 6000, 2**63 - 1)),
    )
    made = CompactedLog(SystemDisk(), str(ours), random, options=options)
    for turn in range(4):
        made.grow(random.choice((0, 30, 60)))
        made.close()
        theirs = copied(ours, turn)
        made.now_ms += random.choice((10, 500, 3000))
        made.open(is_clean=True)
        for checkpoint in (-1, made.first_dirty_offset, random.randrange(made.log.end_offset + 9)):
            before, made.first_dirty_offset = made.first_dirty_offset, checkpoint
            answer = ask(question("look", made, theirs))
            made.first_dirty_offset = before
            found = dirtiness_of(
                made.log,
                None if checkpoint < 0 else checkpoint,
                made.last_stable_offset,
                made.now_ms,
            )
            assert answer == (
                f"{found.first_dirty_offset} {found.upper_offset} {found.clean_bytes} "
                f"{found.cleanable_bytes} {found.is_overdue:d}"
            )
        if made.upper_offset > made.first_dirty_offset:
            made.clean(random.choice((8, 1000)))
