"""A shell that has read the script completes what can stand at a place."""

import shutil
import subprocess

import pytest

from ottla.cli import main
from ottla.cli.commands import NOUNS
from ottla.cli.completion import places

ASK = """
eval "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_ottla; echo "${COMPREPLY[*]}"
"""


def completed(script: str, *words: str) -> list[str]:
    bash = shutil.which("bash")
    assert bash is not None, "this is not the machine of a developer"
    command = [bash, "-c", ASK, "bash", script, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


@pytest.fixture
def script(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", "bash"]) == 0
    return capsys.readouterr().out


def test_what_can_stand_is_offered(script: str) -> None:
    assert {noun.name for noun in NOUNS} < set(completed(script, "ottla", ""))
    assert completed(script, "ottla", "to") == ["topic"]
    assert completed(script, "ottla", "topic", "d") == ["describe", "delete"]
    assert completed(script, "ottla", "topic", "create", "--p") == ["--partitions"]
    assert completed(script, "ottla", "topic", "create", "x", "--r") == ["--replicas"]
    assert completed(script, "ottla", "record", "produce", "x", "--compression", "l") == ["lz4"]
    assert completed(script, "ottla", "dev", "--p") == ["--port"]
    assert completed(script, "ottla", "dev", "--port", "0", "--d") == ["--dir"]
    assert completed(script, "ottla", "completion", "z") == ["zsh"]
    assert completed(script, "ottla", "nonsense", "") == []


def test_every_verb_has_its_place() -> None:
    found = [place.before for place in places()]
    assert len(found) == len(set(found))
    assert {(n.name, v.name) for n in NOUNS for v in n.verbs} <= set(found)
    assert all("--help" in place.words for place in places())
