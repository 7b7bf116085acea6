"""Log directories with messages of magic 0 and 1, which only brokers of old times wrote.

Even 3.9.2 no longer writes them to its logs. So the segments are made by Kafka's classes, or by our
log, and put in the place of those of a broker that is stopped. It recovers them and goes on with
batches of magic 2. Then a broker of 4.3.1 takes over.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ottla.records.compression import Codec
from ottla.records.message_set import write_message_set
from ottla.records.scan import scan
from ottla.storage.file_names import CLEAN_SHUTDOWN
from tests.conformance.drawn_logs import NOW_MS, drawn_records
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.kafka_workload import SECONDS_MAX, Workload, create_topics, text_rows
from tests.conformance.kafka_written import Stage, stage_of
from tests.conformance.oracle import Batch, Oracle, Record
from tests.conformance.our_directories import opened
from tests.conformance.our_workload import OPTIONS, Leader

CODECS: Final = ("none", "gzip", "snappy", "lz4")
THEIRS: Final = {f"theirs_{magic}": magic for magic in (0, 1)}
"""Topics whose old segments were made by Kafka's classes, by magic."""
OURS: Final = {f"ours_{magic}": magic for magic in (0, 1)}
"""Topics whose old segments were made by us."""
TOPICS: Final = (*THEIRS, *OURS)
SETTINGS: Final = {"log.cleaner.enable": "false", "log.retention.ms": -1}
_SEGMENTS: Final = 3
_SETS: Final = 4
_MESSAGES: Final = 6


@dataclass(slots=True)
class OldFormats:
    """The same logs at three moments."""

    times: list[int]
    recovered: Stage
    """With 3.9.2, which recovered the old segments, went on with new ones, and was killed."""
    stopped: Stage
    """The same, started again and stopped."""
    taken_over: Stage
    """With 4.3.1."""


def write_old(folder: Path) -> OldFormats:
    """Write the segments, and have the brokers take them over."""
    times = [0, *range(NOW_MS - 5000, NOW_MS + 5000, 250), 2**62]
    with KafkaBroker(folder / "node", "3.9.2", directories=2, settings=SETTINGS) as kafka:
        kafka.start()
        with kafka.client() as client:
            options = {"index.interval.bytes": 300}
            create_topics(client, dict.fromkeys(TOPICS, options))
        wanted = {f"{topic}-0" for topic in TOPICS}
        kafka.wait_for(lambda: kafka.partition_folders().keys() >= wanted, SECONDS_MAX, "no logs")
        kafka.stop()
        with Oracle("clients-3.9.2") as oracle:
            for topic, magic in THEIRS.items():
                _put_segments(oracle, kafka.partition_folders()[f"{topic}-0"], magic)
        with opened(kafka.log_dirs, dict.fromkeys(OURS, OPTIONS["truncated"])) as node:
            for topic, magic in OURS.items():
                _append_sets(Leader(node[topic], node.history(topic), -1, NOW_MS), magic)
            node.stop()
        for path in kafka.log_dirs:
            (path / CLEAN_SHUTDOWN).unlink()
        kafka.start()
        work = Workload(kafka)
        stage_of(kafka, [], TOPICS, ())  # Wait for leaders.
        for topic in TOPICS:
            work.send(topic, text_rows(f"new {topic}", 9), codec="gzip")
        recovered = stage_of(kafka, times, TOPICS, ())
        kafka.kill()
        recovered.paths = kafka.copy_log_dirs(folder / "recovered")
        kafka.start()
        stopped = stage_of(kafka, times, TOPICS, ())
        kafka.stop()
        stopped.paths = kafka.copy_log_dirs(folder / "stopped")
    stopped.copy(folder / "newer")
    with KafkaBroker(folder / "newer", directories=2, settings=SETTINGS) as kafka:
        kafka.start()
        taken_over = stage_of(kafka, times, TOPICS, ())
        kafka.stop()
        taken_over.paths = kafka.copy_log_dirs(folder / "taken-over")
    return OldFormats(times, recovered, stopped, taken_over)


def _put_segments(oracle: Oracle, folder: Path, magic: int) -> None:
    """Segments of sets of every codec; the last one is to be gone on with."""
    for file in folder.glob("0*"):
        file.unlink()
    offset = 0
    for segment in range(_SEGMENTS):
        batches: list[Batch] = []
        base = offset
        for number in range(_SETS):
            rows = [
                Record(
                    offset=offset + index,
                    timestamp_ms=one.timestamp if magic else -1,
                    key=one.key,
                    value=one.value,
                )
                for index, one in enumerate(drawn_records(f"{magic} {offset}", _MESSAGES))
            ]
            batches.append(
                Batch(
                    records=tuple(rows),
                    magic=magic,
                    compression=CODECS[(segment + number) % len(CODECS)],
                    base_offset=offset,
                )
            )
            offset += len(rows)
        (folder / f"{base:020}.log").write_bytes(b"".join(oracle.build(batches)))


def _append_sets(leader: Leader, magic: int) -> None:
    """The same of ours, by our log."""
    for number in range(_SEGMENTS * _SETS):
        offset = leader.end_offset
        rows = [
            (offset + index, one.timestamp if magic else -1, one.key, one.value)
            for index, one in enumerate(drawn_records(f"ours {magic} {offset}", _MESSAGES))
        ]
        codec = Codec[CODECS[number % len(CODECS)].upper()]
        data = write_message_set(magic, codec, rows)
        leader.hosted.log.append([(data, scan(data).rows)], leader.now_ms)
