"""Layers, synonyms and topics: which value is in force, and that nobody can change it."""

from typing import assert_type

import pytest

from ottla.config import log
from ottla.config.faults import InvalidSettings, InvalidValue, MissingValue
from ottla.config.kinds import INT, LIST, PASSWORD, STRING, Password
from ottla.config.log import (
    LOG_CLEANER_MIN_CLEANABLE_RATIO,
    LOG_CLEANUP_POLICY,
    LOG_DIRS,
    LOG_FLUSH_INTERVAL_MS,
    LOG_PREALLOCATE,
    LOG_RETENTION_MINUTES,
    LOG_RETENTION_MS,
    LOG_ROLL_MS,
    LOG_SEGMENT_BYTES,
    REMOTE_STORAGE_ENABLE,
)
from ottla.config.option import PER_BROKER, Option, days, hours, minutes
from ottla.config.settings import Settings, Source
from ottla.config.table import Table

TABLE = Table.of(log)
SECRET: Option[Password | None] = Option("a.password", PASSWORD, default=None)
NEEDED = Option("needed", INT)
PLAIN = Option("plain", STRING, default="x", change=PER_BROKER)


def broker(static: dict[str, str], **layers: dict[str, str]) -> Settings:
    return Settings.of_broker(TABLE, static, **layers)


def test_values_have_the_types_of_their_rows() -> None:
    settings = broker({})
    assert assert_type(settings[LOG_SEGMENT_BYTES], int) == 1 << 30
    assert assert_type(settings[LOG_RETENTION_MS], int) == days(7)
    assert assert_type(settings[LOG_RETENTION_MINUTES], int | None) is None
    assert assert_type(settings[LOG_DIRS], list[str]) == ["/tmp/kafka-logs"]
    assert assert_type(settings[LOG_PREALLOCATE], bool) is False
    assert assert_type(settings[LOG_CLEANER_MIN_CLEANABLE_RATIO], float) == 0.5


def test_stronger_layers_win() -> None:
    name = "log.segment.bytes"
    texts = {"static": {name: "2000000"}, "cluster": {name: "3000000"}, "broker": {name: "4000000"}}
    assert broker(texts["static"])[LOG_SEGMENT_BYTES] == 2_000_000
    assert broker(texts["static"], cluster=texts["cluster"])[LOG_SEGMENT_BYTES] == 3_000_000
    assert Settings.of_broker(TABLE, **texts)[LOG_SEGMENT_BYTES] == 4_000_000


@pytest.mark.parametrize(
    ("static", "expected"),
    [
        ({"log.retention.hours": "1"}, hours(1)),
        ({"log.retention.hours": "1", "log.retention.minutes": "2"}, minutes(2)),
        ({"log.retention.hours": "1", "log.retention.minutes": "2", "log.retention.ms": "3"}, 3),
        ({"log.retention.hours": "-2"}, -1),
        ({"log.retention.ms": "-5"}, -1),
        ({"log.retention.hours": "2147483647"}, 7730941129200000),
    ],
)
def test_most_precise_unit_wins(static: dict[str, str], expected: int) -> None:
    assert broker(static)[LOG_RETENTION_MS] == expected


def test_synonym_in_a_stronger_layer_wins() -> None:
    settings = broker({"log.roll.hours": "1"}, cluster={"log.roll.ms": "9"})
    assert settings[LOG_ROLL_MS] == 9
    assert settings.source_of(LOG_ROLL_MS) is Source.DYNAMIC_DEFAULT_BROKER
    assert broker({"log.flush.scheduler.interval.ms": "7"})[LOG_FLUSH_INTERVAL_MS] == 7
    assert broker({"log.dir": "/a, /b"})[LOG_DIRS] == ["/a", "/b"]


def test_topic_falls_back_to_the_broker() -> None:
    settings = broker({"log.retention.hours": "1"})
    topic = settings.topic({"segment.bytes": "1048576"})
    assert topic[LOG_SEGMENT_BYTES] == 1 << 20
    assert topic[LOG_RETENTION_MS] == hours(1)
    assert topic.source_of(LOG_RETENTION_MS) is Source.STATIC_BROKER
    assert topic[REMOTE_STORAGE_ENABLE] is False
    assert settings[LOG_SEGMENT_BYTES] == 1 << 30
    assert REMOTE_STORAGE_ENABLE not in settings
    with pytest.raises(KeyError):
        settings[REMOTE_STORAGE_ENABLE]


def test_topic_does_not_know_the_brokers_name() -> None:
    topic = broker({}).topic({"log.retention.ms": "1"})
    assert topic[LOG_RETENTION_MS] == days(7)
    assert [fault.name for fault in topic.unknown] == ["log.retention.ms"]


