"""Log directories that we wrote, and what Apache Kafka made of them.

Kafka makes the cluster and its topics, then the logs are ours: written, cleaned and closed, taken
over by Kafka, which goes on writing and cleaning, taken back, written, cleaned again, and left as
kill -9 leaves them.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from ottla.core.partition.leader_epochs import LeaderEpochs
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.kafka_workload import (
    SECONDS_MAX,
    Workload,
    create_topics,
    set_option,
    text_rows,
)
from tests.conformance.kafka_written import Stage, stage_of
from tests.conformance.our_cleanings import Values, clean_due, committed, newest
from tests.conformance.our_directories import OurNode, now_ms, opened
from tests.conformance.our_leftovers import leave_behind
from tests.conformance.our_workload import OPTIONS, Leader, kafka_options, keyed, write
from tests.conformance.partition_answers import LATEST, Answers, KafkaPartition

DIRECTORIES: Final = 2
COMPACTED: Final = tuple(topic for topic, options in OPTIONS.items() if options.is_compacted)
Epochs: TypeAlias = dict[str, Sequence[tuple[int, int]]]
"""By topic, the leader epochs of its log and where they begin."""
SETTINGS: Final[Mapping[str, object]] = {
    "log.cleaner.backoff.ms": 100,
    "log.retention.ms": -1,
    "log.segment.delete.delay.ms": 100,
    "num.recovery.threads.per.data.dir": 1,
}


@dataclass(slots=True)
class Taken:
    """A moment at which Kafka took over what we had written."""

    ours: Stage
    """Our answers, and the directories before Kafka saw them."""
    kafkas: Stage
    """What it answers."""
    said: str
    """Its log until it answered."""
    values: dict[str, Values]
    """By topic that is compacted, what cleanings must keep."""
    printed: dict[str, str] = field(default_factory=dict[str, str])
    """What its tools say, by name and isolation level."""


@dataclass(slots=True)
class Exchanged:
    """All moments."""

    times: list[int]
    after_stop: Taken
    continued: Stage
    """What Kafka made of it by appending to it, and by cleaning."""
    continued_values: dict[str, Values]
    after_kill: Taken


def exchange_all(folder: Path) -> Exchanged:
    """Write, and have Kafka read, write, and read again."""
    with KafkaBroker(folder / "node", directories=DIRECTORIES, settings=SETTINGS) as kafka:
        _create(kafka)
        times = _times()
        values: dict[str, Values] = {topic: {} for topic in COMPACTED}
        ours, epochs = _write(kafka, times, values, [1, 2], OurNode.stop)
        ours.paths = kafka.copy_log_dirs(folder / "after-stop")
        after_stop = _take(kafka, times, ours, epochs, deepcopy(values))
        _continue(kafka, values)
        continued_values = deepcopy(values)
        continued = stage_of(kafka, times, OPTIONS, ())
        kafka.stop()
        continued.paths = kafka.copy_log_dirs(folder / "continued")
        ours, epochs = _write(kafka, times, values, [3], OurNode.abandon)
        ours.paths = kafka.copy_log_dirs(folder / "after-kill")
        after_kill = _take(kafka, times, ours, epochs, values)
    return Exchanged(times, after_stop, continued, continued_values, after_kill)


def _continue(kafka: KafkaBroker, values: dict[str, Values]) -> None:
    """Have Kafka append to all logs, and clean what we cleaned and went on with."""
    work = Workload(kafka)
    for topic, options in OPTIONS.items():
        if options.is_compacted:
            rows = [*keyed(f"Kafka {topic}", 80)]
            work.send(topic, rows, codec="gzip")
            values[topic] |= {row.key: row.value for row in rows}
        elif topic != "empty":
            work.send(topic, text_rows(f"Kafka {topic}", 9), codec="zstd")
    with kafka.client() as client:
        for ratio in (0.01, 1.0):
            set_option(client, COMPACTED, "min.cleanable.dirty.ratio", ratio)
            work.wait_until_clean(COMPACTED)


def _lead(answers: Answers, epochs: LeaderEpochs, newest: int) -> None:
    """Answer as we would once a leader of a newer epoch has taken over."""
    epochs.assign(newest, answers.high_watermark)
    for asked in answers.epochs:
        answers.epochs[asked] = tuple(epochs.end_offset_for(asked, answers.high_watermark))


def _create(kafka: KafkaBroker) -> None:
    """Have the topics made, and led in more than one epoch."""
    kafka.start()
    with kafka.client() as client:
        create_topics(client, {topic: kafka_options(OPTIONS[topic]) for topic in OPTIONS})
    wanted = {f"{topic}-0" for topic in OPTIONS}
    kafka.wait_for(lambda: kafka.partition_folders().keys() >= wanted, SECONDS_MAX, "no folders")
    kafka.restart()
    kafka.wait_for(
        lambda: len(kafka.said_lines("Leader .* starts at leader epoch")) >= len(wanted),
        SECONDS_MAX,
        "no leaders",
    )
    kafka.stop()


def _times() -> list[int]:
    now = now_ms()
    return [0, *range(now - 6000, now + 8000, 300), *range(now, now + 6), 2**62]


def _write(
    kafka: KafkaBroker,
    times: list[int],
    values: dict[str, Values],
    rounds: list[int],
    end: Callable[[OurNode], None],
) -> tuple[Stage, Epochs]:
    """Write rounds to every log, the last one in the newest epoch, others in the one before."""
    entries: Epochs = {}
    epochs = {topic: _epochs(kafka, topic) for topic in OPTIONS}
    with opened(kafka.log_dirs, OPTIONS) as node:
        answers = dict[str, Answers]()
        for topic in OPTIONS:
            for number in rounds:
                epoch = epochs[topic][1] if number == rounds[-1] else epochs[topic][0]
                leader = Leader(node[topic], node.history(topic), epoch, times[1] + 6000)
                write(topic, leader, number)
                if OPTIONS[topic].is_compacted:
                    values[topic] |= newest(committed(node, topic))
                    assert clean_due(node, leader.now_ms + number * 10) == 1
            answers[topic] = node.partition(topic).answers(times)
            entries[topic] = list(node.history(topic).epochs())
        leave_behind(node)
        end(node)
    return Stage([], answers), entries


def _epochs(kafka: KafkaBroker, topic: str) -> tuple[int, int]:
    """The first and the last epoch in which we may write: those that Kafka's controller knows."""
    text = (kafka.partition_folders()[f"{topic}-0"] / "leader-epoch-checkpoint").read_text()
    last = int(text.splitlines()[-1].split()[0])
    return last - 1, last


