"""Scenario files: blocks of commands, a bar, and what came of them; REWRITE=1 writes that anew."""

import os
from collections.abc import Callable
from pathlib import Path

BAR = "----\n"
Command = Callable[[str, dict[str, int]], list[str]]


def run(path: Path, command: Command) -> None:
    """Run a file's blocks one after the other; `command` takes a verb and its named numbers."""
    found = path.read_text()
    blocks = [played(path, block.strip("\n"), command) for block in found.split("\n\n")]
    text = "\n\n".join(blocks) + "\n"
    if os.environ.get("REWRITE") == "1":
        path.write_text(text)
    else:
        assert text == found, f"{path.name} says otherwise; REWRITE=1 rewrites it\n{text}"


def played(path: Path, block: str, command: Command) -> str:
    """A block with what came of it. Lines with # tell the story; only they need no bar."""
    lines = (block + "\n").partition(BAR)[0].splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    assert not commands or BAR in block + "\n", f"{path.name}: no bar after {commands}"
    if not commands:
        return block
    said = [answer for line in commands for answer in command(*parsed(line))]
    return "\n".join([*lines, BAR.strip(), *(said or ["(nothing)"])])


def parsed(line: str) -> tuple[str, dict[str, int]]:
    """A verb and its numbers, as in `client producer=7 count=3`."""
    verb, *words = line.split()
    pairs = [word.partition("=") for word in words]
    return verb, {name: int(number) for name, _, number in pairs}
