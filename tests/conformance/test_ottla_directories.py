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
from tests.conformance import jars
from tests.conformance.clients import COMMITTED, UNCOMMITTED, Librdkafka, Seen
from tests.conformance.kafka_broker import KafkaBroker
from tests.conformance.kafka_written import Stage, assert_seen, remembered
from tests.conformance.made_once import made_once
from tests.conformance.our_directories import opened
from tests.conformance.our_workload import OPTIONS
from tests.conformance.ours_written import Exchanged, Taken, exchange_all

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
    r"rebuilding (index|segment|the)| ERROR |Exception|truncat(ed|ing) (to|.* bytes)",
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
    for topic, answers in taken.ours.answers.items():
        theirs = taken.kafkas.answers[topic]
        if topic == "retained" and moment == "after_kill":
            # It forgets that the oldest epochs have no records any more, until the next deletion.
            theirs = replace(theirs, epochs=answers.epochs)
        assert answers.differences(theirs) == [], topic


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
    with opened(taken.ours.copy(tmp_path), OPTIONS) as found:
        expected = {t: remembered(a, a) for t, a in taken.ours.answers.items()}
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
