"""The plugin, in a suite of its own: fixtures, reports of failures, a broker that breaks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tidy.sources import ROOT

SUITE = """
import socket

def connected(broker):
    host, _, port = broker.bootstrap.rpartition(":")
    return socket.create_connection((host, int(port)), 10)

addresses, lives = [], []
"""
HELLO = "\\0\\0\\0\\x0b\\0\\x12\\0\\0\\0\\0\\0\\1\\0\\1x"


@pytest.fixture
def suite(tmp_path: Path) -> "Suite":
    return Suite(tmp_path)


class Suite:
    """Tests that run in a process of their own, with the plugin as it is installed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def run(self, tests: str) -> str:
        (self._folder / "test_it.py").write_text(SUITE + tests)
        (self._folder / "pytest.ini").write_text(
            "[pytest]\nfilterwarnings = error\n    default:Ottla's kernels\n"
        )
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]
        done = subprocess.run(
            [*command, "test_it.py"],
            cwd=self._folder,
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout + done.stderr


def test_tests_share_a_broker_and_see_nothing_of_each_other(suite: Suite) -> None:
    said = suite.run(
        """
def test_one(ottla_broker, ottla_broker_session):
    assert ottla_broker is ottla_broker_session
    addresses.append(ottla_broker.bootstrap)
    ottla_broker.clock.advance(1000)
    ottla_broker.faults.on("Produce").drop()
    lives.append(connected(ottla_broker))

def test_two(ottla_broker):
    assert addresses == [ottla_broker.bootstrap]
    with lives[0] as old:
        assert old.recv(1) == b""
"""
    )
    assert "2 passed" in said, said


def test_a_failure_shows_the_faults_that_were_met(suite: Suite) -> None:
    said = suite.run(
        f'''
def test_it(ottla_broker):
    ottla_broker.faults.on("ApiVersions").close().times(1)
    with connected(ottla_broker) as peer:
        peer.sendall(b"{HELLO}")
        assert peer.recv(1) == b"an answer"
'''
    )
    assert "1 failed" in said, said
    assert "- faults of the broker -" in said, said
    assert "\nApiVersions v0 closed\n" in said


def test_a_broker_that_breaks_is_the_error_of_its_test_only(suite: Suite) -> None:
    said = suite.run(
        f'''
def test_breaks(ottla_broker, monkeypatch):
    def fail(event):
        raise AssertionError("I-NODE-9: planted")
    with connected(ottla_broker) as peer:
        monkeypatch.setattr(ottla_broker._door, "step", fail)
        peer.sendall(b"{HELLO}")
        assert peer.recv(1) == b"an answer"

def test_next(ottla_broker):
    connected(ottla_broker).close()
'''
    )
    assert "1 failed, 1 passed, 1 error" in said, said
    assert "ERROR at teardown of test_breaks" in said
    assert "I-NODE-9: planted" in said


def test_the_guide_is_true(suite: Suite) -> None:
    """Every example of the guide, in one file as they stand."""
    guide = (ROOT / "docs" / "guides" / "testing.md").read_text()
    examples = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    said = suite.run("\n".join(examples))
    assert f"{len(examples)} passed" in said, said


def test_a_suite_that_does_not_use_it_loads_nothing(suite: Suite) -> None:
    said = suite.run(
        """
import sys

def test_it():
    loaded = sorted(name for name in sys.modules if name.startswith("ottla"))
    assert loaded == ["ottla", "ottla.testing", "ottla.testing.plugin"]
"""
    )
    assert "1 passed" in said, said
