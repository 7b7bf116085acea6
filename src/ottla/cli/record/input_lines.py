"""Lines that are typed or piped in, as records; a line that is none is named by its number.

Two forms are read: plain lines, with the key before a separator if there is one, and JSON objects,
of which `ottla record consume --json` prints what can be read back here.
"""

import binascii
import json
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, cast

from ottla.cli import Refused
from ottla.cli.log.values import json_line

_FORMS: Final = ("text", "json", "hex", "base64")
_INT64_MAX: Final = 2**63 - 1


class NoRecord(ValueError):
    """A line is no record; the text says why."""


class NewRecord(NamedTuple):
    """A record that is to be appended; None for what is to be chosen."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]
    timestamp: int | None = None
    partition: int | None = None


class PlainLines(NamedTuple):
    """How plain lines are read."""

    key: bytes | None = None
    key_separator: bytes | None = None
    null: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()

    def read(self, line: bytes) -> NewRecord:
        """A line without its end as a record."""
        key, value = self.key, line
        if self.key_separator is not None:
            before, separator, after = line.partition(self.key_separator)
            if not separator:
                raise NoRecord(f"has no {self.key_separator.decode()!r} between key and value")
            key, value = before, after
        nulled = [
            None if self.null is not None and part == self.null else part for part in (key, value)
        ]
        return NewRecord(nulled[0], nulled[1], list(self.headers))


def read_plain(lines: Iterable[bytes], form: PlainLines) -> Iterator[NewRecord]:
    """Plain lines as records."""
    for number, line in enumerate(lines, 1):
        try:
            yield form.read(line.removesuffix(b"\n").removesuffix(b"\r"))
        except ValueError as fault:
            raise Refused(f"line {number} {fault}") from None


def read_json(lines: Iterable[bytes]) -> Iterator[NewRecord]:
    """JSON objects, one a line, as records; empty lines are passed over."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _of_object(json.loads(line))
        except (ValueError, RecursionError) as fault:
            raise Refused(f"line {number}: {fault}") from None


def _of_object(found: object) -> NewRecord:
    if not isinstance(found, dict):
        raise NoRecord("it is no JSON object")
    fields = cast("dict[str, object]", found)
    if "value" not in fields and "key" not in fields:
        raise NoRecord('it has neither "key" nor "value"')
    return NewRecord(
        _bytes(fields, "key"),
        _bytes(fields, "value"),
        _headers(fields.get("headers")),
        _number(fields, "timestamp"),
        _number(fields, "partition"),
    )


def _bytes(fields: dict[str, object], name: str, form_name: str = "") -> bytes | None:
    """A key or value, in the form that its `_form` says: text unless told otherwise."""
    value = fields.get(name)
    form = fields.get(form_name or f"{name}_form") or ("text" if isinstance(value, str) else "json")
    if value is None and form != "json":
        return None
    if value is None:
        return None if fields.get(form_name or f"{name}_form") is None else b"null"
    if form == "json":
        return json_line(value).encode()
    if form not in _FORMS or not isinstance(value, str):
        raise NoRecord(f"{name} has the form {form!r}, which is none of {', '.join(_FORMS)}")
    if form == "text":
        return value.encode(errors="surrogateescape")
    try:
        return bytes.fromhex(value) if form == "hex" else b64decode(value, validate=True)
    except (ValueError, binascii.Error):
        raise NoRecord(f"{name} is no {form}") from None


def _headers(found: object) -> list[tuple[str, bytes | None]]:
    if found is None:
        return []
    if isinstance(found, dict):
        named = cast("dict[str, object]", found)
        return [(name, _bytes({"value": value}, "value")) for name, value in named.items()]
    if not isinstance(found, list):
        raise NoRecord("headers are neither an object nor a list")
    headers: list[tuple[str, bytes | None]] = []
    for one in cast("list[object]", found):
        fields = cast("dict[str, object]", one) if isinstance(one, dict) else {}
        name = fields.get("name")
        if not isinstance(name, str):
            raise NoRecord('a header is an object with "name" and "value"')
        headers.append((name, _bytes(fields, "value", "form")))
    return headers


def _number(fields: dict[str, object], name: str) -> int | None:
    value = fields.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value <= _INT64_MAX:
        raise NoRecord(f"{name} is no number: {value!r}")
    return None if value < 0 else value
