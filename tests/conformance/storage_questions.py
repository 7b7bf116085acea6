"""Asks Kafka's own classes to read, write and name the files of a log directory.

The other end is `java/StorageFiles.java`: a process answers all the questions of one call.
"""

import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from tests.conformance.jars import class_path, tool

SOURCE: Final = Path(__file__).with_name("java") / "StorageFiles.java"
_SECONDS_MAX: Final = 300
# Java's dates are those of the place.
_OPTIONS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC")


def ask(questions: Iterable[Sequence[object]]) -> list[str | None]:
    """What Kafka answers to each question; None if it refuses."""
    asked = list(questions)
    done = subprocess.run(
        [tool("java"), *_OPTIONS, "-cp", class_path("broker-4.3.1"), str(SOURCE)],
        input="".join("\t".join(map(str, words)) + "\n" for words in asked),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=_SECONDS_MAX,
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(asked), done.stderr
    return [None if line == "refused" else line.removeprefix("ok ") for line in answers]


def place(folder: Path, number: int, file_name: str) -> Path:
    """A path for one of many files, in a folder of its own."""
    path = folder / str(number) / file_name
    path.parent.mkdir(parents=True)
    return path


def verdicts(
    folder: Path, kind: str, contents: Sequence[bytes], file_name: str
) -> list[str | None]:
    """What Kafka says of files with these contents."""
    paths = [place(folder, number, file_name) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return ask(("read", kind, path) for path in paths)
