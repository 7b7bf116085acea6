"""What a test does where its peer is missing: it fails on CI, and is counted elsewhere.

A peer is a program that we are compared with. A run that could not do so must not look like one
that did, so the end of the run says how many tests that were, and why.
"""

import os
from collections import Counter
from collections.abc import Callable
from typing import NoReturn

import pytest

PREFIX = "could not run here: "


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
