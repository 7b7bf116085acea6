"""Incremental changes: what they lead to, and what stands against them."""

import pytest

from ottla.config import log
from ottla.config.alteration import (
    VALUE_CHARACTERS_MAX,
    Alteration,
    Altered,
    Operation,
    alter,
    alter_all,
)
from ottla.config.faults import ConfigFault, InvalidValue, NotAlterable, UnknownOption
from ottla.config.kinds import INT, PASSWORD
from ottla.config.option import PER_BROKER, Option, Scope
from ottla.config.table import Table

OWN = Option("own.size", INT, default=1, change=PER_BROKER)
SECRET = Option("own.password", PASSWORD, default=None, change=PER_BROKER)
TABLE = Table([*Table.of(log), OWN, SECRET])


def on_topic(current: dict[str, str], *changes: Alteration) -> dict[str, str] | ConfigFault:
    return alter_all(TABLE, Scope.TOPIC, current, changes)


def setting(name: str, text: str | None) -> Alteration:
    return Alteration(name, Operation.SET, text)


def test_changes_follow_each_other() -> None:
    before = {"retention.ms": "5", "flush.ms": "1"}
    after = on_topic(
        before,
        setting("retention.ms", "6"),
        Alteration("flush.ms", Operation.DELETE),
        Alteration("cleanup.policy", Operation.APPEND, "compact"),
        Alteration("cleanup.policy", Operation.SUBTRACT, "delete"),
    )
    assert after == {"retention.ms": "6", "cleanup.policy": "compact"}
    assert before == {"retention.ms": "5", "flush.ms": "1"}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (setting("retention.ms", "soon"), InvalidValue),
        (setting("retention.ms", "-2"), InvalidValue),
        (setting("retention.ms", None), NotAlterable),
        (setting("log.retention.ms", "5"), UnknownOption),
        (Alteration("retention.ms", Operation.APPEND, "1"), NotAlterable),
        (Alteration("cleanup.policy", Operation.APPEND, "keep"), InvalidValue),
        (Alteration("cleanup.policy", Operation.SUBTRACT, None), NotAlterable),
    ],
)
def test_first_fault_is_the_answer(change: Alteration, fault: type[ConfigFault]) -> None:
    result = on_topic({}, setting("flush.ms", "1"), change, setting("flush.ms", "no"))
    assert type(result) is fault
    assert result.name == change.name


def test_name_nobody_knows_can_be_deleted_and_a_brokers_set() -> None:
    assert on_topic({"old": "1"}, Alteration("old", Operation.DELETE)) == {}
    assert alter_all(TABLE, Scope.BROKER, {}, [setting("my.own", "1")]) == {"my.own": "1"}


def test_change_has_to_be_possible_where_it_is_asked_for() -> None:
    def on_broker(change: Alteration, *, whole_cluster: bool) -> dict[str, str] | ConfigFault:
        return alter_all(TABLE, Scope.BROKER, {}, [change], whole_cluster=whole_cluster)

    fixed = setting("log.dirs", "/a")
    own = setting("own.size", "2")
    shared = setting("log.roll.ms", "5")
    assert isinstance(on_broker(fixed, whole_cluster=False), NotAlterable)
    assert isinstance(on_broker(own, whole_cluster=True), NotAlterable)
    assert on_broker(own, whole_cluster=False) == {"own.size": "2"}
    assert on_broker(shared, whole_cluster=True) == {"log.roll.ms": "5"}
    assert on_broker(shared, whole_cluster=False) == {"log.roll.ms": "5"}


def test_value_has_to_fit_a_metadata_record() -> None:
    row = TABLE.get("cleanup.policy", Scope.TOPIC)
    assert alter(row, None, setting("cleanup.policy", "x" * VALUE_CHARACTERS_MAX)) == Altered(
        "x" * VALUE_CHARACTERS_MAX
    )
    for text in ("x" * (VALUE_CHARACTERS_MAX + 1), "\U0001f600" * (VALUE_CHARACTERS_MAX // 2 + 1)):
        assert isinstance(alter(row, None, setting("cleanup.policy", text)), NotAlterable)


def test_secret_is_in_no_answer() -> None:
    change = Alteration("own.password", Operation.APPEND, "hush")
    result = alter(SECRET, "older", change)
    assert isinstance(result, NotAlterable)
    assert "hush" not in str(result)
