"""The one JSON object at the front of a text, read as strictly and as laxly as Kafka's reader.

What follows it is left alone, and of a repeated name the last value counts.
"""

import json
from typing import Any, Final, NoReturn, cast

from ottla.kernels.faults import InvalidValue
from ottla.storage.text_lines import shown

_SPACES: Final = " \t\r\n"


def parse_object(text: str) -> dict[str, Any]:
    """Read an object; what cannot be held (too deep, a number too long) is refused as well."""
    try:
        found: object = _DECODER.raw_decode(text.lstrip(_SPACES))[0]
    except (ValueError, RecursionError) as fault:
        raise InvalidValue(f"not JSON: {shown(str(fault))}") from None
    return object_of(found)


def object_of(found: object) -> dict[str, Any]:
    """What was found, if it is an object."""
    if not isinstance(found, dict):
        raise InvalidValue(f"not a JSON object: {shown(str(found))}")
    return cast("dict[str, Any]", found)


def integer_of(fields: dict[str, Any], name: str, largest: int) -> int:
    """A number of an object, of which the largest is given, and with it the smallest."""
    value = value_of(fields, name)
    if type(value) is not int or not -largest - 1 <= value <= largest:
        raise InvalidValue(f"{name} is not an integer in range: {shown(str(value))}")
    return value


def text_value_of(fields: dict[str, Any], name: str) -> str:
    """A text of an object."""
    value = value_of(fields, name)
    if not isinstance(value, str):
        raise InvalidValue(f"{name} is not a text: {shown(str(value))}")
    return value


def value_of(fields: dict[str, Any], name: str) -> Any:
    """What an object has under a name."""
    if name not in fields:
        raise InvalidValue(f"{name} is missing")
    return fields[name]


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


_DECODER: Final = json.JSONDecoder(parse_constant=_refused)
