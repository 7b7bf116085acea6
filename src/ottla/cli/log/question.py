"""What was asked of records, as the words on the command line mean it together."""

from dataclasses import dataclass

from ottla.cli import Refused, times
from ottla.cli.log.arguments import Arguments
from ottla.cli.log.batch_objects import CELL_CHARACTERS_MAX, Forms
from ottla.cli.log.choices import Decoding, Form
from ottla.cli.log.conditions import (
    OFFSET_MAX,
    Condition,
    Window,
    compiled,
    header_is,
    key_is,
    key_matches,
    parse_offsets,
    value_contains,
)
from ottla.cli.terminal import Terminal


@dataclass(frozen=True, slots=True)
class Question:
    """Which records are asked for, and how they are to be shown."""

    window: Window
    conditions: tuple[Condition, ...]
    forms: Forms
    decoding: Decoding
    records_max: int | None = None


def window_of(arguments: Arguments) -> Window:
    """The offsets and times that were asked for."""
    now = times.now_ms()
    first, last = parse_offsets(arguments.offset) if arguments.offset else (0, OFFSET_MAX)
    from_ms = None if arguments.from_ is None else times.parse_time(arguments.from_, now)
    to_ms = None if arguments.to is None else times.parse_time(arguments.to, now)
    if from_ms is not None and to_ms is not None and from_ms >= to_ms:
        raise Refused(f"--from {arguments.from_} is not earlier than --to {arguments.to}")
    return Window(first, last, from_ms, to_ms)


def conditions_of(arguments: Arguments) -> tuple[Condition, ...]:
    """The conditions that were asked for."""
    found = [header_is(text) for text in arguments.header]
    if arguments.key is not None:
        found.append(key_is(arguments.key))
    if arguments.key_regex is not None:
        found.append(key_matches(compiled(arguments.key_regex)))
    if arguments.value_contains is not None:
        found.append(value_contains(arguments.value_contains))
    return tuple(found)


def question_of(
    arguments: Arguments, conditions: tuple[Condition, ...], terminal: Terminal
) -> Question:
    """All that was asked of records."""
    is_cut = terminal.is_interactive and not arguments.full
    forms = Forms(
        Form(arguments.key_form),
        Form(arguments.value_form),
        CELL_CHARACTERS_MAX if is_cut else None,
    )
    return Question(
        window_of(arguments),
        conditions,
        forms,
        Decoding(arguments.decode),
        arguments.max,
    )
