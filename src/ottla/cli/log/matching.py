"""Where a pattern is looked for in a record, and how that is done without reading all of them."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias, cast

from ottla.cli.log.conditions import Condition, found_in, searched
from ottla.cli.log.decoding import Decoded
from ottla.cli.log.values import json_line
from ottla.kernels.faults import Malformed
from ottla.records.reader import Record
from ottla.wire.fields import Buffer

_PARTS: Final = ("type", "key", "data")

_INDEX: Final = re.compile("[0-9]{1,9}")
_PLAIN: Final = re.compile(r"[\w /:;,@%&=~'\"<>!-]*")

Decode: TypeAlias = Callable[[Record], Decoded | None]


def tolerant(decode: Callable[[Record], Decoded] | None) -> Decode | None:
    """What decodes, or gives None where a record cannot be: then its bytes are searched."""
    if decode is None:
        return None

    def decoded(record: Record) -> Decoded | None:
        try:
            return decode(record)
        except Malformed:
            return None

    return decoded


class Pattern(NamedTuple):
    """What is looked for; `literal` are its bytes, if it stands for nothing but itself."""

    compiled: re.Pattern[str]
    literal: bytes


def literal_of(pattern: str, *, is_fixed: bool, ignores_case: bool) -> bytes:
    """The bytes that every match has; none if a pattern may match in several ways."""
    if ignores_case or not (is_fixed or _PLAIN.fullmatch(pattern)):
        return b""
    return pattern.encode(errors="surrogateescape")


def in_place(pattern: Pattern, place: str) -> Condition:
    """The pattern is found in the key, the value, a header, or any of them."""

    def holds(record: Record) -> bool:
        return any(found_in(pattern.compiled, data) for data in _texts(record, place))

    return Condition(holds, pattern.literal)


def in_decoded(pattern: Pattern, decode: Decode) -> Condition:
    """The pattern is found in what a record of an internal topic says."""

    def holds(record: Record) -> bool:
        said = decode(record)
        if said is None:
            return any(found_in(pattern.compiled, data) for data in _texts(record, "all"))
        return any(searched(pattern.compiled, _written(said.get(part))) for part in _PARTS)

    return Condition(holds)


def in_field(pattern: Pattern, path: str, decode: Decode | None) -> Condition:
    """The pattern is found in a text, number or such at a path like `order.items.0.id`.

    It is the path in the value's JSON, or in what a record of an internal topic says.
    """
    steps = path.split(".")

    def holds(record: Record) -> bool:
        if decode is not None:
            said = decode(record) or {}
            roots = [said.get("key"), said.get("data")]
        elif record.value is None or _cannot_have(record.value, pattern.literal):
            return False
        else:
            roots = [_json_of(record.value)]
        found = (_scalar_at(root, steps) for root in roots)
        return any(text is not None and searched(pattern.compiled, text) for text in found)

    return Condition(holds)


def _texts(record: Record, place: str) -> Iterator[Buffer]:
    if place in ("all", "key") and record.key is not None:
        yield record.key
    if place in ("all", "value") and record.value is not None:
        yield record.value
    if place in ("all", "headers"):
        for name, value in record.headers:
            yield name.encode()
            if value is not None:
                yield value


def _cannot_have(value: Buffer, literal: bytes) -> bool:
    """Is a text surely not in some JSON? Only an escape can hide it."""
    data = bytes(value)
    return literal not in data and b"\\" not in data


def _json_of(value: Buffer) -> object:
    """The JSON of a value, its numbers as they are written; None if it is none."""
    try:
        return cast("object", json.loads(bytes(value), parse_float=str, parse_int=str))
    except (ValueError, RecursionError):
        return None


def _scalar_at(root: object, steps: list[str]) -> str | None:
    """The text, number, true, false or null at a path; None if there is no such thing."""
    found = root
    for step in steps:
        if isinstance(found, dict):
            fields = cast("dict[str, object]", found)
            if step not in fields:
                return None
            found = fields[step]
        elif isinstance(found, list) and _INDEX.fullmatch(step):
            items = cast("list[object]", found)
            if int(step) >= len(items):
                return None
            found = items[int(step)]
        else:
            return None
    return None if isinstance(found, (dict, list)) else _written(found)


def _written(value: object) -> str:
    return value if isinstance(value, str) else json_line(value)
