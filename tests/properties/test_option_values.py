"""A value of every type that is written is read again as itself; no text does harm."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.config import kinds, log
from ottla.config.alteration import Alteration, Altered, Operation, alter
from ottla.config.faults import InvalidSettings, InvalidValue
from ottla.config.kinds import (
    BOOLEAN,
    DOUBLE,
    INT,
    LIST,
    LONG,
    PASSWORD,
    SHORT,
    STRING,
    Kind,
    render,
)
from ottla.config.option import Option, Scope
from ottla.config.settings import Settings, Source
from ottla.config.table import Table

TABLE = Table.of(log)
KINDS = [kind for kind in vars(kinds).values() if isinstance(kind, Kind)]
# Text is trimmed when it is read, so a value that starts or ends in a space cannot be written.
TRIMMED = st.text().map(lambda text: text.strip("".join(map(chr, range(33)))))
ELEMENT = st.text(st.characters(exclude_characters=",")).map(
    lambda text: text.strip("".join(map(chr, range(33))))
)


def whole(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (BOOLEAN, st.booleans()),
        (STRING, TRIMMED),
        (SHORT, whole(16)),
        (INT, whole(32)),
        (LONG, whole(64)),
        (LIST, st.lists(ELEMENT.filter(bool))),
        (kinds.CLASS, st.from_regex(r"[a-z][a-z0-9_]*(\.[A-Za-z]\w{0,5})*", fullmatch=True)),
        (PASSWORD, TRIMMED.map(kinds.Password)),
    ],
    ids=repr,
)
@given(data=st.data())
def test_written_value_is_read_again(
    kind: Kind[object], values: st.SearchStrategy[object], data: st.DataObject
) -> None:
    value = data.draw(values)
    text = render(value)
    assert text is not None
    assert kind.parse(text) == value


@given(st.floats())
def test_written_number_is_read_again(value: float) -> None:
    text = render(value)
    assert text is not None
    assert DOUBLE.parse(text) == value or math.isnan(value)
    assert "e" not in text.replace("Infinity", "")


@given(
    st.sampled_from(KINDS),
    st.text() | st.from_regex(r"[+-]?[0-9_.]{0,25}([eEpP][+-]?[0-9]{0,4})?[dDfF]?"),
)
def test_any_text_is_a_value_or_a_refusal(kind: Kind[object], text: str) -> None:
    option = Option("some.option", kind, default=None)
    try:
        value = option.parse(text)
    except InvalidValue:
        return
    again = render(value)
    assert again is not None
    assert option.parse(again) == value or value != value  # noqa: PLR0124  NaN differs from itself.


@given(
    st.dictionaries(st.sampled_from(sorted(TABLE.at(Scope.TOPIC))), st.text() | whole(40).map(str))
)
def test_any_topic_has_settings_or_is_refused_by_name(given_texts: dict[str, str]) -> None:
    refused, described = described_topic(given_texts)
    assert refused <= given_texts.keys()
    assert refused or described == given_texts.keys()


def described_topic(texts: dict[str, str]) -> tuple[set[str], set[str]]:
    """The names that are refused, or else those that are said to be the topic's own."""
    try:
        settings = Settings(TABLE).topic(texts)
    except InvalidSettings as fault:
        return {one.name for one in fault.faults}, set()
    own = {one.name for one in settings.describe_all() if one.source is Source.DYNAMIC_TOPIC}
    return set(), own | (texts.keys() & {"internal.segment.bytes"})


@given(st.lists(ELEMENT.filter(bool), unique=True), ELEMENT.filter(bool))
def test_what_is_added_can_be_taken_away(present: list[str], one: str) -> None:
    row = Option("some.list", LIST, default=[])
    before = ",".join(present)
    added = alter(row, before, Alteration("some.list", Operation.APPEND, one))
    assert isinstance(added, Altered)
    taken = alter(row, added.text, Alteration("some.list", Operation.SUBTRACT, one))
    assert taken == Altered(",".join(other for other in present if other != one))
