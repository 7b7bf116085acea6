"""What is set: a snapshot of layers over the defaults, read by row, explained by name.

Layers stand strongest first: this broker's dynamic values, the whole cluster's, the file. A topic's
own values stand over what the broker says, a group's likewise. Within a layer an option wins over
its synonyms, and any of them wins over the layers below: so a file's `log.retention.hours` gives
way to a dynamic `log.retention.ms`, and a snapshot never has to be merged by hand.

A snapshot never changes, and a list that it gives away is the taker's own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import dropwhile
from typing import Final, TypeVar, cast

from ottla.config.faults import (
    HIDDEN,
    ConfigFault,
    InvalidSettings,
    InvalidValue,
    MissingValue,
    UnknownOption,
)
from ottla.config.kinds import render
from ottla.config.option import READ_ONLY, REQUIRED, Option, Scope
from ottla.config.table import Row, Table

_T = TypeVar("_T")


class Source(IntEnum):
    """Where a value comes from, by its number in DescribeConfigs."""

    UNKNOWN = 0
    DYNAMIC_TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    DYNAMIC_CLIENT_METRICS = 7
    DYNAMIC_GROUP = 8


_BROKER_SOURCES: Final = (
    Source.DYNAMIC_BROKER,
    Source.DYNAMIC_DEFAULT_BROKER,
    Source.STATIC_BROKER,
)
_OWN_SOURCE: Final = {Scope.TOPIC: Source.DYNAMIC_TOPIC, Scope.GROUP: Source.DYNAMIC_GROUP}

Layer = tuple[Source, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Synonym:
    """One place that has something to say about an option; a sensitive value is None."""

    name: str
    value: str | None
    source: Source


@dataclass(frozen=True, slots=True)
class Description:
    """An option as DescribeConfigs answers it."""

    name: str
    value: str | None
    source: Source
    read_only: bool
    sensitive: bool
    synonyms: tuple[Synonym, ...]
    kind: int
    doc: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A value with its origin."""

    value: object
    source: Source


