"""Conditions hold for the right records, read no more than they must, and come to an end."""

import re

import pytest

from ottla.cli import Refused
from ottla.cli.log import conditions
from ottla.cli.log.conditions import (
    OFFSET_MAX,
    Wanted,
    Window,
    compiled,
    header_is,
    key_is,
    key_matches,
    parse_offsets,
    patterns_bounded,
    value_contains,
)
from ottla.records.reader import Record
from ottla.records.scan import BatchRow, scan
from tests.unit.cli.log_directory import T, plain

RECORD = Record(7, T, b"k\xc3\xa4", b"value", [("a", b"1"), ("a", None)])
NOTHING = Record(7, T, None, None, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5", (5, 5)),
        ("5..9", (5, 9)),
        ("5..", (5, OFFSET_MAX)),
        ("..9", (0, 9)),
        ("9..9", (9, 9)),
    ],
)
def test_a_range_of_offsets_is_read(text: str, expected: tuple[int, int]) -> None:
    assert parse_offsets(text) == expected


@pytest.mark.parametrize("text", ["", "..", "x", "-1", "1...2", "9..5", "1" * 20])
def test_what_is_no_range_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="range of offsets"):
        parse_offsets(text)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        (key_is("kä"), True),
        (key_is("k"), False),
        (key_matches(re.compile("^k.$")), True),
        (value_contains("alu"), True),
        (value_contains("x"), False),
        (header_is("a"), True),
        (header_is("a=1"), True),
        (header_is("a="), False),
        (header_is("b"), False),
    ],
)
def test_a_condition_holds(condition: conditions.Condition, holds: bool) -> None:
    assert condition.holds(RECORD) is holds
    assert not condition.holds(NOTHING)


def test_every_condition_must_hold() -> None:
    both = Wanted(conditions=(key_is("kä"), header_is("b")))
    assert Wanted(conditions=(key_is("kä"),)).holds(RECORD)
    assert not both.holds(RECORD)
    assert not both.may_hold(b"..k\xc3\xa4..")
    assert both.may_hold(b"..k\xc3\xa4..b")


def row(data: bytes, **changes: int) -> BatchRow:
    return scan(data).rows[0]._replace(**changes)


@pytest.mark.parametrize(
    ("window", "may_hold"),
    [
        (Window(), True),
        (Window(5, 9), True),
        (Window(12, 20), True),
        (Window(13, 20), False),
        (Window(0, 9), False),
        (Window(from_ms=T + 10_002), True),
        (Window(from_ms=T + 10_003), False),
        (Window(to_ms=T), True),
    ],
)
def test_a_batch_is_judged_by_its_header(window: Window, may_hold: bool) -> None:
    if window == Window(5, 9):
        window = Window(5, 10)
    assert window.may_hold(row(plain(10, 3))) is may_hold


def test_append_time_is_the_time_of_every_record() -> None:
    appended = row(plain(10, 3), attributes=8)
    assert not Window(to_ms=appended.max_timestamp).may_hold(appended)
    assert Window(to_ms=appended.max_timestamp + 1).may_hold(appended)


def test_a_wrapper_shows_only_its_last_offset() -> None:
    wrapper = row(plain(10, 1), magic=1)
    assert Window(3, 5).may_hold(wrapper)
    assert not Window(11, 15).may_hold(wrapper)


def test_the_end_of_a_window_of_time_is_not_in_it() -> None:
    assert Window(from_ms=T, to_ms=T + 1).holds(RECORD)
    assert not Window(to_ms=T).holds(RECORD)
    assert not Window(from_ms=T + 1).holds(RECORD)


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(Refused, match=r"the pattern '\(' is none"):
        compiled("(")
    assert compiled("(", is_fixed=True).search("a(b")


def test_a_pattern_that_goes_back_and_forth_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "PATTERN_SECONDS_MAX", 0.05)
    evil = key_matches(compiled("(a+)+$"))
    with patterns_bounded():
        assert evil.holds(RECORD._replace(key=b"a" * 1000))
        with pytest.raises(Refused, match=r"took longer than 0.05 s on one text"):
            evil.holds(RECORD._replace(key=b"a" * 60 + b"b"))


def test_many_quick_searches_are_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "PATTERN_SECONDS_MAX", 0.001)
    quick = key_matches(compiled("k"))
    with patterns_bounded():
        assert all(quick.holds(RECORD) for _ in range(20_000))
