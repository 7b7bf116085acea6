"""The command says what it is and what went wrong, and ends as a command should."""

import errno
import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time
from array import array
from pathlib import Path

import pytest

from ottla import __version__, cli, kernels
from tests.unit.cli.log_directory import plain

OTTLA = [sys.executable, "-m", "ottla"]
# What a pipe holds, less what its writer writes at once.
PIPE_BYTES = (64 - 8) << 10


def test_the_module_is_the_command() -> None:
    run = subprocess.run([*OTTLA, "--version"], check=True, capture_output=True, text=True)
    assert run.stdout == f"ottla {__version__}\n"


def test_alone_it_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    said = capsys.readouterr().out
    assert f"ottla {__version__}, kernels {'' if kernels.compiled else 'not '}compiled" in said
    assert "`ottla dev` starts a broker" in said


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["log"], ["log", "-h"]])
def test_it_says_how_to_use_it(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: ottla")
    assert re.search(r"dump +print what files hold", said)


@pytest.mark.parametrize("verb", ["dump", "grep", "verify"])
def test_every_verb_has_help_with_examples(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["log", verb, "--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: ottla log {verb} [options]")
    assert "examples:\n  ottla log" in said
    assert "exit codes:\n  0 " in said
    assert max(map(len, said.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["start"], "ottla knows no 'start', only: dev, log, storage, topic, record, config, "),
        (["log", "undo"], "ottla log knows no 'undo'"),
        (["log", "dump"], "the following arguments are required: PATH; type: ottla log dump"),
    ],
)
def test_what_is_not_there_is_an_error_of_use(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    assert capsys.readouterr().err.startswith(f"ottla: {sentence}")


def test_trouble_of_the_system_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: list[str]) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "/x")

    monkeypatch.setattr("ottla.cli.commands.run", fail)
    assert cli.main(["log"]) == 2
    assert capsys.readouterr().err == "ottla: /x: Permission denied\n"


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("ottla.cli.commands.run", stop)
    assert cli.main(["log"]) == cli.EXIT_INTERRUPTED


def large_log(folder: Path) -> Path:
    """A log whose dump does not fit in a pipe, by far."""
    path = folder / f"{0:020}.log"
    path.write_bytes(b"".join(plain(offset, 10) for offset in range(0, 60_000, 10)))
    return path


def test_nobody_who_reads_on_is_no_error_to_speak_of(tmp_path: Path) -> None:
    command = [*OTTLA, "log", "dump", "--records", str(large_log(tmp_path))]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline().startswith(str(tmp_path).encode())
    run.stdout.close()
    assert run.stderr is not None
    assert run.stderr.read() == b""
    run.stderr.close()
    assert run.wait(30) == cli.EXIT_BROKEN_PIPE


def wait_until_full(pipe: int) -> None:
    """Until the writer waits: an interrupt elsewhere may meet code that can raise nothing."""
    unread = array("i", [0])
    deadline = time.monotonic() + 30
    while unread[0] < PIPE_BYTES and time.monotonic() < deadline:
        time.sleep(0.01)
        fcntl.ioctl(pipe, termios.FIONREAD, unread)


def test_a_signal_ends_it_quietly(tmp_path: Path) -> None:
    command = [*OTTLA, "log", "dump", "--records", str(large_log(tmp_path))]
    # What a shell starts in the background ignores this signal, and so would what it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.stdout is not None
    run.stdout.readline()
    wait_until_full(run.stdout.fileno())
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=30)
    assert run.returncode == cli.EXIT_INTERRUPTED
    assert said == b""


def loaded_by(*words: str) -> set[str]:
    """The modules that a command line loads."""
    code = (
        "import sys, io; from ottla.cli import main; sys.stdout, out = io.StringIO(), sys.stdout;"
        f"main({list(words)!r}); print(*sys.modules, file=out)"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(run.stdout.split())


def test_help_loads_no_part_of_ottla_but_the_command() -> None:
    parts = {name for name in loaded_by("--help") if name.startswith("ottla.")}
    assert all(name.startswith("ottla.cli") for name in parts)
    assert not any(name.startswith("ottla.cli.log") for name in parts)


def test_a_dump_loads_no_message_that_it_does_not_print(tmp_path: Path) -> None:
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(plain(0, 1))
    loaded = loaded_by("log", "dump", "--records", str(path))
    unwanted = ("ottla.api.metadata_records", "ottla.api.group_records", "zstandard", "cramjam")
    assert not loaded & set(unwanted)