class Settings:
    """A snapshot of all options of one broker, topic or group."""

    __slots__ = ("_found", "_layers", "_parent", "scope", "table", "unknown")

    def __init__(
        self,
        table: Table,
        layers: Iterable[Layer] = (),
        scope: Scope = Scope.BROKER,
        parent: "Settings | None" = None,
    ) -> None:
        """Parse every text given; InvalidSettings names all that is wrong."""
        self.table: Final = table
        self.scope: Final = scope
        self._parent: Final = parent
        self._layers: Final = tuple((source, dict(texts)) for source, texts in layers)
        self.unknown: Final = tuple(self._strangers())
        self._found: Final[dict[str, _Found]] = {}
        faults: dict[str, ConfigFault] = {str(fault): fault for fault in self._misfits()}
        for name, row in table.at(scope).items():
            try:
                self._found[row.name] = self._resolved(name, row)
            except ConfigFault as fault:
                faults[str(fault)] = fault
        if faults:
            raise InvalidSettings(list(faults.values()))

    @classmethod
    def of_broker(
        cls,
        table: Table,
        static: Mapping[str, str],
        cluster: Mapping[str, str] | None = None,
        broker: Mapping[str, str] | None = None,
    ) -> "Settings":
        """A broker's settings: its file, what is set for all brokers, what is set for it alone."""
        texts = (broker or {}, cluster or {}, static)
        return cls(table, zip(_BROKER_SOURCES, texts, strict=True))

    def __getitem__(self, option: Option[_T]) -> _T:
        """The value in force, of the row's own type."""
        value = self._found[option.name].value
        if isinstance(value, list):
            return cast("_T", cast("list[object]", value).copy())
        return cast("_T", value)

    def __contains__(self, option: Row) -> bool:
        return option.name in self._found

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={self._shown(name, text)}"
            for _, texts in self._layers
            for name, text in texts.items()
        )
        return f"Settings({self.scope.value}: {given})"

    def source_of(self, option: Row) -> Source:
        """Which layer the value in force comes from, be it through a synonym."""
        return self._found[option.name].source

    def topic(self, given: Mapping[str, str]) -> "Settings":
        """A topic's settings: its own values over this broker's."""
        return self._child(Scope.TOPIC, given)

    def group(self, given: Mapping[str, str]) -> "Settings":
        """A group's settings: its own values over this broker's."""
        return self._child(Scope.GROUP, given)

    def listener(self, name: str, mechanism: str = "") -> "Settings":
        """These settings as one listener has them: `listener.name.<name>.x` wins over any `x`.

        With a SASL mechanism, `listener.name.<name>.<mechanism>.x` wins over both.
        """
        prefix = f"listener.name.{name.lower()}."
        prefixes = [f"{prefix}{mechanism.lower()}.", prefix] if mechanism else [prefix]
        special = [
            (source, self._under(one, texts)) for one in prefixes for source, texts in self._layers
        ]
        return Settings(self.table, [*special, *self._layers], self.scope)

    def describe(self, name: str) -> Description | None:
        """What DescribeConfigs says of an option, or of an unknown name that is set; else None."""
        row = self.table.get(name, self.scope)
        if row is None or row.name_at(self.scope) != name:
            return self._describe_stranger(name, row)
        synonyms = tuple(self._synonyms(name, row))
        return Description(
            name,
            _plain(row, self._described_value(name, row)),
            synonyms[0].source if synonyms else Source.DEFAULT,
            self.scope is Scope.BROKER and row.change is READ_ONLY,
            row.sensitive,
            synonyms,
            row.kind.number,
            row.doc,
        )

    def describe_all(self) -> Iterator[Description]:
        """Every option that is not internal, and every unknown name that is set."""
        for name, row in self.table.at(self.scope).items():
            described = None if row.internal else self.describe(name)
            if described is not None:
                yield described
        strangers = (fault.name for fault in self.unknown)
        yield from (one for one in map(self.describe, strangers) if one is not None)

    def _child(self, scope: Scope, given: Mapping[str, str]) -> "Settings":
        assert self.scope is Scope.BROKER, "only a broker has topics and groups"
        return Settings(self.table, [(_OWN_SOURCE[scope], given)], scope, self)

    def _strangers(self) -> Iterator[UnknownOption]:
        names = dict.fromkeys(name for _, texts in self._layers for name in texts)
        for name in names:
            if self.table.get(name, self.scope) is None:
                yield UnknownOption(name, self.table.suggestion(name, self.scope))

    def _misfits(self) -> Iterator[InvalidValue]:
        """Every text that its option does not take, in whatever layer and in force or not."""
        for _, texts in self._layers:
            for name, text in texts.items():
                row = self.table.get(name, self.scope)
                try:
                    if row is not None:
                        row.parse(text, self.scope)
                except InvalidValue as fault:
                    yield fault

    def _resolved(self, name: str, row: Row) -> _Found:
        for source, texts in self._layers:
            if name in texts:
                own = row.parse(texts[name], self.scope)
                return self._checked(row, own, source, texts[name])
            for synonym in row.synonyms if self.scope is row.scope else ():
                if synonym.name in texts:
                    text = texts[synonym.name]
                    value = row.converted(synonym, synonym.parse(text))
                    return self._checked(row, value, source, text)
        if self._parent is not None and row in self._parent:
            return _Found(self._parent[row], self._parent.source_of(row))
        return _Found(_default(row), Source.DEFAULT)

    def _checked(self, row: Row, value: object, source: Source, text: str) -> _Found:
        """Hold a broker's value to the bounds that its parsing left to this place."""
        if self.scope is row.scope:
            value = row.clamped(value)
            if not row.accepts(value) or (row.not_zero and value == 0):
                raise row.refusal(text)
        return _Found(value, source)

    def _described_value(self, name: str, row: Row) -> str | None:
        """A topic's value is the one in force; a broker's is its own, be it hidden by a synonym."""
        if self.scope is not Scope.BROKER:
            return render(self._found[row.name].value)
        rivals = {one.name for one in self.table.rivals(row)}
        for _, texts in self._layers:
            if name in texts:
                return render(row.parse(texts[name]))
            if not rivals.isdisjoint(texts):
                # A stronger layer's synonym takes the weaker layers' values away altogether.
                break
        return row.default_text

    def _synonyms(self, name: str, row: Row) -> Iterator[Synonym]:
        """All that speak for an option, strongest first, from the option itself on."""
        broker = self._parent
        if broker is None:
            broker = self
        elif any(name in texts for _, texts in self._layers):
            value = render(self._found[row.name].value)
            yield Synonym(name, _plain(row, value), _OWN_SOURCE[self.scope])
        if row.scope is Scope.BROKER:
            family = {one.name: one for one in self.table.family(row)}
            yield from dropwhile(lambda one: one.name != row.name, broker.said_of(family))

    def said_of(self, rows: Mapping[str, Row]) -> Iterator[Synonym]:
        """Everything that the layers and the defaults say of some names, strongest first."""
        for source, texts in self._layers:
            for name, row in rows.items():
                if name in texts:
                    yield Synonym(name, _plain(row, texts[name]), source)
        for name, row in rows.items():
            if name == row.name and row.default_text is not None:
                yield Synonym(name, _plain(row, row.default_text), Source.DEFAULT)

    def _describe_stranger(self, name: str, row: Row | None) -> Description | None:
        """A name that is one listener's, or that no row has: that may hold a secret.

        Kafka says of neither that it could be changed, though a listener's may be.
        """
        stands = [(source, texts[name]) for source, texts in self._layers if name in texts]
        if not stands:
            return None
        source, text = stands[0]
        if row is None:
            said = tuple(Synonym(name, None, source) for source, _ in stands)
            return Description(name, None, source, True, True, said, 0, "")
        both = self.said_of({name: row, row.name: row})
        said = tuple(dropwhile(lambda one: one.name != name, both))
        kind = row.kind.number
        return Description(
            name, _plain(row, text), source, True, row.sensitive, said, kind, row.doc
        )

    def _under(self, prefix: str, texts: Mapping[str, str]) -> dict[str, str]:
        """What stands under a prefix, without it, as far as it is known."""
        stripped = {
            key[len(prefix) :]: text for key, text in texts.items() if key.startswith(prefix)
        }
        return {key: text for key, text in stripped.items() if self.table.get(key, self.scope)}

    def _shown(self, name: str, text: str) -> str | None:
        row = self.table.get(name, self.scope)
        return HIDDEN if row is None else row.shown(text)


def _plain(row: Row, text: str | None) -> str | None:
    return None if row.sensitive else text


def _default(row: Row) -> object:
    if row.default is not REQUIRED:
        return row.default
    for synonym in row.synonyms:
        if synonym.default is not REQUIRED and synonym.default is not None:
            return row.converted(synonym, synonym.default)
    raise MissingValue(row.name, row.allowed)
