"""Draws messages of legal values for one version, the same ones for the same seed."""

from random import Random
from typing import Any, Final, TypeVar

from ottla.wire.fields import Field, Message, Struct, Uuid

_S = TypeVar("_S", bound=Struct)

_BITS: Final = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_TEXTS: Final = ("", "a", "topic-1", "\xe6\xf8\xe5", "\u65e5\u672c", "\U0001d11e", "\0", "x" * 130)
_BLOBS: Final = (0, 3, 200)
ZEROS: Final[dict[str, Any]] = {
    "bool": False, "string": "", "bytes": b"", "records": b"", "uuid": bytes(16), "float64": 0.0,
}  # fmt: skip


def filled(cls: type[_S], version: int, random: Random) -> _S:
    """A message with something in every field that the version has, nulls and defaults among it."""
    assert issubclass(cls, Message)
    return _filled(cls, version, random, flexible=version in cls.flexible)


def plain(cls: type[_S], version: int) -> _S:
    """A message that was given nothing but what must be given, and of that the least."""
    given = {one.name: _least(one, version) for one in cls.fields if one.required}
    return cls(**given)


def _filled(cls: type[_S], version: int, random: Random, *, flexible: bool) -> _S:
    values: dict[str, Any] = {}
    for one in cls.fields:
        # Half of the tagged fields stay at their default, which is not written at all.
        is_left_out = flexible and version in one.tagged and random.random() < 0.5
        if version in one.versions and not is_left_out:
            values[one.name] = _value(one, version, random, flexible=flexible)
    made = cls(**values)
    if flexible and random.random() < 0.2:
        known = {one.tag for one in cls.fields}
        unknown = {random.randrange(300) for _ in range(2)} - known
        made.unknown_tags = {tag: random.randbytes(5) for tag in sorted(unknown)} or None
    return made


def _value(one: Field, version: int, random: Random, *, flexible: bool) -> Any:
    if version in one.nullable and random.random() < 0.25:
        return None
    if one.element is None:
        return _single(one.kind, one.struct, version, random, flexible=flexible)
    return [
        _single(one.element.kind, one.struct, version, random, flexible=flexible)
        for _ in range(random.randrange(3))
    ]


def _single(
    kind: str, struct: type[Struct] | None, version: int, random: Random, *, flexible: bool
) -> Any:
    if struct is not None:
        return _filled(struct, version, random, flexible=flexible)
    if kind in _BITS:
        bits = _BITS[kind]
        return random.choice([0, 1, -1, -(1 << bits - 1), random.getrandbits(bits - 1)])
    if kind in ("bytes", "records"):
        return random.randbytes(random.choice(_BLOBS))
    drawn: dict[str, Any] = {
        "uint16": random.getrandbits(16),
        "uint32": random.getrandbits(32),
        "bool": random.random() < 0.5,
        "float64": random.gauss(0, 1e9),
        "uuid": Uuid(random.choice([bytes(16), random.randbytes(16)])),
        "string": random.choice(_TEXTS),
    }
    return drawn[kind]


def _least(one: Field, version: int) -> Any:
    if one.element is not None:
        return []
    if one.struct is not None:
        return plain(one.struct, version)
    return ZEROS.get(one.kind, 0)