def test_topic_may_keep_nothing_but_a_broker_may_not() -> None:
    assert broker({}).topic({"retention.ms": "0"})[LOG_RETENTION_MS] == 0
    with pytest.raises(InvalidSettings, match="at least -1, but 0"):
        broker({"log.retention.ms": "0"})
    with pytest.raises(InvalidSettings, match=r"retention\.ms: '-5'"):
        broker({}).topic({"retention.ms": "-5"})


def test_all_that_is_wrong_is_said_at_once() -> None:
    given = {"log.segment.bytes": "x", "log.roll.ms": "0", "log.cleanup.policy": "keep"}
    with pytest.raises(InvalidSettings) as raised:
        broker(given)
    assert {fault.name for fault in raised.value.faults} == set(given)
    assert all(isinstance(fault, InvalidValue) for fault in raised.value.faults)
    assert str(raised.value).count("\n") == 2


def test_wrong_value_is_wrong_even_if_another_is_in_force() -> None:
    with pytest.raises(InvalidSettings, match=r"log\.roll\.hours"):
        broker({"log.roll.hours": "0", "log.roll.ms": "5"})


def test_option_without_default_must_be_given() -> None:
    table = Table([NEEDED])
    with pytest.raises(InvalidSettings, match="needed: must be set to a whole number") as raised:
        Settings.of_broker(table, {})
    assert isinstance(raised.value.faults[0], MissingValue)
    assert Settings.of_broker(table, {"needed": "3"})[NEEDED] == 3


def test_unknown_names_are_kept_and_reported() -> None:
    settings = broker({"log.preallocat": "true", "my.own": "1"})
    assert [str(fault) for fault in settings.unknown] == [
        "log.preallocat: no such option; did you mean log.preallocate?",
        "my.own: no such option",
    ]
    described = settings.describe("my.own")
    assert described is not None
    assert (described.value, described.sensitive) == (None, True)
    assert settings.describe("no.such.option") is None


def test_secrets_are_shown_nowhere() -> None:
    settings = Settings.of_broker(Table([SECRET]), {"a.password": "hush", "b.password": "hush"})
    assert settings[SECRET] == Password("hush")
    shown = [repr(settings), str(settings), repr(settings[SECRET])]
    shown += [repr(one) for one in settings.describe_all()]
    assert not [text for text in shown if "hush" in text]
    assert len(shown) == 5


def test_snapshot_cannot_be_changed() -> None:
    static = {"log.cleanup.policy": "compact"}
    settings = broker(static)
    static["log.cleanup.policy"] = "delete"
    settings[LOG_CLEANUP_POLICY].append("delete")
    settings.topic({})[LOG_CLEANUP_POLICY].clear()
    broker({})[LOG_CLEANUP_POLICY].clear()
    assert settings[LOG_CLEANUP_POLICY] == ["compact"]
    assert broker({})[LOG_CLEANUP_POLICY] == ["delete"]
    described = settings.describe("log.cleanup.policy")
    assert described is not None
    assert described.value == "compact"


def test_listener_has_values_of_its_own() -> None:
    table = Table([PLAIN, NEEDED, Option("some.list", LIST, default=[])])
    static = {"needed": "1", "plain": "y", "listener.name.internal.plain": "z"}
    settings = Settings.of_broker(table, static, broker={"plain": "w"})
    assert settings[PLAIN] == "w"
    assert settings.listener("INTERNAL")[PLAIN] == "z"
    assert settings.listener("external")[PLAIN] == "w"
    assert settings.unknown == ()


def test_mechanism_of_a_listener_has_values_of_its_own() -> None:
    table = Table([PLAIN, SECRET])
    prefix = "listener.name.internal."
    static = {
        f"{prefix}plain.a.password": "hush 1",
        f"{prefix}a.password": "hush 2",
        "a.password": "hush 3",
    }
    settings = Settings.of_broker(table, static)
    assert settings.listener("internal", "PLAIN")[SECRET] == Password("hush 1")
    assert settings.listener("internal", "SCRAM-SHA-256")[SECRET] == Password("hush 2")
    assert settings.listener("other", "PLAIN")[SECRET] == Password("hush 3")
    assert settings.unknown == settings.listener("internal").unknown == ()
    shown = [repr(settings), *map(repr, map(settings.describe, static))]
    assert not [text for text in shown if "hush" in text]


def test_every_option_but_internal_ones_is_described() -> None:
    settings = broker({"my.own": "1"})
    names = [one.name for one in settings.describe_all()]
    internal = {row.name for row in TABLE if row.internal}
    assert internal.isdisjoint(names)
    assert names[-1] == "my.own"
    assert {one.name for one in settings.topic({}).describe_all()} >= {"segment.bytes", "flush.ms"}
