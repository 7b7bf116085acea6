"""Rows, values, descriptions and alterations against what Kafka 4.3.1's own classes say.

The golden files are printed by the small programs in `java/`; each file's header names its own.
"""

from pathlib import Path
from typing import Any

import pytest

from ottla.config import kinds, log
from ottla.config.alteration import Alteration, Altered, Operation, alter
from ottla.config.kinds import Kind, render
from ottla.config.known import KNOWN as EVERY
from ottla.config.option import REQUIRED, Scope
from ottla.config.properties import entries
from ottla.config.settings import Settings
from ottla.config.table import Row, Table

GOLDEN = Path(__file__).parent.parent / "golden" / "configs"
TABLE = Table.of(log)
KINDS = {kind.name.upper(): kind for kind in vars(kinds).values() if isinstance(kind, Kind)}
# Kafka checks the bounds of these where a topic takes its value from the broker.
CHECKED_THROUGH_THE_TOPIC = {
    "log.flush.interval.ms",
    "log.retention.ms",
    "log.roll.jitter.ms",
    "log.roll.ms",
}


def lines(name: str) -> list[list[str]]:
    text = (GOLDEN / name).read_bytes().decode("ascii")
    return [line.split("\t") for line in text.split("\n") if line and line[0] != "#"]


KNOWN = {(scope, name): rest for scope, name, *rest in lines("rows.tsv")}
ROWS = [
    (scope, name, row)
    for scope in (Scope.BROKER, Scope.TOPIC)
    for name, row in EVERY.at(scope).items()
]


def own_default(scope: Scope, row: Row) -> str:
    """A topic's default is what it has when nothing is set anywhere."""
    value = (
        Settings(TABLE)[row] if scope is Scope.TOPIC and row.scope is Scope.BROKER else row.default
    )
    if value is REQUIRED and not row.synonyms:
        return "<required>"
    text = None if value is REQUIRED else render(value)
    return "<null>" if text is None else text


def validator(row: Row) -> str:
    """The bounds in Kafka's notation."""
    if row.pattern:
        return "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
    if row.one_of:
        return f"[{', '.join(row.one_of)}]"
    if row.kind is kinds.LIST:
        return ""
    if row.at_least is None:
        return "null"
    low, high = render(row.at_least), render(row.at_most) or "..."
    bounds = f"[{low},...]" if high == "..." else f"[{low},...,{high}]"
    return bounds if row.or_exactly is None else f"{bounds} or {render(row.or_exactly)}"


@pytest.mark.parametrize(("scope", "name", "row"), ROWS, ids=[f"{s.value}:{n}" for s, n, _ in ROWS])
def test_row_is_kafkas(scope: Scope, name: str, row: Row) -> None:
    kind, default, importance, bounds, internal, change, twins = KNOWN[scope.value, name]
    assert row.kind.name.upper() == kind
    assert own_default(scope, row) == default
    assert str(row.internal).lower() == internal
    through_topic = scope is Scope.BROKER and name in CHECKED_THROUGH_THE_TOPIC
    # Kafka has a check of its own for these, which says only that.
    own_check = bounds == "non-empty list" and row.kind is kinds.LIST
    assert own_check or bounds == ("null" if through_topic else validator(row))
    if scope is Scope.BROKER:
        assert (row.importance.value.upper(), row.change.value) == (importance, change)
        return
    family = [row, *row.synonyms] if row.scope is Scope.BROKER else []
    assert ",".join(f"{one.name}*{row.converted(one, 1)}" for one in family) == twins


def test_every_topic_option_has_a_row() -> None:
    assert {name for scope, name in KNOWN if scope == "topic"} == set(TABLE.at(Scope.TOPIC))


def test_every_broker_option_of_the_log_has_a_row() -> None:
    wanted = {name for scope, name in KNOWN if scope == "broker" and name.startswith("log.")}
    assert wanted <= set(TABLE.at(Scope.BROKER))


@pytest.mark.parametrize("line", lines("values.tsv"), ids="|".join)
def test_text_means_what_it_means_to_kafka(line: list[str]) -> None:
    name, text, expected = line
    shown = written_again(name, unescaped(text))
    assert shown == (None if expected == "refused" else unescaped(expected[1:]))


def written_again(name: str, text: str) -> str | None:
    """What a text reads as, or None if a type or a topic's option refuses it."""
    row = TABLE.get(name, Scope.TOPIC)
    try:
        value = row.parse(text, Scope.TOPIC) if row else KINDS[name].parse(text)
    except ValueError:
        return None
    return repr(value) if name == "PASSWORD" else render(value)


@pytest.mark.parametrize("line", lines("described.tsv"), ids="|".join)
def test_description_is_kafkas(line: list[str]) -> None:
    asked, layers, *expected = line
    given: dict[str, dict[str, str]] = {layer: {} for layer in "scbt"}
    for pair in layers.split():
        name, _, text = pair[2:].partition("=")
        given[pair[0]][name] = text
    settings = Settings.of_broker(TABLE, given["s"], given["c"], given["b"])
    scope, _, name = asked.partition(":")
    if scope == "topic":
        settings = settings.topic(given["t"])
    described = settings.describe(name)
    assert described is not None
    synonyms = " ".join(
        f"{one.source:d}:{one.name}={java(one.value)}" for one in described.synonyms
    )
    assert [
        java(described.value),
        str(int(described.source)),
        java(described.read_only),
        java(described.sensitive),
        str(described.kind),
        synonyms,
    ] == expected


@pytest.mark.parametrize("line", lines("altered.tsv"), ids="|".join)
def test_alteration_is_kafkas(line: list[str]) -> None:
    name, current, operation, given, expected = line
    change = Alteration(name, Operation[operation], given if given != "null" else None)
    before = current if current != "null" else None
    result = alter(TABLE.get(name, Scope.TOPIC), before, change)
    if not isinstance(result, Altered):
        assert expected == "INVALID_CONFIG"
    elif result.text == before:
        assert expected == "unchanged"
    else:
        assert f"={java(result.text)}" == expected


def unescaped(text: str) -> str:
    (entry,) = entries(f"k={text}")
    return entry.value


def java(value: Any) -> str:
    return (
        str(value).lower() if isinstance(value, bool) else "null" if value is None else str(value)
    )
