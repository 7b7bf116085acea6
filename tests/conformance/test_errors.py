"""Our table of errors against the one in Kafka's clients."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from ottla.errors import ErrorCode
from tests.conformance.jars import UnavailableError, class_path, tool

SOURCE = Path(__file__).with_name("java") / "ErrorTable.java"


def test_numbers_names_and_retries_are_kafkas(missing_peer: Callable[[str], NoReturn]) -> None:
    try:
        command = [tool("java"), "-cp", class_path("clients-4.4.0"), str(SOURCE)]
    except UnavailableError as reason:
        missing_peer(str(reason))
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    ours = [f"{code} {code.name} {str(code.retriable).lower()}" for code in ErrorCode]
    assert done.stdout.splitlines() == ours
