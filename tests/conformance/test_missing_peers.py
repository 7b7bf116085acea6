"""A run without Kafka's jars never looks like one that compared us with Kafka."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ORACLE_TEST: Final = Path(__file__).with_name("test_oracle.py")


def run_without_jars(empty: Path, ci: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ORACLE_TEST)]
    return subprocess.run(
        [*command, "-k", "message_goes_there"],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=ORACLE_TEST.parents[2],
        env={**os.environ, "OTTLA_JARS": str(empty), "CI": ci},
    )


def test_elsewhere_the_tests_are_counted_at_the_end(tmp_path: Path) -> None:
    run = run_without_jars(tmp_path, "")
    assert run.returncode == 0
    assert "missing peers" in run.stdout
    assert f"2 tests could not run here: Kafka's jars are not in {tmp_path}" in run.stdout


def test_on_ci_they_fail(tmp_path: Path) -> None:
    run = run_without_jars(tmp_path, "true")
    assert run.returncode == 1
    assert "could not run here" in run.stdout
