"""The command says what it is, and what it cannot do."""

import subprocess
import sys

import pytest

from ottla import __version__, cli, kernels


def test_the_module_is_the_command() -> None:
    command = [sys.executable, "-m", "ottla", "--version"]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    assert run.stdout == f"ottla {__version__}\n"


def test_alone_it_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    said = capsys.readouterr().out
    assert f"ottla {__version__}, kernels {'' if kernels.compiled else 'not '}compiled" in said
    assert "no node to start yet" in said


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_it_says_how_to_use_it(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([option]) == 0
    assert capsys.readouterr().out == cli.USAGE


def test_a_command_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["start"]) == 2
    assert "no command 'start' yet" in capsys.readouterr().err
