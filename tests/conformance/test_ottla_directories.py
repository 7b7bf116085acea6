"""Whatever we wrote, Apache Kafka 4.3.1 takes over: its tools accept every file, its broker starts
without mending anything, answers as we did, and goes on writing what we then open again.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

import pytest

from ottla import cli
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.file_names import CLEANER_OFFSETS
from tests.conformance import jars
from tests.conformance.clients import COMMITTED, UNCOMMITTED, Librdkafka, Seen
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.kafka_written import Stage, assert_seen, remembered
from tests.conformance.made_once import made_once
from tests.conformance.our_cleanings import living, newest
from tests.conformance.our_directories import opened
from tests.conformance.our_leftovers import GONE, MOVED, MOVING, STRANGER
from tests.conformance.our_workload import OPTIONS
from tests.conformance.ours_written import COMPACTED, Exchanged, Taken, exchange_all

MOMENTS: Final = ("after_stop", "after_kill")
SUFFIXES: Final = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
INDEXES: Final = (".index", ".timeindex")
# All that `kafka-dump-log` says of files that are well.
GOOD_LINES: Final = re.compile(
    r"Dumping .*|Log starting offset: \d+|.*( is empty\.| passed sanity check\.)"
    r"|baseOffset: .* isvalid: true|\| offset: .*|(timestamp: \d+ )?offset: \d+( position: \d+)?"
    r"|producerId: .*|version: 0 producerId: .*"
)
COMPLAINTS: Final = re.compile(
    r"corrupt|invalid offset|no longer|Found an? .*(index|snapshot|segment)|mismatch|"
    r"rebuilding (index|segment|the)| ERROR |Exception|"
    r"truncat(ed|ing) (to(?!.* has no effect)|.* bytes)",
    re.IGNORECASE,
)
# The metadata log is Kafka's own, and the first start of a broker finds none.
OURS: Final = re.compile("|".join(rf"\b{topic}-0\b" for topic in OPTIONS))


@pytest.fixture(scope="session")
def exchanged(
    tmp_path_factory: pytest.TempPathFactory,
    missing_peer: Callable[[str], NoReturn],
    librdkafka: Librdkafka,
) -> Exchanged:
    """Our directories and what Kafka made of them, for all processes of the run."""
    assert librdkafka
    try:
        jars.class_path("broker-4.3.1")
        jars.tool("java")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    return made_once(tmp_path_factory, "ours-written", exchange_all)[1]


def files_of(stage: Stage, suffixes: Iterable[str]) -> list[Path]:
    """The files of our topics."""
    folders = [path / f"{topic}-0" for path in stage.paths for topic in OPTIONS]
    wanted = tuple(suffixes)
    return sorted(p for folder in folders for p in folder.glob("*") if p.suffix in wanted)


@pytest.mark.parametrize("moment", MOMENTS)
def test_kafkas_dump_accepts_every_file(exchanged: Exchanged, moment: str, tmp_path: Path) -> None:
    taken: Taken = getattr(exchanged, moment)
    kafka = KafkaBroker(tmp_path)
    everything, indexes = files_of(taken.ours, SUFFIXES), files_of(taken.ours, INDEXES)
    assert {path.suffix for path in everything} == {*SUFFIXES}
    said = kafka.dump(everything, "--deep-iteration")
    assert [line for line in said.splitlines() if not GOOD_LINES.fullmatch(line)] == []
    assert said.count("\n| offset: ") >= sum(
        len(by_isolation[UNCOMMITTED]) for by_isolation in taken.kafkas.seen.values()
    )
    for option in ("--index-sanity-check", "--verify-index-only"):
        said = kafka.dump(indexes, option)
        assert [line for line in said.splitlines() if not GOOD_LINES.fullmatch(line)] == []
        assert said.count("Dumping") == len(indexes)


@pytest.mark.parametrize("moment", MOMENTS)
def test_kafka_starts_and_mends_nothing(exchanged: Exchanged, moment: str) -> None:
    taken: Taken = getattr(exchanged, moment)
    lines = [line for line in taken.said.splitlines() if OURS.search(line)]
    assert lines
    assert [line for line in lines if COMPLAINTS.search(line)] == []
    is_recovered = [line for line in lines if "Recovering unflushed segment" in line]
    if moment == "after_kill":
        assert is_recovered
        return
    assert not is_recovered
    assert not [line for line in lines if "UNCLEAN" in line]
    for topic, answers in taken.ours.answers.items():
        # What it knows of producers comes from our snapshots alone.
        wanted = f"segment recovery from offset {answers.high_watermark}"
        assert any(f"partition={topic}-0" in line and wanted in line for line in lines), topic


@pytest.mark.parametrize("moment", MOMENTS)
def test_kafka_answers_as_we_did(exchanged: Exchanged, moment: str) -> None:
    taken: Taken = getattr(exchanged, moment)
    for topic, said in taken.ours.answers.items():
        answers, theirs = said, taken.kafkas.answers[topic]
        if topic == "retained" and moment == "after_kill":
            # It forgets that the oldest epochs have no records any more, until the next deletion.
            theirs = replace(theirs, epochs=answers.epochs)
        if topic == MOVING:
            # Of the copies that it ends it knows no epoch that has no records.
            answers, theirs = remembered(answers, answers), remembered(theirs, theirs)
        if topic in COMPACTED and moment == "after_kill":
            # It forgets the aborted transactions whose records were all cleaned away.
            assert all({*theirs.aborted[at]} <= {*answers.aborted[at]} for at in answers.aborted)
            theirs = replace(theirs, aborted=answers.aborted)
        assert answers.differences(theirs) == [], topic


def test_kafka_ends_what_we_had_begun(exchanged: Exchanged) -> None:
    before, after = homes_of(exchanged.after_stop.ours), homes_of(exchanged.continued)
    begun = sorted(re.sub(r"[0-9a-f]{32}", "ID", name) for name in before if "." in name)
    assert begun == [f"{MOVING}-0.ID-future", f"{GONE}-0.ID-delete", f"{MOVED}-0.ID-delete"]
    moving = f"{MOVING}-0"
    assert before.keys() >= {moving, f"{MOVED}-0", f"{STRANGER}-0"}
    assert after[moving] != before[moving]
    # Nothing else is where it was not, and a log of no topic is set aside.
    (stray,) = (name for name in after if "." in name)
    assert re.fullmatch(rf"{STRANGER}-0\.[0-9a-f]{{32}}-stray", stray)
    assert {name: after[name] for name in before if name in after and name != moving} == {
        name: before[name] for name in before if name in after and name != moving
    }


def homes_of(stage: Stage) -> dict[str, str]:
    """The folders of all partitions, and the names of the directories that they lie in."""
    return {found.name: path.name for path in stage.paths for found in path.glob("*-[0-9]*")}


@pytest.mark.parametrize("moment", MOMENTS)
def test_cleaned_logs_hold_the_newest_of_each_key(exchanged: Exchanged, moment: str) -> None:
    taken: Taken = getattr(exchanged, moment)
    offsets = cleaned_offsets(taken.ours)
    for topic, values in taken.values.items():
        records = taken.kafkas.seen[topic][COMMITTED]
        wanted = living(values)
        assert len(wanted) > 5
        found = living(newest(records))
        if topic == "both":
            # Retention has taken what was old.
            assert taken.ours.answers[topic].log_start_offset > 0
            wanted = {key: value for key, value in wanted.items() if key in found}
        assert found == wanted, topic
        below = [one.key for one in records if one.offset < offsets[topic]]
        assert len(below) == len(set(below)) > 0, topic


def test_kafka_cleans_on_from_where_we_did(exchanged: Exchanged) -> None:
    stage = exchanged.continued
    before, after = cleaned_offsets(exchanged.after_stop.ours), cleaned_offsets(stage)
    for topic, values in exchanged.continued_values.items():
        assert after[topic] > before[topic] > 0
        records = stage.seen[topic][COMMITTED]
        assert living(newest(records)).items() <= living(values).items(), topic
        assert topic == "both" or living(newest(records)) == living(values), topic
        below = [one.key for one in records if one.offset < after[topic]]
        assert len(below) == len(set(below)) > 0, topic


def cleaned_offsets(stage: Stage) -> dict[str, int]:
    """By topic, up to where its log was cleaned."""
    paths = [path / CLEANER_OFFSETS for path in stage.paths]
    said = [parse_offsets(path.read_bytes()) for path in paths if path.exists()]
    return {partition.topic: offset for one in said for partition, offset in one.items()}


@pytest.mark.parametrize("moment", MOMENTS)
def test_kafkas_tools_print_what_we_wrote(exchanged: Exchanged, moment: str) -> None:
    taken: Taken = getattr(exchanged, moment)
    ends = {t: a.high_watermark for t, a in taken.ours.answers.items()}
    printed = dict(line.rsplit(":", 1) for line in taken.printed["get-offsets"].splitlines())
    assert {t: int(printed[f"{t}:0"]) for t in ends} == ends
    for isolation in (UNCOMMITTED, COMMITTED):
        seen = taken.kafkas.seen["transactions"][isolation]
        assert taken.printed[isolation].splitlines() == [shown(one) for one in seen]


def shown(one: Seen) -> str:
    """A record as the console consumer prints it."""
    key, value = (b"null" if part is None else part for part in (one.key, one.value))
    return f"CreateTime:{one.timestamp}\tOffset:{one.offset}\t{key.decode()}\t{value.decode()}"


@pytest.mark.parametrize("moment", MOMENTS)
def test_we_open_our_own(exchanged: Exchanged, moment: str, tmp_path: Path) -> None:
    taken: Taken = getattr(exchanged, moment)
    # What a recovery has no records of any more it forgets as Kafka's does.
    after = taken.kafkas if moment == "after_kill" else taken.ours
    with opened(taken.ours.copy(tmp_path), OPTIONS) as found:
        expected = {t: remembered(a, after.answers[t]) for t, a in taken.ours.answers.items()}
        assert found.differences(expected, exchanged.times) == []
        assert_seen(found, taken.kafkas)


def test_we_open_what_kafka_made_of_it(exchanged: Exchanged, tmp_path: Path) -> None:
    stage = exchanged.continued
    with opened(stage.copy(tmp_path), OPTIONS) as found:
        expected = {t: remembered(a, a) for t, a in stage.answers.items()}
        assert found.differences(expected, exchanged.times) == []
        assert_seen(found, stage)


@pytest.mark.parametrize("moment", MOMENTS)
def test_verify_finds_nothing(
    exchanged: Exchanged, moment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: Taken = getattr(exchanged, moment)
    paths = taken.ours.copy(tmp_path)
    code = cli.main(["log", "verify", *map(str, paths)])
    said = capsys.readouterr()
    assert (code, "0 findings" in said.err) == (0, True), said.out + said.err
    # What waited in memory when it was killed.
    assert (".txnindex: the aborted" in said.out) == (moment == "after_kill"), said.out
