"""Messages that say their own version, as two bytes in front."""

from typing import Final, TypeVar

from ottla.kernels.faults import InvalidValue, Truncated
from ottla.wire.codec import SLACK_BYTES, decode_prefix, encode
from ottla.wire.fields import Buffer, Message

NUMBER_BYTES: Final = 2

_M = TypeVar("_M", bound=Message)


def write_prefixed(message: Message, version: int) -> bytes:
    """Write the version, then the message in it."""
    return number_bytes(version) + encode(message, version)


def read_prefixed(
    cls: type[_M],
    data: Buffer,
    *,
    newer_as_newest: bool = False,
    slack_bytes: int = SLACK_BYTES,
) -> tuple[_M, int]:
    """Read a message that fills the bytes given; give it and its version.

    Where newer versions only add to the end, `newer_as_newest` reads as much of them as is known.
    """
    version = number_of(data, cls.__name__)
    known = version
    if newer_as_newest:
        known = min(version, cls.versions.last)
    if known not in cls.versions:
        raise InvalidValue(f"{cls.__name__} has versions {cls.versions}, not {version}", 0)
    message, end = decode_prefix(cls, data, known, NUMBER_BYTES, slack_bytes=slack_bytes)
    if known == version:
        _refuse_rest(cls, data, end)
    return message, version


def read_whole(cls: type[_M], data: Buffer, version: int, start: int) -> _M:
    """Read a message that goes from a position to the end."""
    message, end = decode_prefix(cls, data, version, start)
    _refuse_rest(cls, data, end)
    return message


def _refuse_rest(cls: type[Message], data: Buffer, end: int) -> None:
    if end != len(data):
        raise InvalidValue(f"{len(data) - end} bytes are left over after {cls.__name__}", end)


def number_bytes(number: int) -> bytes:
    """Write a version or a type."""
    return number.to_bytes(NUMBER_BYTES, "big", signed=True)


def number_of(data: Buffer, what: str, start: int = 0) -> int:
    """Read a version or a type."""
    if len(data) < start + NUMBER_BYTES:
        raise Truncated(f"{what} needs {start + NUMBER_BYTES} bytes, not {len(data)}", start)
    return int.from_bytes(data[start : start + NUMBER_BYTES], "big", signed=True)
