"""Session files: what is typed after `$ `, and all that is said; REWRITE=1 writes that anew.

What goes to the second output has `! ` in front, and an exit code that is not 0 a line of its own.
Lines with # tell the story; an empty line of an answer is written as a dot.
"""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from ottla.cli import main


def play(path: Path, capsys: pytest.CaptureFixture[str], mask: Callable[[str], str] = str) -> None:
    """Type what a file says, and hold what comes against it.

    What is another one in every run, such as a time, is for `mask` to hide in each line.
    """
    found = path.read_text()
    lines: list[str] = []
    for line in found.splitlines():
        if line.startswith("# ") or not line:
            lines.append(line)
        elif line.startswith("$ "):
            lines += [line, *map(mask, said(line, capsys))]
    text = "\n".join(lines) + "\n"
    if os.environ.get("REWRITE") == "1":
        path.write_text(text)
    else:
        assert text == found, f"{path.name} says otherwise; REWRITE=1 rewrites it\n{text}"


def said(line: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What comes of a line that is typed."""
    dollar, ottla, *words = shlex.split(line)
    assert (dollar, ottla) == ("$", "ottla")
    code = main(words)
    answer = capsys.readouterr()
    lines = [text or "." for text in answer.out.splitlines()]
    lines += [f"! {text}" for text in answer.err.splitlines()]
    return [*lines, f"[exit {code}]"] if code else lines
