"""What the command `ottla` does; one file per noun, or a folder with a file per verb.

Nothing is loaded before it is needed: help and version come from a table, and only the verb that
runs has its module imported, so the first answer comes at once.
"""

import os
import sys
from typing import Final

EXIT_FINE: Final = 0
EXIT_FOUND: Final = 1
"""Something bad was found in what was looked at."""
EXIT_USAGE: Final = 2
"""The command could not do what was asked: a wrong option, or a path that cannot be read."""
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141
"""Nobody reads on, as after `| head`; the number that a shell gives to a program so ended."""


class Refused(Exception):
    """What was asked cannot be done; the text is one sentence that says what to do instead."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; its arguments are those of the process unless given."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Refused as refused:
        return _complain(str(refused))
    except OSError as fault:
        where = f"{fault.filename}: " if fault.filename else ""
        return _complain(f"{where}{fault.strerror or fault}")
    return code


def _run(given: list[str]) -> int:
    from ottla.cli.commands import run  # noqa: PLC0415  An error of it is one of the command.

    return run(given)


def _complain(sentence: str) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"ottla: {sentence}\n")
    return EXIT_USAGE


def _forget_output() -> None:
    """Let what is still buffered go nowhere, or the interpreter complains of it at its end."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        # An output that is no file of the system has nothing to flush there.
        return
