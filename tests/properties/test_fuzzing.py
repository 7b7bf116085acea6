"""The fuzzers' inputs, kept and changed: no finding, and the same in every build of the kernels."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest

from fuzz.corpus import TARGETS, kept, pool
from fuzz.replay import FINDING, lines
from fuzz.run import LastInput, TooMuch, exactly, fuzz, measure
from fuzz.target import PYTHON_BYTES, SLACK_BYTES, Target
from fuzz.variants import environment_of, uncompiled
from ottla.kernels.faults import Malformed
from ottla.wire.fields import Buffer

EXECUTIONS_A_SHARE = 150
CORPUS_BYTES_MAX = 2 << 20

each_target = pytest.mark.parametrize("target", TARGETS.values(), ids=lambda target: target.name)


@each_target
def test_changed_inputs_find_nothing(target: Target, tmp_path: Path) -> None:
    executions = len(pool(target)) + EXECUTIONS_A_SHARE * target.share
    deadline = perf_counter() + 60
    outcome = fuzz(target, executions, deadline, 1, LastInput(tmp_path / "last"), exactly)
    assert outcome.executions == executions
    assert not outcome.findings


def test_every_build_does_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "fuzz.replay", "10"]
    environment = {**environment_of(uncompiled(tmp_path)), "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    here = list(lines(10))
    assert run.stdout.splitlines() == here
    assert not [line for line in here if FINDING in line]


def test_the_corpus_is_small() -> None:
    assert sum(len(data) for target in TARGETS.values() for data in kept(target)) < CORPUS_BYTES_MAX


def _reading(read: object) -> Target:
    return Target("one", read, lambda: [b"seed"])


@pytest.mark.parametrize(
    ("raised", "count"), [(Malformed, 0), (IndexError, 1), (AssertionError, 1), (MemoryError, 1)]
)
def test_only_an_error_that_is_not_named_is_a_finding(
    raised: type[Exception], count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    def read(data: Buffer) -> object:
        raise raised(f"{len(data)} bytes")

    outcome = fuzz(_reading(read), 50, perf_counter() + 60, 1, LastInput(tmp_path / "last"))
    assert len(outcome.findings) == count
    assert all((tmp_path / path).read_bytes() for path in outcome.findings.values())


def test_too_much_memory_is_a_finding() -> None:
    allowed = 4 * 100 + SLACK_BYTES + PYTHON_BYTES
    measure(_reading(lambda data: bytes(allowed - 4096)), bytes(100))
    with pytest.raises(TooMuch, match="bytes of memory for 100"):
        measure(_reading(lambda data: bytes(allowed)), bytes(100))


def test_the_end_of_the_process_is_a_finding(tmp_path: Path) -> None:
    code = (
        "import os, fuzz.corpus as corpus, fuzz.run as run\n"
        "from fuzz.target import Target\n"
        "dies = Target('dies', lambda data: os.abort(), lambda: [b'the last input'])\n"
        "corpus.TARGETS.clear()\n"
        "corpus.TARGETS['dies'] = dies\n"
        "raise SystemExit(run.main())\n"
    )
    command = [sys.executable, "-c", code, "--executions", "10"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert "FINDING in dies: the process ended with -6" in run.stdout
    (path,) = (tmp_path / "build" / "fuzz").glob("dies-*")
    assert path.read_bytes() == b"the last input"