def _unfinished(kafka: KafkaBroker) -> list[str]:
    """The folders of copies that do not serve yet, and of what is to be removed."""
    return [name for name in kafka.partition_folders() if name.endswith(("-future", "-delete"))]


def _take(
    kafka: KafkaBroker, times: list[int], ours: Stage, epochs: Epochs, values: dict[str, Values]
) -> Taken:
    kafka.start()
    kafka.wait_for(lambda: not _unfinished(kafka), SECONDS_MAX, "leftovers stay")
    kafkas = stage_of(kafka, times, OPTIONS, ())
    with kafka.client() as client:
        for topic, answers in ours.answers.items():
            newest = KafkaPartition(client, topic).list_offset(LATEST).leader_epoch
            _lead(answers, LeaderEpochs(epochs[topic]), newest)
    taken = Taken(ours, kafkas, kafka.said(), values)
    taken.printed["get-offsets"] = kafka.ask_tool("get-offsets")
    for isolation in ("read_uncommitted", "read_committed"):
        count = len(kafkas.seen["transactions"][isolation])
        taken.printed[isolation] = kafka.ask_tool(
            "console-consumer",
            *("--topic", "transactions", "--from-beginning", "--isolation-level", isolation),
            *("--max-messages", count, "--timeout-ms", 1000 * SECONDS_MAX),
            *("--formatter-property", "print.offset=true"),
            *("--formatter-property", "print.timestamp=true"),
            *("--formatter-property", "print.key=true"),
        )
    return taken
