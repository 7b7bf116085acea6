"""IncrementalAlterConfigs as pure functions: the text that an option gets, or why it cannot.

A value travels through the metadata log as text, so a change gives text. What comes back instead of
it is an error as a value, for a reply: INVALID_CONFIG, unless whoever asks knows better.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from ottla.config.faults import ConfigFault, NotAlterable, UnknownOption
from ottla.config.kinds import LIST
from ottla.config.option import PER_BROKER, READ_ONLY, Scope
from ottla.config.table import Row, Table

VALUE_CHARACTERS_MAX: Final = 32767
"""What a value may hold in a metadata record, counted as Java counts: in UTF-16 units."""


class Operation(IntEnum):
    """What to do to an option, by its number on the wire."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change of one option."""

    name: str
    operation: Operation
    given: str | None = None


@dataclass(frozen=True, slots=True)
class Altered:
    """What an option is set to afterwards; None if it is set no more."""

    text: str | None


def alter(row: Row | None, current: str | None, change: Alteration) -> Altered | ConfigFault:
    """The text that one change makes of another, before it is held against the option's type.

    A name without a row is somebody's plug-in's: it can be set and deleted, but it is no list.
    """
    if change.operation is Operation.DELETE:
        return Altered(None)
    if change.given is None:
        return NotAlterable(change.name, f"{change.operation.name} needs a value")
    text = change.given
    if change.operation is not Operation.SET:
        if row is None or row.kind is not LIST:
            return NotAlterable(change.name, f"is no list, so it takes no {change.operation.name}")
        present = (row.default_text or "") if current is None else current
        text = _changed(present, text, change.operation)
    if len(text.encode("utf-16-le", "surrogatepass")) > 2 * VALUE_CHARACTERS_MAX:
        return NotAlterable(change.name, f"takes no more than {VALUE_CHARACTERS_MAX} characters")
    return Altered(text)


def alter_all(
    table: Table,
    scope: Scope,
    current: Mapping[str, str],
    changes: Iterable[Alteration],
    *,
    whole_cluster: bool = False,
) -> dict[str, str] | ConfigFault:
    """All that is set in a scope once every change is made, or the first thing that is wrong.

    `whole_cluster` says that the change is for every broker, not for one.
    """
    after = dict(current)
    for change in changes:
        row = table.get(change.name, scope)
        result = alter(row, after.get(change.name), change)
        if isinstance(result, Altered):
            result = admitted(table, scope, change.name, result, whole_cluster=whole_cluster)
        if isinstance(result, ConfigFault):
            return result
        if result.text is None:
            after.pop(change.name, None)
        else:
            after[change.name] = result.text
    return after


def admitted(
    table: Table, scope: Scope, name: str, result: Altered, *, whole_cluster: bool
) -> Altered | ConfigFault:
    """The result itself, if the option may be changed here and takes the text."""
    row = table.get(name, scope)
    if row is None:
        # Only a broker has plug-ins that read options of their own; a name can always be removed.
        if scope is Scope.BROKER or result.text is None:
            return result
        return UnknownOption(name, table.suggestion(name, scope))
    if scope is Scope.BROKER and row.change is READ_ONLY:
        return NotAlterable(name, "cannot be changed while the broker runs")
    if scope is Scope.BROKER and row.change is PER_BROKER and whole_cluster:
        return NotAlterable(name, "is set for one broker, not for the whole cluster")
    if result.text is not None:
        try:
            row.parse(result.text, scope)
        except ConfigFault as fault:
            return fault
    return result


def _changed(present: str, given: str, operation: Operation) -> str:
    """Add or take away elements as they are written: Kafka trims neither side and splits as Java.

    What is there loses its empty elements; what is given loses those at its end.
    """
    elements = [one for one in present.split(",") if one]
    kept = given.rstrip(",")
    for one in kept.split(",") if kept or not given else []:
        if operation is Operation.SUBTRACT and one in elements:
            elements.remove(one)
        elif operation is Operation.APPEND and one not in elements:
            elements.append(one)
    return ",".join(elements)
