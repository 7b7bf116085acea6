"""Formatting refuses what it would regret, and says what to do instead."""

import json
from pathlib import Path

import pytest

from ottla.cli import main
from ottla.wire.uuids import uuid_of_text

CLUSTER = "ESIzRFVmd4iZqrvM3e7_AA"
PROPERTIES = """\
process.roles=broker,controller
node.id=4
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://:9092,CONTROLLER://here:9093
log.dirs={folder}/a,{folder}/b
"""


def write(folder: Path, more: str = "") -> str:
    path = folder / "node.properties"
    path.write_text(PROPERTIES.format(folder=folder) + more)
    return str(path)


def formatted(config: str, *options: str) -> int:
    return main(["storage", "format", "-c", config, "-t", CLUSTER, *options])


def test_an_id_can_be_read_again_and_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["storage", "random-uuid"]) == 0
    text = capsys.readouterr().out.strip()
    assert len(uuid_of_text(text)) == 16
    assert not text.startswith("-")


def test_each_directory_has_an_id_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert formatted(write(tmp_path), "--standalone", "--json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [Path(row["directory"]).name for row in rows] == ["b", "a"], "the metadata's is last"
    assert len({row["directory_id"] for row in rows}) == 2
    assert (tmp_path / "a" / "bootstrap.checkpoint").exists()
    assert not (tmp_path / "b" / "bootstrap.checkpoint").exists()


@pytest.mark.parametrize(
    ("more", "options", "reason"),
    [
        ("", (), "say who votes: --standalone"),
        ("controller.quorum.voters=4@here:9093\n", ("--standalone",), "controller.quorum.voters"),
        ("", ("--initial-controllers", "4@here"), "not of the form ID@HOST:PORT:DIRECTORY"),
        ("", ("--initial-controllers", "4@here:1:x"), "'x' is not the text of an id"),
        ("", ("--standalone", "--release-version", "2.8"), "no release '2.8' to format for"),
        ("", ("--standalone", "--feature", "nonsense=1"), "no feature 'nonsense'"),
        ("", ("--standalone", "--feature", "group.version=9"), "levels 0 to 1, not 9"),
        ("node.id=-3\n", ("--standalone",), "node.properties, line 6: node.id: '-3'"),
        ("listeners=PLAINTEXT://:1\n", ("--standalone",), "none of controller.listener.names"),
        ("listeners=PLAINTEXT:1\n", ("--standalone",), "'PLAINTEXT:1' is no listener"),
        ("process.roles=broker\n", ("--standalone",), "only a broker, which does not vote"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_made(
    more: str,
    options: tuple[str, ...],
    reason: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert formatted(write(tmp_path, more), *options) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


def test_the_directory_of_another_cluster_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write(tmp_path)
    assert formatted(config, "--standalone") == 0
    words = ["storage", "format", "-c", config, "-t", "another", "--standalone", "-g"]
    assert main(words) == 2
    assert f"belongs to cluster {CLUSTER} and node 4, not to another" in capsys.readouterr().err


def test_it_is_told_whose_directories_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write(tmp_path)
    assert formatted(config, "--standalone") == 0
    (tmp_path / "b" / "orders-0").mkdir()
    capsys.readouterr()
    assert main(["storage", "info", "-c", config]) == 0
    said = capsys.readouterr().out
    assert f"cluster {CLUSTER}, node 4, not closed cleanly" in said
    assert "1 partition" in said
    assert main(["storage", "info", str(tmp_path), str(tmp_path / "nowhere")]) == 1
    said = capsys.readouterr().out
    assert "it is not formatted" in said
    assert "there is no such directory" in said
    assert main(["storage", "info"]) == 2
