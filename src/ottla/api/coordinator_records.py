"""How coordinators store what they know: a typed key, and a value that null deletes.

The key begins with two bytes that say its type, the value with two that say its version. A type
that is not known comes from a newer release: a reader skips it, so that a downgrade works.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ottla.api.version_prefixed import (
    NUMBER_BYTES,
    number_bytes,
    number_of,
    read_prefixed,
    read_whole,
    write_prefixed,
)
from ottla.kernels.faults import InvalidValue
from ottla.wire.codec import encode
from ottla.wire.fields import Buffer, Message

Pairs: TypeAlias = Mapping[int, tuple[type[Message], type[Message]]]
"""The classes of key and value by type, for one of the logs."""


@dataclass(frozen=True, slots=True)
class CoordinatorRecord:
    """A fact and what it is about; without a value the fact is no more."""

    key: Message
    value: Message | None


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A fact of a type that only newer releases know."""

    key_type: int


def write_record(
    key: Message, value: Message | None, version: int = 0
) -> tuple[bytes, bytes | None]:
    """Write a record's key, and its value in a version; keys have only one."""
    key_data = number_bytes(key.api_key) + encode(key, 0)
    if value is None:
        return key_data, None
    assert value.api_key == key.api_key, f"{type(value).__name__} is not what {key} is about"
    return key_data, write_prefixed(value, version)


def read_record(
    pairs: Pairs, key: Buffer | None, value: Buffer | None
) -> CoordinatorRecord | UnknownRecord:
    """Read a record of the log that has these pairs."""
    if key is None:
        raise InvalidValue("a coordinator's record has a key")
    key_type = number_of(key, "a coordinator's key")
    if key_type not in pairs:
        return UnknownRecord(key_type)
    key_class, value_class = pairs[key_type]
    subject = read_whole(key_class, key, 0, NUMBER_BYTES)
    if value is None:
        return CoordinatorRecord(subject, None)
    fact, _ = read_prefixed(value_class, value)
    return CoordinatorRecord(subject, fact)
