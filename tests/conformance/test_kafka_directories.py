"""Whatever Apache Kafka wrote, we open, and answer every question as it did.

The same node is looked at after a clean stop, after kill -9, and after Kafka itself recovered from
that; and once more with everything removed that can be made anew from the batches.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from ottla import cli
from ottla.storage.file_names import CLEAN_SHUTDOWN, RECOVERY_POINTS
from tests.conformance import jars
from tests.conformance.clients import KafkaPython, Librdkafka
from tests.conformance.kafka_written import Stage, Written, assert_seen, remembered, write_all
from tests.conformance.made_once import made_once
from tests.conformance.our_directories import opened
from tests.conformance.partition_answers import Answers

STAGES = ("clean", "killed", "recovered")
UNCLEANED = ("codecs", "stamped", "recoded", "transactions", "__consumer_offsets")


@pytest.fixture(scope="session")
def written(
    tmp_path_factory: pytest.TempPathFactory,
    missing_peer: Callable[[str], NoReturn],
    librdkafka: Librdkafka,
    kafka_python: KafkaPython,
) -> Written:
    """Kafka's directories, for all processes of the run."""
    try:
        jars.class_path("broker-4.3.1")
    except jars.UnavailableError as reason:
        missing_peer(str(reason))
    return made_once(tmp_path_factory, "kafka-written", write_all)[1]


@pytest.mark.parametrize("name", STAGES)
def test_every_answer_is_kafkas(written: Written, name: str, tmp_path: Path) -> None:
    stage: Stage = getattr(written, name)
    after = written.recovered if name == "killed" else stage
    expected = {t: remembered(a, after.answers[t]) for t, a in stage.answers.items()}
    with opened(stage.copy(tmp_path)) as found:
        assert found.differences(expected, written.times) == []
        for findings in found.findings.values():
            assert not findings.cuts
            assert not findings.refused
        for topic, answers in stage.answers.items():
            # Kafka writes its high watermarks down every few seconds, and when it stops.
            said = found[topic].high_watermark
            assert said == answers.high_watermark or name == "killed", topic


def test_all_but_batches_is_made_anew_as_kafka_had_it(written: Written, tmp_path: Path) -> None:
    stage = written.clean
    paths = stage.copy(tmp_path)
    for path in paths:
        (path / CLEAN_SHUTDOWN).unlink()
        (path / RECOVERY_POINTS).unlink()
        for file in path.glob("*/*"):
            if file.suffix in (".index", ".timeindex", ".txnindex", ".snapshot"):
                file.unlink()
    with opened(paths) as found:
        assert found.differences(without_cleaned(stage), written.times) == []


def without_cleaned(stage: Stage) -> dict[str, Answers]:
    """The answers of logs of which nothing is gone, so that the batches tell all."""
    return {t: a for t, a in stage.answers.items() if t in UNCLEANED}


@pytest.mark.parametrize("name", STAGES)
def test_every_record_is_what_a_client_saw(written: Written, name: str, tmp_path: Path) -> None:
    stage: Stage = getattr(written, name)
    with opened(stage.copy(tmp_path)) as found:
        assert_seen(found, stage)


@pytest.mark.parametrize("name", STAGES)
def test_verify_finds_nothing(
    written: Written, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage: Stage = getattr(written, name)
    code = cli.main(["log", "verify", *map(str, stage.copy(tmp_path))])
    said = capsys.readouterr()
    assert (code, "0 findings, 0 notes" in said.err) == (0, True), said.out + said.err
    assert said.out.count("ok ") == len(stage.answers) + 1, said.out
