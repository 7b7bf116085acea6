"""Producers and leader epochs against Kafka 4.3.1's own log, through random histories.

Every command is carried out by `java/ProducerOracle.java` on a real `UnifiedLog` (or on a
`LeaderEpochFileCache`) and by us; the verdict and everything that is known afterwards must agree.
"""

import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from ottla.core.partition.leader_epochs import EpochEntry, LeaderEpochs
from ottla.core.partition.producers import Marker
from tests.conformance import jars
from tests.scenarios.producer_log import ProducerLog, base_of

SOURCE = Path(__file__).with_name("java") / "ProducerOracle.java"
SEQUENCE_MAX = 2**31 - 1
EPOCH_MAX = 2**15 - 1
Ask = Callable[[str], str]


@pytest.fixture(scope="module")
def ask(missing_peer: Callable[[str], NoReturn]) -> Iterator[Ask]:
    """Have Kafka's own log carry out a command."""
    try:
        options = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m"]
        command = [jars.tool("java"), *options, "-cp", jars.class_path("broker-4.3.1"), str(SOURCE)]
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        to_java, from_java = process.stdin, process.stdout

        def asked(line: str) -> str:
            to_java.write(line + "\n")
            return from_java.readline().rstrip("\n")

        yield asked


class History:
    """Draws the next command: mostly what a well-behaved producer would do, often near misses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.log = ProducerLog(self.random.choice([50, 5000, 86_400_000]), self.random.randrange(2))
        self.guards = 0
        self.highest: dict[int, int] = {}
        self.now = 1000
        self.verbs = {
            "client": 40,
            "offsets": 5,
            "marker": 14,
            "copy": 6,
            "copymarker": 3,
            "verify": 12,
            "hw": 8,
            "start": 2,
            "roll": 5,
            "truncate": 3,
            "expire": 3,
            "time": 4,
            "snapshots": 4,
        }

    @property
    def first(self) -> str:
        return f"new {self.log.expiration_ms} {self.log.verify_transactions}"

    def next(self) -> str:
        verb = self.random.choices([*self.verbs], [*self.verbs.values()])[0]
        return f"{verb} {' '.join(map(str, getattr(self, '_' + verb, tuple)()))}".rstrip()

    def run(self, line: str) -> str:
        verb, *words = line.split()
        numbers = [*map(int, words)]
        guard = {"guard": numbers[6]} if verb == "client" else {}
        verdict: str = getattr(self.log, verb)(*numbers[:6], **guard)
        for producer, last in self.log.producers.last_records().items():
            self.highest[producer] = max(last.producer_epoch, self.highest.get(producer, 0))
        self.guards += verdict == f"guard {self.guards + 1}"
        return verdict

    def _producer(self) -> tuple[int, int, int]:
        """An id, an epoch and a sequence that may be right."""
        producer = self.random.randrange(1, 5)
        state = self.log.producers.get(producer)
        # Kafka replays a segment in one go, and then knows batches again of an epoch that was left
        # and came back, unlike when it was live. So no epoch falls, even if its producer expired.
        epoch = state.epoch if state else self.highest.get(producer, 0)
        epoch += self.random.choices([0, 1, -1, 3], [20, 3, 1, 1])[0]
        sequence = (state.last_sequence + 1) & SEQUENCE_MAX if state else 0
        if state is None or state.epoch != epoch:
            sequence = self.random.choice([0, 0, 0, 4, SEQUENCE_MAX - 2])
        sequence += self.random.choices([0, 1, -1, 5], [20, 1, 1, 1])[0]
        if state is None:
            epoch = max(epoch, self.highest.get(producer, 0))
        return producer, min(max(epoch, 0), EPOCH_MAX), min(max(sequence, 0), SEQUENCE_MAX)

    def _client(self) -> tuple[int, ...]:
        producer, epoch, sequence = self._producer()
        state = self.log.producers.get(producer)
        count = self.random.randrange(1, 6)
        if state and state.batches and self.random.random() < 0.15:
            known = self.random.choice(state.batches)
            sequence, count = known.first_sequence, known.last_offset - known.first_offset + 1
        asked = self.log.producers.verifications.get(producer)
        guard = asked.guard if asked else self.random.randint(0, self.guards)
        transactional = self.random.random() < 0.5
        if state and self.random.random() < 0.9:
            transactional = state.open_transaction_offset >= 0 or asked is not None
        return producer, epoch, sequence, count, int(transactional), self._timestamp(), guard

    def _offsets(self) -> tuple[int, ...]:
        producer, epoch, _ = self._producer()
        asked = self.log.producers.verifications.get(producer)
        return producer, epoch, 1, self._chance(0.9), self._timestamp(), asked.guard if asked else 0

    def _marker(self) -> tuple[int, ...]:
        producer, epoch, _ = self._producer()
        state = self.log.producers.get(producer)
        coordinator = (state.coordinator_epoch if state else 0) + self.random.choice([0, 0, 1, -1])
        version = self.random.randrange(3)
        epoch += version == 2 and self.random.random() < 0.7
        if self.random.random() < 0.02:
            epoch = EPOCH_MAX
        return (
            producer,
            min(epoch, EPOCH_MAX),
            max(coordinator, 0),
            self._chance(0.5),
            self._timestamp(),
            version,
        )

    def _copy(self) -> tuple[int, ...]:
        producer, epoch, sequence, count, transactional, timestamp, _ = self._client()
        return producer, self._not_lower(producer, epoch), sequence, count, transactional, timestamp

    def _copymarker(self) -> tuple[int, ...]:
        producer, epoch, *rest = self._marker()
        return producer, self._not_lower(producer, epoch), *rest

    def _not_lower(self, producer: int, epoch: int) -> int:
        """What is copied is not judged, so it is held back here."""
        state = self.log.producers.get(producer)
        return max(epoch, state.epoch) if state else epoch

    def _verify(self) -> tuple[int, ...]:
        producer, epoch, sequence = self._producer()
        return producer, sequence, epoch, self._chance(0.5)

    def _hw(self) -> tuple[int, ...]:
        low = self.log.high_watermark
        return (self._boundary(low),)

    def _start(self) -> tuple[int, ...]:
        # Within a batch, Kafka's last stable offset is where that begins, before the log's start.
        high = self.log.high_watermark
        bases = [base for one in self.log.logged if (base := base_of(one)) <= high]
        return (max(self.random.choice([0, *bases]), self.log.log_start),)

    def _truncate(self) -> tuple[int, ...]:
        return (self._boundary(self.log.high_watermark if self.random.random() < 0.9 else 0),)

    def _time(self) -> tuple[int, ...]:
        self.now += self.random.choice([1, 30, 3000, 10_000_000])
        return (self.now,)

    def _boundary(self, low: int) -> int:
        """The end of the log or where a batch begins."""
        return self.random.choice(
            [self.log.end, *(base for one in self.log.logged if (base := base_of(one)) >= low)]
        )

    def _timestamp(self) -> int:
        return max(self.now - self.random.choice([0, 0, 10, 4000]), 0)

    def _chance(self, of: float) -> int:
        return int(self.random.random() < of)


@pytest.mark.parametrize("seed", range(40))
def test_producers_are_kafkas(ask: Ask, seed: int) -> None:
    history = History(seed)
    ask(history.first)
    said: list[str] = []
    for _ in range(150):
        line = history.next()
        if line == "roll" and history.log.end == history.log.segments[-1]:
            continue
        said.append(line)
        expected = ask(line)
        verdict = history.run(line)
        found = " | ".join([verdict, *history.log.state()])
        assert found == expected, "\n".join([*said, f"Kafka: {expected}", f"ours:  {found}"])
    assert any(isinstance(one, Marker) for one in history.log.logged)


@pytest.mark.parametrize("seed", range(40))
def test_leader_epochs_are_kafkas(ask: Ask, seed: int) -> None:
    drawn = random.Random(seed)
    epochs = LeaderEpochs()
    ask("epochs new")
    for _ in range(100):
        verb = drawn.choice(["assign", "assign", "end", "start", "ask", "at", "near", "part"])
        latest = epochs.latest_entry or EpochEntry(0, 0)
        epoch = max(latest.epoch + drawn.randint(-4, 4), 0)
        offset = max(latest.start_offset + drawn.randint(-30, 30), 0)
        said, numbers = "", [offset]
        match verb:
            case "assign":
                numbers = [epoch, offset]
                epochs.assign(*numbers)
            case "end":
                epochs.truncate_end(offset)
            case "start":
                epochs.truncate_start(offset)
            case "ask":
                numbers = [drawn.choice([-1, epoch]), latest.start_offset + 40]
                said = "{}@{}".format(*epochs.end_offset_for(*numbers))
            case "at":
                found = epochs.epoch_at(offset)
                said = f"{-1 if found is None else found}"
            case "near":
                numbers = [epoch]
                before, here, behind = (
                    epochs.previous(epoch),
                    epochs.entry(epoch),
                    epochs.next(epoch),
                )
                at = here.start_offset if here else -1
                said = f"{before.epoch if before else -1}<{at}<{behind.epoch if behind else -1}"
            case _:
                numbers = [offset - drawn.randint(0, 30), offset + drawn.randint(0, 30)]
                said = shown(epochs.entries_in(*numbers))
        expected = ask(f"epochs {verb} {' '.join(map(str, numbers))}")
        assert f"{said} | {shown(epochs.entries())}" == expected
        assert LeaderEpochs(epochs.entries()).entries() == epochs.entries()


def shown(entries: list[EpochEntry]) -> str:
    return " ".join(f"{epoch}@{start_offset}" for epoch, start_offset in entries)
