"""Ask before something is done that cannot be undone."""

import sys

from ottla.cli import Refused
from ottla.cli.terminal import Terminal


def confirm(terminal: Terminal, question: str, *, is_certain: bool) -> bool:
    """Has the person said yes, now or with --yes? Who cannot be asked has to say it with --yes."""
    if is_certain:
        return True
    if not sys.stdin.isatty():
        raise Refused("nothing was done: this cannot be undone; --yes does it without asking")
    terminal.ask(f"{question} [y/N] ")
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("y", "yes"):
        terminal.note("nothing was done")
        return False
    return True
