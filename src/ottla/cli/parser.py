"""How the words after a verb become a call of it."""

import argparse
import re
from importlib import import_module
from typing import Final, NoReturn, Protocol

from ottla.cli import EXIT_FINE, Refused
from ottla.cli.commands import EXIT_CODES
from ottla.cli.terminal import Terminal

_NEGATIVE: Final = re.compile(r"-\d.*")


class Command(Protocol):
    """A verb that can run: what it takes, and what it does."""

    operands: str
    description: str
    examples: str

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Say which arguments there are."""
        ...

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        """Do it, and give the exit code."""
        ...


class Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Refused(f"{message}; type: {self.prog} --help")


def run_verb(prog: str, module: str, words: list[str]) -> int:
    """Run the verb of a module with the words that follow its name."""
    command: Command = import_module(module).command()
    parser = _parser(prog, command)
    try:
        arguments = parser.parse_args(joined(words))
    except SystemExit:
        # The help was asked for, and is out.
        return EXIT_FINE
    return command.run(arguments, Terminal.of_process())


def parser_of(prog: str, module: str) -> Parser:
    """What reads the words after a verb."""
    return _parser(prog, import_module(module).command())


def _parser(prog: str, command: Command) -> Parser:
    parser = Parser(
        prog=prog,
        usage=f"{prog} [options] {command.operands}",
        description=command.description,
        epilog=f"examples:\n{command.examples}\n\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.declare(parser)
    return parser


def joined(words: list[str]) -> list[str]:
    """Put a value such as `-1h` to its option, or it would be taken for one itself."""
    found: list[str] = []
    for word in words:
        before = found[-1] if found else ""
        if _NEGATIVE.fullmatch(word) and before.startswith("--") and "=" not in before:
            found[-1] = f"{before}={word}"
        else:
            found.append(word)
    return found
