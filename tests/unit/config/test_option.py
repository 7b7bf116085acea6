"""What one row knows, and what it refuses."""

import pytest

from ottla.config.faults import HIDDEN, InvalidValue
from ottla.config.kinds import (
    BOOLEAN,
    CLASS,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    Kind,
    Password,
    render,
)
from ottla.config.option import (
    CLUSTER_WIDE,
    GiB,
    KiB,
    MiB,
    Option,
    Scope,
    days,
    hours,
    minutes,
    seconds,
)

LEVEL = Option("some.level", INT, default=-1, at_least=1, at_most=9, or_exactly=-1)
SECRET = Option("some.password", PASSWORD, default=None)


def test_units_are_bytes_and_milliseconds() -> None:
    assert (KiB(1), MiB(1), GiB(1)) == (1 << 10, 1 << 20, 1 << 30)
    assert (seconds(1), minutes(1), hours(1), days(1)) == (1000, 60_000, 3_600_000, 86_400_000)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("a.ms", "ms"), ("a.max.bytes", "bytes"), ("a.hours", "hours"), ("a.size", ""), ("ms.a", "")],
)
def test_unit_is_the_end_of_the_name(name: str, unit: str) -> None:
    assert Option(name, INT, default=0).unit == unit


def test_refusal_names_option_value_and_what_is_allowed() -> None:
    with pytest.raises(InvalidValue) as raised:
        LEVEL.parse("10")
    fault = raised.value
    assert (fault.name, fault.given) == ("some.level", "10")
    assert str(fault) == "some.level: '10' is not a whole number of 32 bits from 1 to 9, or -1"


@pytest.mark.parametrize("text", ["-1", "1", "9"])
def test_bounds_are_inclusive_and_may_have_an_exception(text: str) -> None:
    assert LEVEL.parse(text) == int(text)


@pytest.mark.parametrize("text", ["0", "10", "-2", "", "1.0", "one"])
def test_out_of_bounds_or_no_number(text: str) -> None:
    with pytest.raises(InvalidValue):
        LEVEL.parse(text)


@pytest.mark.parametrize(
    ("option", "allowed"),
    [
        (Option("a", LONG, at_least=0), "a whole number of 64 bits of at least 0"),
        (Option("a", SHORT, at_most=3), "a whole number of 16 bits of at most 3"),
        (Option("a", DOUBLE, at_least=0, at_most=1), "a number from 0 to 1"),
        (Option("a", STRING, one_of=("x", "y")), "text, one of x, y"),
        (Option("a", LIST, one_of=("x", "y")), "values with commas between them, each of x, y"),
        (Option("a", LIST, may_be_empty=False), "values with commas between them, at least one"),
        (Option("a", STRING, pattern="x+"), "text, of the form x+"),
        (Option("a", BOOLEAN), "true or false"),
    ],
)
def test_allowed_is_said_in_words(option: Option[object], allowed: str) -> None:
    assert option.allowed == allowed


def test_list_loses_repetitions_and_has_no_empty_elements() -> None:
    option = Option("a", LIST, may_be_empty=False)
    assert option.parse(" x , y,x") == ["x", "y"]
    for text in ("", "x,", "x,,y"):
        with pytest.raises(InvalidValue):
            option.parse(text)


def test_text_can_have_to_be_there() -> None:
    with pytest.raises(InvalidValue):
        Option("a", STRING, may_be_empty=False).parse("  ")


def test_class_is_a_name() -> None:
    option = Option("a.class", CLASS, default=None)
    assert option.parse(" org.apache.Some$Inner ") == "org.apache.Some$Inner"
    assert option.parse("some_package.module:Name") == "some_package.module:Name"
    for text in ("", "a b", "1a", ".a", "a."):
        with pytest.raises(InvalidValue):
            option.parse(text)


def test_secret_is_never_shown() -> None:
    value = SECRET.parse(" hush ")
    assert value == Password("hush")
    assert f"{value} {value!r} {[value]}" == f"{HIDDEN} {HIDDEN} [{HIDDEN}]"
    assert render(value) == "hush"
    assert "hush" not in str(SECRET.refusal("hush"))


def test_hidden_text_is_not_shown_either() -> None:
    option = Option("a.jaas", STRING, default=None, hidden=True, pattern="[0-9]+")
    with pytest.raises(InvalidValue) as raised:
        option.parse("hush")
    assert raised.value.given == HIDDEN
    assert "hush" not in str(raised.value)
    number = Option("a.pin", INT, default=None, hidden=True)
    with pytest.raises(InvalidValue) as raised:
        number.parse("hush")
    assert raised.value.__suppress_context__


def test_synonym_is_turned_into_the_own_unit() -> None:
    by_hour = Option("a.hours", INT, default=2)
    by_minute = Option("a.minutes", INT, default=None)
    in_ms = Option("a.ms", LONG, synonyms=(by_minute, by_hour), change=CLUSTER_WIDE)
    assert in_ms.converted(by_hour, 2) == hours(2)
    assert in_ms.converted(by_minute, 2) == minutes(2)
    assert not in_ms.required
    assert in_ms.default_text is None


def test_name_depends_on_the_scope() -> None:
    both = Option("log.x", INT, default=0, topic="x", group="y")
    assert [both.name_at(scope) for scope in Scope] == ["log.x", "x", "y"]
    only = Option("x", INT, default=0, scope=Scope.TOPIC)
    assert [only.name_at(scope) for scope in Scope] == [None, "x", None]
    with pytest.raises(InvalidValue, match=r"^x: "):
        both.parse("no", Scope.TOPIC)


def test_row_without_default_and_synonyms_is_required() -> None:
    assert Option("a", INT).required
    assert not Option("a", INT, default=None).required
    assert Option("a", INT, synonyms=(Option("b", INT),)).required


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (DOUBLE, "1" * 100_000 + "x"),
        (DOUBLE, "0x" + "1" * 100_000 + "x"),
        (INT, "1" * 100_000 + "x"),
        (CLASS, "a." * 50_000),
    ],
)
def test_a_long_text_is_refused_at_once(kind: Kind[object], text: str) -> None:
    """It comes from anyone who may alter a topic; with time for its square this takes minutes."""
    with pytest.raises(InvalidValue):
        Option("some", kind).parse(text)


def test_a_list_with_much_space_is_read_at_once() -> None:
    space = " " * 300_000
    assert Option("some", LIST).parse(f"a{space}b{space},{space}c") == [f"a{space}b", "c"]
