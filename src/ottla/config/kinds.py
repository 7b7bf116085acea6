"""The types of options: how each is read from text and written as text, exactly as Kafka does it.

Text is trimmed as Java trims: of every character up to the space, at both ends. Numbers follow
Java's grammar, not Python's: no underscores, and for a double also `1d`, `NaN` and `0x1p3`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, cast

from ottla.config.faults import HIDDEN

_T_co = TypeVar("_T_co", covariant=True)

_JAVA_SPACE: Final = "".join(map(chr, range(0x21)))
# Java looks digits up by UTF-16 unit, so those beyond the basic plane are none to it.
_INTEGER: Final = re.compile(r"[+-]?(?:(?![\U00010000-\U0010ffff])\d)+")
# No two neighbours may match the same digits, or a long text that is no number takes its square.
_DECIMAL: Final = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[fFdD]?")
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[fFdD]?"
)
_COMMA_SPACE: Final = " \t\n\r\f\v"
_CLASS_NAME: Final = re.compile(r"[^\W\d][\w$]*(?:[.:][^\W\d][\w$]*)*")


@dataclass(frozen=True, slots=True, repr=False)
class Password:
    """A secret that neither `repr` nor `str` nor an f-string shows."""

    value: str

    def __repr__(self) -> str:
        return HIDDEN


@dataclass(frozen=True, slots=True)
class Kind(Generic[_T_co]):
    """One type of option: its Kafka name, its number in DescribeConfigs, text and back."""

    name: str
    number: int
    holds: str
    read: Callable[[str], _T_co]
    """Takes trimmed text; raises ValueError for text that is no such value."""

    def parse(self, text: str) -> _T_co:
        """The value that some text means; ValueError if it means none."""
        return self.read(text.strip(_JAVA_SPACE))

    def __repr__(self) -> str:
        return self.name


def render(value: object) -> str | None:
    """A value as Kafka would write it; a password in the clear, so never for showing."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case float():
            return _java_double(value)
        case list():
            return ",".join(cast("list[str]", value))
        case Password():
            return value.value
        case _:
            return str(value)


def _integer(bits: int) -> Callable[[str], int]:
    bound = 1 << (bits - 1)

    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise ValueError
        value = int(text)
        if not -bound <= value < bound:
            raise ValueError
        return value

    return read


def _double(text: str) -> float:
    if text.lstrip("+-") in ("NaN", "Infinity") and len(text) - len(text.lstrip("+-")) <= 1:
        return float(text)
    if found := _DECIMAL.fullmatch(text):
        return float(found[1])
    if found := _HEXADECIMAL.fullmatch(text):
        try:
            return float.fromhex(found[1])
        except OverflowError:
            return math.copysign(math.inf, -1.0 if text.startswith("-") else 1.0)
    raise ValueError


def _java_double(value: float) -> str:
    """Java writes from a thousandth up to ten million plainly, all else with one leading digit."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = repr(value)
        return plain if "e" not in plain else f"{value:.17f}".rstrip("0")
    digits, exponent = f"{value!r}e0".split("e")[:2]
    if len(digits.lstrip("-")) == 1:
        # Java wants a second digit, and takes the one that comes closest.
        digits, exponent = f"{value:.1e}".split("e")
    sign = "-" if digits.startswith("-") else ""
    whole, _, fraction = digits.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    power = int(exponent) + len(whole) - 1
    significant = (whole + fraction).rstrip("0")
    stripped = significant.lstrip("0")
    power -= len(significant) - len(stripped)
    return f"{sign}{stripped[0]}.{stripped[1:] or '0'}E{power}"


def _boolean(text: str) -> bool:
    known = {"TRUE": True, "FALSE": False}
    if text.upper() not in known:
        raise ValueError
    return known[text.upper()]


def _list(text: str) -> list[str]:
    # Text is trimmed already, so there is nothing before the first element and after the last.
    return [element.strip(_COMMA_SPACE) for element in text.split(",")] if text else []


def _class_name(text: str) -> str:
    if not _CLASS_NAME.fullmatch(text):
        raise ValueError
    return text


BOOLEAN: Final = Kind("boolean", 1, "true or false", _boolean)
STRING: Final = Kind("string", 2, "text", str)
INT: Final = Kind("int", 3, "a whole number of 32 bits", _integer(32))
SHORT: Final = Kind("short", 4, "a whole number of 16 bits", _integer(16))
LONG: Final = Kind("long", 5, "a whole number of 64 bits", _integer(64))
DOUBLE: Final = Kind("double", 6, "a number", _double)
LIST: Final = Kind("list", 7, "values with commas between them", _list)
CLASS: Final = Kind("class", 8, "the name of a class", _class_name)
PASSWORD: Final = Kind("password", 9, "a secret", Password)
