"""`ottla completion`: a script by which a shell completes nouns, verbs and options.

The script is made from the same table and parsers that the command line is read by, and asks
nothing while a person types. Where no word of ours can stand, the shell offers files.
"""

import argparse
from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.cli import EXIT_FINE
from ottla.cli.commands import NOUNS
from ottla.cli.parser import parser_of
from ottla.cli.terminal import Terminal

SHELLS: Final = ("bash", "zsh")


class CompletionArguments(argparse.Namespace):
    """What was typed."""

    shell: str


class Completion:
    """The command."""

    operands = "SHELL"
    description = "Print a script that lets a shell complete what is typed after `ottla`."
    examples = (
        '  eval "$(ottla completion bash)"                 # in ~/.bashrc\n'
        '  eval "$(ottla completion zsh)"                  # in ~/.zshrc, after compinit'
    )

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))

    def run(self, arguments: argparse.Namespace, terminal: Terminal) -> int:
        for line in _script(CompletionArguments(**vars(arguments)).shell):
            terminal.say(line)
        return EXIT_FINE


class Place(NamedTuple):
    """Where on the command line a word may stand, and which words may."""

    before: tuple[str, ...]
    words: tuple[str, ...]
    choices: dict[str, tuple[str, ...]]
    """The values of those options that have only some."""
    is_whole: bool = False
    """Is it after a noun without verbs?"""


def places() -> Iterator[Place]:
    """All places: after `ottla`, after a noun, after a verb."""
    yield Place((), (*(noun.name for noun in NOUNS), "--help", "--version"), {})
    for noun in NOUNS:
        if noun.module:
            yield _place_of((noun.name,), noun.module)._replace(is_whole=True)
            continue
        yield Place((noun.name,), (*(verb.name for verb in noun.verbs), "--help"), {})
        for verb in noun.verbs:
            yield _place_of((noun.name, verb.name), verb.module)


def _place_of(before: tuple[str, ...], module: str) -> Place:
    words: list[str] = []
    choices: dict[str, tuple[str, ...]] = {}
    for action in parser_of(" ".join(("ottla", *before)), module)._actions:  # noqa: SLF001  There is no other way to ask.
        words += action.option_strings
        values = tuple(str(value) for value in action.choices or ())
        if values and not action.option_strings:
            words += values
        choices |= dict.fromkeys(action.option_strings, values) if values else {}
    return Place(before, tuple(words), choices)


def _script(shell: str) -> Iterator[str]:
    if shell == "zsh":
        # It understands what bash is told, once it is asked to.
        yield "autoload -U +X bashcompinit && bashcompinit"
    yield "_ottla() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" last="${COMP_WORDS[COMP_CWORD-1]}" words='
    yield '  local place="${COMP_WORDS[*]:1:$((COMP_CWORD < 3 ? COMP_CWORD - 1 : 2))}"'
    yield '  case "$place" in'
    for place in places():
        name = " ".join(place.before)
        # A noun without verbs has its options in the place of a verb.
        pattern = f'"{name}" | "{name} -"*' if place.is_whole else f'"{name}"'
        yield f"    {pattern}) words={_quoted(place.words)}"
        if place.choices:
            yield '      case "$last" in'
            for option, values in place.choices.items():
                yield f"        {option}) words={_quoted(values)} ;;"
            yield "      esac"
        yield "      ;;"
    yield "  esac"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -F _ottla ottla"


def _quoted(words: tuple[str, ...]) -> str:
    return f'"{" ".join(words)}"'


def command() -> Completion:
    """The command, for the table."""
    return Completion()
