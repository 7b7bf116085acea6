"""Whatever bytes a log holds, a terminal gets text on one line and a program gets the bytes."""

import json
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.log.choices import Form
from ottla.cli.log.values import as_line, as_object, cut, escaped, json_line


@pytest.mark.parametrize(
    ("data", "form", "line"),
    [
        (None, Form.AUTO, "null"),
        (b"", Form.AUTO, ""),
        (b"caf\xc3\xa9", Form.AUTO, "café"),
        (b"a\nb\tc", Form.AUTO, "a\\nb\\tc"),
        (b"\x1b[31mred", Form.AUTO, "0x1b5b33316d726564"),
        (b"\x1b[31mred", Form.TEXT, "\\x1b[31mred"),
        ("\u202eabc".encode(), Form.TEXT, "\\u202eabc"),
        (b"\xff\x00", Form.AUTO, "0xff00"),
        (b"\xff\x00", Form.HEX, "ff00"),
        (b"\xff\x00", Form.BASE64, "/wA="),
        (b'{"b":1,"a":[null]}', Form.JSON, '{"b": 1, "a": [null]}'),
        (b'["\\u001b"]', Form.JSON, '["\\u001b"]'),
        (b"no json", Form.JSON, "no json"),
        (b"NaN", Form.JSON, "NaN"),
        (b"[" * 100_000, Form.JSON, "[" * 100_000),
        (b"x", Form.NONE, ""),
    ],
)
def test_a_value_on_a_line(data: bytes | None, form: Form, line: str) -> None:
    assert as_line(data, form) == line


@given(st.binary(), st.sampled_from(Form))
def test_no_bytes_reach_a_terminal_as_orders(data: bytes, form: Form) -> None:
    assert as_line(data, form).isprintable()
    assert json_line(as_object(data, form).value).isprintable()


@given(st.binary())
def test_bytes_come_back_from_json(data: bytes) -> None:
    value, form = json.loads(json_line(as_object(data, Form.AUTO)))
    assert (b64decode(value) if form == "base64" else value.encode()) == data


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        (Form.AUTO, ('{"a":1}', "text")),
        (Form.JSON, ({"a": 1}, "json")),
        (Form.HEX, ("7b2261223a317d", "hex")),
        (Form.NONE, ("", "none")),
    ],
)
def test_a_value_in_json_says_its_form(form: Form, shown: tuple[object, str]) -> None:
    assert as_object(b'{"a":1}', form) == shown
    assert as_object(None, form) == (None, None)


def test_a_long_value_is_cut_and_says_so() -> None:
    assert cut("x" * 2000, 3) == "xxx... (2,000 characters)"
    assert cut("x" * 3, 3) == "xxx"
    assert cut("x" * 2000, None) == "x" * 2000


def test_a_line_without_controls_is_left_alone() -> None:
    assert escaped("ä \\n") == "ä \\n"
