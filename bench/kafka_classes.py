"""Apache Kafka's own classes to be measured beside: a Java program that answers line by line.

The jars are those that `make setup` fetches for the tests.
"""

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Final, Self

BROKER: Final = "broker-4.3.1"


class UnavailableError(RuntimeError):
    """There is no Java here, or there are no jars."""


def class_path() -> str:
    """The jars of a broker, without the one that prints."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    home = Path(os.environ.get("OTTLA_JARS") or Path(cache) / "ottla" / "jars")
    found = [
        jar for jar in (home / BROKER).glob("*.jar") if not jar.name.startswith("slf4j-simple")
    ]
    if not found:
        raise UnavailableError(f"Kafka's jars are not in {home}; type: make setup")
    return ":".join(map(str, sorted(found)))


class KafkaProgram:
    """A Java program over Kafka's classes, warm from its second question on."""

    def __init__(self, source: Path) -> None:
        command = ["java", "-Xmx1g", "-cp", class_path(), str(source)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        except FileNotFoundError as fault:
            raise UnavailableError("there is no Java") from fault

    @property
    def process_id(self) -> int:
        """The process to be looked at."""
        return self._process.pid

    def ask(self, question: str) -> str:
        """The answer to a line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"Kafka's program ended at {question!r}"
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
