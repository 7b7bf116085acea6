"""Log directories that Apache Kafka wrote, and what it answered while it had them open."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import copytree
from typing import Final

from ottla.records.scan import scan
from tests.conformance.clients import COMMITTED, UNCOMMITTED, Librdkafka, Seen
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.kafka_workload import SECONDS_MAX, SETTINGS, TOPICS, Workload, create_topics
from tests.conformance.our_directories import OurNode
from tests.conformance.partition_answers import Answers, KafkaPartition
from tests.conformance.seen_records import seen_records

DIRECTORIES: Final = 2
DELETED_BELOW: Final = 77
INTERNAL: Final = ("__transaction_state", "__consumer_offsets")


@dataclass(slots=True)
class Stage:
    """Directories as they lay at one moment, and the answers of the node that had them until then.

    The directories are not to be opened, but copied.
    """

    paths: list[Path]
    answers: dict[str, Answers]
    seen: dict[str, dict[str, list[Seen]]] = field(default_factory=dict[str, dict[str, list[Seen]]])
    """By topic and isolation level, the records that a client saw."""

    def copy(self, target: Path) -> list[Path]:
        """Directories that may be changed."""
        return [Path(copytree(path, target / path.name)) for path in self.paths]


@dataclass(slots=True)
class Written:
    """The same node, stopped cleanly, killed later, and started again and stopped after that."""

    times: list[int]
    clean: Stage
    killed: Stage
    recovered: Stage


def write_all(folder: Path) -> Written:
    """Have Kafka write everything."""
    with KafkaBroker(folder / "node", directories=DIRECTORIES, settings=SETTINGS) as kafka:
        kafka.start()
        with kafka.client() as client:
            create_topics(client, TOPICS)
        work = Workload(kafka)
        work.write()
        kafka.restart()
        work.write()
        kafka.restart(clean=False)
        work.write()
        work.delete(DELETED_BELOW)
        _settle(work)
        clean = stage_of(kafka, work.times)
        kafka.stop()
        clean.paths = kafka.copy_log_dirs(folder / "clean")
        kafka.start()
        work.write()
        _settle(work)
        killed = stage_of(kafka, work.times)
        kafka.kill()
        killed.paths = kafka.copy_log_dirs(folder / "killed")
        work.let_go()
    killed.copy(folder / "again")
    settings = {**SETTINGS, "log.cleaner.enable": "false"}
    with KafkaBroker(folder / "again", directories=DIRECTORIES, settings=settings) as kafka:
        kafka.start()
        recovered = stage_of(kafka, work.times)
        kafka.stop()
        recovered.paths = kafka.copy_log_dirs(folder / "recovered")
    return Written(work.times, clean, killed, recovered)


def stage_of(
    kafka: KafkaBroker,
    times: Iterable[int],
    topics: Iterable[str] = TOPICS,
    internal: Iterable[str] = INTERNAL,
) -> Stage:
    """What a node answers now; where its directories will be is not known yet."""
    stage = Stage([], {})
    asked = list(times)
    reader = Librdkafka()
    with kafka.client() as client:
        for topic in topics:
            partition = KafkaPartition(client, topic)
            kafka.wait_for(partition.is_led, SECONDS_MAX, f"{topic} is not led")
            answers = partition.answers(asked)
            stage.answers[topic] = answers
            stage.seen[topic] = {}
            ends = {UNCOMMITTED: answers.high_watermark, COMMITTED: answers.last_stable_offset}
            for isolation, end_offset in ends.items():
                place = (topic, answers.log_start_offset)
                seen, end = reader.read_from(
                    kafka.address, place, kafka.last_words, isolation_level=isolation
                )
                assert end == end_offset, kafka.last_words()
                stage.seen[topic][isolation] = seen
        for topic in internal:
            stage.answers[topic] = KafkaPartition(client, topic).answers(asked)
    return stage


def _settle(work: Workload) -> None:
    """Wait until nothing changes any more unasked."""
    work.wait_until_clean()
    work.wait_until_retained()


def remembered(answers: Answers, aborted: Answers) -> Answers:
    """What Kafka itself knows of its answers once it is started again.

    An epoch without records at the end of the log is forgotten, and so are aborted transactions
    whose records were cleaned away, in segments that are recovered.
    """
    batch = answers.pieces.get(answers.high_watermark - 1, b"")
    newest = scan(batch).rows[0].partition_leader_epoch if batch else -1
    epochs = {
        asked: said if asked <= newest else (-1, -1) for asked, said in answers.epochs.items()
    }
    return replace(answers, epochs=epochs, aborted=aborted.aborted)


def assert_seen(found: OurNode, stage: Stage) -> None:
    """The records that we read are those that a client saw on Kafka."""
    for topic, by_isolation in stage.seen.items():
        answers, log = stage.answers[topic], found[topic].log
        records = found.partition(topic).records()
        start, stable = answers.log_start_offset, answers.last_stable_offset
        everything = [one for one in seen_records(records) if one.offset >= start]
        assert everything == by_isolation[UNCOMMITTED], topic
        committed = seen_records(records, log.aborted(start, stable), stable)
        assert [one for one in committed if one.offset >= start] == by_isolation[COMMITTED], topic
