"""Bytes of a message and back: the one path in each direction.

A plan for the kernels is made once per (class, version) and direction, from the class's fields.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from ottla.kernels import decoder, encoder
from ottla.kernels.kinds import COMPACT, IGNORABLE, NULLABLE
from ottla.wire.fields import Buffer, Field, Message, Struct

SLACK_BYTES: Final = decoder.SLACK_BYTES

_M = TypeVar("_M", bound=Message)


class UnsupportedVersion(ValueError):
    """A message was asked for in a version that it does not have."""

    def __init__(self, cls: type[Message], version: int) -> None:
        super().__init__(f"{cls.__name__} has versions {cls.versions}, not {version}")


class Plans(dict[tuple[type[Struct], int], Any]):
    """Plans of one direction, made when first asked for; the kernels differ, the rules do not."""

    def __init__(self, step: type[Any], plan: type[Any]) -> None:
        super().__init__()
        self.step = step
        self.plan = plan
        self.structs: dict[tuple[type[Struct], int, bool], Any] = {}

    def __missing__(self, key: tuple[type[Message], int]) -> Any:
        cls, version = key
        if version not in cls.versions:
            raise UnsupportedVersion(cls, version)
        self[key] = self._plan(cls, version, version in cls.flexible)
        return self[key]

    def _plan(self, cls: type[Struct], version: int, flexible: bool) -> Any:
        key = (cls, version, flexible)
        if key not in self.structs:
            on_wire: list[Any] = []
            tagged: dict[int, Any] = {}
            absent: list[Any] = []
            for field in cls.fields:
                step = self._step(field, version, flexible)
                if version not in field.versions:
                    absent.append(step)
                elif flexible and version in field.tagged:
                    assert field.tag not in tagged, f"{cls.__qualname__}: tag {field.tag} twice"
                    assert field.kind != "records", "records are not copied: they have no tag"
                    tagged[field.tag] = step
                else:
                    on_wire.append(step)
            unknown = Struct.__dict__["unknown_tags"]
            self.structs[key] = self.plan(cls, on_wire, tagged, absent, unknown, flexible)
        return self.structs[key]

    def _step(self, field: Field, version: int, flexible: bool) -> Any:
        inner = None
        compact = COMPACT if flexible and version in field.flexible else 0
        nullable = NULLABLE if version in field.nullable else 0
        ignorable = IGNORABLE if field.ignorable else 0
        if field.struct is not None:
            inner = self._plan(field.struct, version, flexible)
        if field.element is not None:
            inner = self.step("", field.element.kind, inner=inner, flags=compact)
        flags = compact | nullable | ignorable
        return self.step(field.name, field.kind, field.slot, field.default, inner, flags)


_decode_plans: Final = Plans(decoder.DecodeStep, decoder.DecodePlan)
_encode_plans: Final = Plans(encoder.EncodeStep, encoder.EncodePlan)


def decoder_of(cls: type[_M], version: int) -> Callable[[Buffer], _M]:
    """What reads messages of one class and version: `decode` for those who do so all day."""
    read: Callable[[Buffer], _M] = _decode_plans[cls, version].decode
    return read


def decode(cls: type[_M], data: Buffer, version: int, *, slack_bytes: int = SLACK_BYTES) -> _M:
    """Read a message that fills the bytes given.

    Its objects may take four times as much memory as the bytes, and `slack_bytes` beyond. Records
    are a view of the bytes: they show what is written there later, and a bytearray cannot be
    resized while they live. A copy of the message has its own.
    """
    message: _M = _decode_plans[cls, version].decode(data, slack_bytes)
    return message


def decode_prefix(
    cls: type[_M], data: Buffer, version: int, position: int = 0, *, slack_bytes: int = SLACK_BYTES
) -> tuple[_M, int]:
    """Read a message that begins at a position; give it and where it ended."""
    found: tuple[_M, int]
    found = _decode_plans[cls, version].decode_prefix(data, position, slack_bytes)
    return found


def encode(message: Message, version: int) -> bytes:
    """Write a message as one run of bytes."""
    return b"".join(encoder.encode(_encode_plans[type(message), version], message))


def encode_parts(message: Message, version: int) -> list[Buffer]:
    """Write a message as parts to be sent one after the other; records stay as they were given."""
    return encoder.encode(_encode_plans[type(message), version], message)


def encode_frame(
    header: Message, header_version: int, message: Message, version: int
) -> list[Buffer]:
    """Write a length, a header and a message as parts to be sent one after the other."""
    front = (_encode_plans[type(header), header_version], header)
    return encoder.encode(_encode_plans[type(message), version], message, front, True)
