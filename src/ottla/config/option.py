"""One row an option: all that anything needs to know of it, said once.

    LOG_SEGMENT_BYTES = Option(
        "log.segment.bytes", INT, default=GiB(1), at_least=MiB(1), topic="segment.bytes",
        change=CLUSTER_WIDE, doc="Roll a new segment once the active one holds this many bytes.")

A row without a default must be given, unless it has synonyms: then it takes the first of them that
is set, or the default of the last that has one, turned into its own unit.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, TypeVar, cast

from ottla.config.faults import HIDDEN, InvalidValue
from ottla.config.kinds import LIST, PASSWORD, STRING, Kind, render

T_co = TypeVar("T_co", covariant=True)


class Scope(Enum):
    """What an option can be set on; in words as they stand in a sentence."""

    BROKER = "broker"
    TOPIC = "topic"
    GROUP = "group"


class Change(Enum):
    """When a new value takes effect, in Kafka's words."""

    READ_ONLY = "read-only"
    PER_BROKER = "per-broker"
    CLUSTER_WIDE = "cluster-wide"


class Importance(Enum):
    """How many of those who run a cluster have to know the option."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Required(Enum):
    """What stands for the default of an option that has none."""

    REQUIRED = "required"


READ_ONLY: Final = Change.READ_ONLY
PER_BROKER: Final = Change.PER_BROKER
CLUSTER_WIDE: Final = Change.CLUSTER_WIDE
HIGH: Final = Importance.HIGH
MEDIUM: Final = Importance.MEDIUM
LOW: Final = Importance.LOW
REQUIRED: Final = Required.REQUIRED

LONG_MAX: Final = (1 << 63) - 1

_UNITS: Final[Mapping[str, int]] = {
    "ms": 1,
    "seconds": 1000,
    "minutes": 60_000,
    "hours": 3_600_000,
    "days": 86_400_000,
}
"""The units of time that end a name, and how many milliseconds each holds."""


def KiB(count: int) -> int:  # noqa: N802  The unit's own spelling.
    """So many times 1024 bytes."""
    return count << 10


def MiB(count: int) -> int:  # noqa: N802  The unit's own spelling.
    """So many times 1024 KiB, in bytes."""
    return count << 20


def GiB(count: int) -> int:  # noqa: N802  The unit's own spelling.
    """So many times 1024 MiB, in bytes."""
    return count << 30


def seconds(count: int) -> int:
    """So many seconds, in milliseconds."""
    return count * _UNITS["seconds"]


def minutes(count: int) -> int:
    """So many minutes, in milliseconds."""
    return count * _UNITS["minutes"]


def hours(count: int) -> int:
    """So many hours, in milliseconds."""
    return count * _UNITS["hours"]


def days(count: int) -> int:
    """So many days, in milliseconds."""
    return count * _UNITS["days"]


@dataclass(frozen=True, slots=True, eq=False)
class Option(Generic[T_co]):
    """A row. Choices hold for each element of a list, a pattern for the list as it is written."""

    name: str
    kind: Kind[T_co]
    default: T_co | Required = REQUIRED
    doc: str = ""
    at_least: float | None = None
    at_most: float | None = None
    or_exactly: float | None = None
    """One value outside the bounds that is allowed too."""
    one_of: tuple[str, ...] = ()
    pattern: str = ""
    unlimited: int | None = None
    """What every negative value means, where any of them says that there is no limit."""
    not_zero: bool = False
    """Whether a broker's value must not be zero, though a topic's may."""
    may_be_empty: bool = True
    topic: str | None = None
    group: str | None = None
    scope: Scope = Scope.BROKER
    change: Change = READ_ONLY
    importance: Importance = MEDIUM
    synonyms: "tuple[Option[object], ...]" = ()
    hidden: bool = False
    deprecated: str = ""
    """Why not to use it, and what to use; empty for an option that is not deprecated."""
    internal: bool = False

    def name_at(self, scope: Scope) -> str | None:
        """What the option is called in a scope; None where it cannot be set."""
        if scope is self.scope:
            return self.name
        return {Scope.TOPIC: self.topic, Scope.GROUP: self.group, Scope.BROKER: None}[scope]

    @property
    def sensitive(self) -> bool:
        """Whether its value must never be shown."""
        return self.hidden or self.kind is PASSWORD

    @property
    def unit(self) -> str:
        """The unit that the name ends in: bytes or one of time; empty if it says none."""
        last = self.name.rpartition(".")[2]
        return last if last in _UNITS or last == "bytes" else ""

    @property
    def required(self) -> bool:
        """Whether it has to be given, itself or one of its synonyms."""
        return self.default is REQUIRED and all(one.required for one in self.synonyms)

    @property
    def default_text(self) -> str | None:
        """The default as Kafka writes it; None where it is null, or where there is none."""
        return None if self.default is REQUIRED else render(self.default)

    @property
    def allowed(self) -> str:
        """What a value must be, to follow "must be" or "is not"."""
        return f"{self.kind.holds}{_bounds(self)}{_choices(self)}"

    def shown(self, text: str | None) -> str | None:
        """A value's text, unless it must not be seen."""
        return HIDDEN if self.sensitive and text is not None else text

    def parse(self, text: str, scope: Scope = Scope.BROKER) -> T_co:
        """The value that a text means; InvalidValue if none, or if it is out of bounds.

        A broker's option with synonyms may be out of bounds until it is put in relation to them:
        Kafka checks those where the topic's value comes of them, and so `settings` does.
        """
        try:
            value = self._distinct(self.kind.parse(text))
        except ValueError:
            raise self.refusal(text, scope) from None
        if scope is self.scope and self.synonyms:
            return value
        if not self.accepts(value):
            raise self.refusal(text, scope)
        return value

    def refusal(self, text: str | None, scope: Scope = Scope.BROKER) -> InvalidValue:
        """The error that says that this text is no value of the option."""
        allowed = self.allowed
        if self.not_zero and scope is self.scope:
            allowed += ", but 0"
        return InvalidValue(self.name_at(scope) or self.name, self.shown(text), allowed)

    def accepts(self, value: object) -> bool:
        """Whether a value of the right type is within the bounds and among the choices."""
        if value is None:
            return self.default is None
        if isinstance(value, list):
            elements = cast("list[str]", value)
            return self._accepts_list(elements)
        if self.kind is STRING and value == "" and not self.may_be_empty:
            return False
        return self._accepts_one(value)

    def converted(self, synonym: "Option[object]", value: object) -> T_co:
        """A synonym's value in this option's unit; what has no unit stays as it is."""
        if isinstance(value, int) and self.unit in _UNITS and synonym.unit in _UNITS:
            value = value * _UNITS[synonym.unit] // _UNITS[self.unit]
        return cast("T_co", [value] if self.kind is LIST and isinstance(value, str) else value)

    def clamped(self, value: object) -> T_co:
        """The value with every way of saying "no limit" made one."""
        if self.unlimited is not None and isinstance(value, int) and value < 0:
            value = self.unlimited
        return cast("T_co", value)

    def _distinct(self, value: object) -> T_co:
        """A list without its repetitions, as Kafka reads it; one with a pattern stays as it is."""
        if isinstance(value, list) and not self.pattern:
            value = list(dict.fromkeys(cast("list[str]", value)))
        return cast("T_co", value)

    def _accepts_list(self, elements: list[str]) -> bool:
        if self.pattern:
            return re.fullmatch(self.pattern, ",".join(elements)) is not None
        if not elements:
            return self.may_be_empty
        return all(element and self._accepts_one(element) for element in elements)

    def _accepts_one(self, value: object) -> bool:
        if isinstance(value, str):
            fits = not self.pattern or re.fullmatch(self.pattern, value) is not None
            return fits and (not self.one_of or value in self.one_of)
        if isinstance(value, int | float) and not isinstance(value, bool):
            at_least = -math.inf if self.at_least is None else self.at_least
            at_most = math.inf if self.at_most is None else self.at_most
            # A NaN is on no side of a bound, and Kafka lets it pass each of them.
            outside = value < at_least or value > at_most
            return not outside or value == self.or_exactly
        return True


def _bounds(option: Option[object]) -> str:
    low, high = render(option.at_least), render(option.at_most)
    if low is None and high is None:
        return ""
    if high is None:
        text = f" of at least {low}"
    elif low is None:
        text = f" of at most {high}"
    else:
        text = f" from {low} to {high}"
    return text if option.or_exactly is None else f"{text}, or {render(option.or_exactly)}"


def _choices(option: Option[object]) -> str:
    if not option.one_of and not option.pattern:
        return "" if option.may_be_empty else ", at least one"
    among = "each" if option.kind is LIST else "one"
    text = f", {among} of {', '.join(option.one_of)}" if option.one_of else ""
    return f"{text}, of the form {option.pattern}" if option.pattern else text
