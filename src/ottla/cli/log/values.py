"""Keys and values as people and programs read them.

What a foreign log holds must not reach a terminal as it is: there bytes can be orders. So a text is
shown with escapes for all that is not printable, and always on one line.
"""

import json
from base64 import b64encode
from typing import Final, NamedTuple, NoReturn, TypeAlias

from ottla.cli.log.choices import Form
from ottla.wire.fields import Buffer

Object: TypeAlias = dict[str, object]
"""What becomes an object of JSON."""


class Shown(NamedTuple):
    """A value for JSON, and in which form it is there; None and None for a null."""

    value: object
    form: str | None


_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def as_object(data: Buffer | None, form: Form) -> Shown:
    """Bytes as a value of JSON, and its form; AUTO is base64 where they are no text."""
    if data is None:
        return Shown(None, None)
    if form is Form.JSON:
        try:
            return Shown(parsed_json(data), "json")
        except (ValueError, RecursionError):
            form = Form.AUTO
    if form is Form.AUTO:
        text = text_or_none(data)
        return Shown(b64encode(data).decode(), "base64") if text is None else Shown(text, "text")
    return Shown(_encoded(data, form), form.value)


def parsed_json(data: Buffer) -> object:
    """The JSON that bytes are; ValueError or RecursionError if they are none."""
    return json.loads(bytes(data), parse_constant=_refused)


def json_line(value: object) -> str:
    """A value as JSON on one line, readable where that is harmless."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else json.dumps(value, separators=(",", ":"))


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _encoded(data: Buffer, form: Form) -> str:
    if form is Form.TEXT:
        return str(data, "utf-8", "replace")
    if form is Form.HEX:
        return bytes(data).hex()
    return "" if form is Form.NONE else b64encode(data).decode()


def as_line(data: Buffer | None, form: Form) -> str:
    """Bytes on one line for a person: null, text, or `0x` and hex."""
    if data is None:
        return "null"
    if form is Form.AUTO:
        text = text_or_none(data)
        return "0x" + bytes(data).hex() if text is None else escaped(text)
    if form is Form.JSON:
        try:
            return escaped(json.dumps(parsed_json(data), ensure_ascii=False))
        except (ValueError, RecursionError):
            return as_line(data, Form.AUTO)
    return escaped(_encoded(data, form))


def text_or_none(data: Buffer) -> str | None:
    """Bytes as text, if they are UTF-8 without controls other than the ends of lines and tabs."""
    try:
        text = str(data, "utf-8")
    except UnicodeDecodeError:
        return None
    if text.isprintable() or all(one.isprintable() or one in "\n\r\t\ufeff" for one in text):
        return text
    return None


def escaped(text: str) -> str:
    """A text with escapes for what does not print, so that it moves no cursor."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escape(one) for one in text)


def _escape(one: str) -> str:
    return _ESCAPES.get(one) or one.encode("unicode_escape", "backslashreplace").decode()


def cut(text: str, characters_max: int | None) -> str:
    """A text, but not more of it than fits; how much is missing is said."""
    if characters_max is None or len(text) <= characters_max:
        return text
    return f"{text[:characters_max]}... ({len(text):,} characters)"
