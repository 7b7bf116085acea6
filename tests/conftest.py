"""What holds for every test: properties draw the same each time, and no peer is missing unseen.

A peer is a program that we are compared with. Where it is missing a test fails on CI, and is
counted elsewhere: a run that could not compare must not look like one that did, so the end of the
run says how many tests that were, and why.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

PREFIX = "could not run here: "

# What is drawn must depend on the test alone: not on chance, on how busy the machine is, or on
# which modules a process happens to have loaded, whose constants are otherwise drawn as well.
_BUSY = (HealthCheck.too_slow,)
_SAID = settings(deadline=None, print_blob=True, suppress_health_check=_BUSY)
settings.register_profile("same", _SAID, derandomize=True, database=None)
settings.register_profile("fresh", _SAID, derandomize=False)
settings.load_profile("same")
HypothesisProvider._local_constants = Constants()


@pytest.fixture(scope="session")
def missing_peer() -> Callable[[str], NoReturn]:
    """Call it with what is missing and what to type, instead of running a test."""

    def give_up(reason: str) -> NoReturn:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"{PREFIX}{reason}", pytrace=False)
        pytest.skip(f"{PREFIX}{reason}")

    return give_up


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Close the run with the tests that had no peer."""
    missing = Counter(
        reason
        for report in terminalreporter.stats.get("skipped", [])
        if (reason := _reason(report)).startswith(PREFIX)
    )
    if missing:
        terminalreporter.section("missing peers", yellow=True)
    for reason, count in sorted(missing.items()):
        what = "test" if count == 1 else "tests"
        terminalreporter.line(f"{count} {what} {reason}; make setup says how", yellow=True)


def _reason(report: pytest.TestReport) -> str:
    """A skipped test's reason, which stands last in a file, a line and a text."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ")
