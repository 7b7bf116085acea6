"""A table finds rows by name and has each name once."""

from types import ModuleType

import pytest

from ottla.config import log
from ottla.config.kinds import INT, LONG
from ottla.config.option import Option, Scope
from ottla.config.table import Table

FIRST = Option("first.ms", LONG, default=1, topic="ms")
SECOND = Option("second", INT, default=2)


def test_rows_are_found_by_name_and_scope() -> None:
    table = Table([FIRST, SECOND])
    assert table.get("first.ms") is FIRST
    assert table.get("ms", Scope.TOPIC) is FIRST
    assert table.get("ms") is None
    assert table.get("second", Scope.TOPIC) is None
    assert list(table) == [FIRST, SECOND]


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two rows for the broker option second"):
        Table([SECOND, Option("second", LONG, default=0)])
    with pytest.raises(ValueError, match="two rows for the topic option ms"):
        Table([FIRST, Option("other", LONG, default=0, topic="ms")])


def test_rows_come_from_modules_in_their_order_and_once() -> None:
    one, other = ModuleType("one"), ModuleType("other")
    vars(one).update(FIRST=FIRST, number=1)
    vars(other).update(SECOND=SECOND, FIRST=FIRST)
    assert Table.of(one, other).rows == (FIRST, SECOND)


def test_what_a_table_gives_away_does_not_change_it() -> None:
    table = Table([FIRST])
    table.at(Scope.BROKER).clear()
    assert table.get("first.ms") is FIRST


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("log.dir.s", "log.dirs"),
        ("LOG.DIRS", "log.dirs"),
        ("log.segment.byte", "log.segment.bytes"),
        ("x", None),
    ],
)
def test_suggestion_is_a_near_name(name: str, suggestion: str | None) -> None:
    assert Table.of(log).suggestion(name) == suggestion


def test_listener_prefix_does_not_hide_an_option() -> None:
    table = Table([SECOND])
    assert table.get("listener.name.internal.second") is SECOND
    assert table.get("listener.name.internal.scram-sha-256.second") is SECOND
    assert table.get("listener.name.second") is None
    assert table.get("listener.name.internal.third") is None
