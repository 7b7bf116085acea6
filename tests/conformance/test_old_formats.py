"""Logs that begin with messages of magic 0 and 1 answer as Kafka 3.9.2 and 4.3.1 do of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn

import pytest

from ottla import cli
from tests.conformance import jars
from tests.conformance.clients import UNCOMMITTED, Librdkafka, Seen
from tests.conformance.kafka_written import Stage, assert_seen, remembered
from tests.conformance.made_once import made_once
from tests.conformance.old_formats_written import TOPICS, OldFormats, write_old
from tests.conformance.our_directories import opened
from tests.conformance.partition_answers import LARGEST_TIME, Found

MOMENTS: Final = ("recovered", "stopped", "taken_over")


@pytest.fixture(scope="session")
def old_formats(
    tmp_path_factory: pytest.TempPathFactory,
    missing_peer: Callable[[str], NoReturn],
    librdkafka: Librdkafka,
) -> OldFormats:
    """The logs, for all processes of the run."""
    assert librdkafka
    try:
        for version in ("3.9.2", "4.3.1"):
            jars.class_path(f"broker-{version}")
        jars.tool("javac")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    return made_once(tmp_path_factory, "old-formats", write_old)[1]


@pytest.mark.parametrize("moment", MOMENTS)
def test_every_answer_is_kafkas(old_formats: OldFormats, moment: str, tmp_path: Path) -> None:
    stage: Stage = getattr(old_formats, moment)
    with opened(stage.copy(tmp_path)) as found:
        expected = {topic: remembered(a, a) for topic, a in stage.answers.items()}
        for topic in ("theirs_0", "ours_0"):
            epoch = expected[topic].by_time[LARGEST_TIME].leader_epoch
            timed = found_by_time(stage.seen[topic][UNCOMMITTED], old_formats.times, epoch)
            expected[topic].by_time |= timed
        assert found.differences(expected, old_formats.times) == []
        assert_seen(found, stage)
        for findings in found.findings.values():
            assert not findings.cuts
            assert not findings.refused


def found_by_time(seen: list[Seen], times: list[int], epoch: int) -> dict[int, Found]:
    """The first record at or past each time.

    Kafka takes the time of a segment's file for that of messages without one, looks no further than
    the first segment whose file is so young, and finds nothing there. We go on.
    """
    found: dict[int, Found] = {}
    for time in times:
        first = next((one for one in seen if one.timestamp >= time), None)
        found[time] = (
            Found(-1, -1, -1) if first is None else Found(first.timestamp, first.offset, 2)
        )
    return found


@pytest.mark.parametrize("moment", MOMENTS)
def test_verify_finds_nothing(
    old_formats: OldFormats, moment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage: Stage = getattr(old_formats, moment)
    code = cli.main(["log", "verify", *map(str, stage.copy(tmp_path))])
    said = capsys.readouterr()
    assert (code, "0 findings, 0 notes" in said.err) == (0, True), said.out + said.err


def test_nothing_was_lost_on_the_way(old_formats: OldFormats) -> None:
    for topic in TOPICS:
        first, *others = (getattr(old_formats, moment).seen[topic] for moment in MOMENTS)
        assert len(first[UNCOMMITTED]) == 3 * 4 * 6 + 9
        assert others == [first, first]
