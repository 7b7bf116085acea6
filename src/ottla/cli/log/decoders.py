"""Decode records of the internal topics, and control records, by their declarations."""

from base64 import b64encode
from functools import cache
from importlib import import_module
from typing import Any, Final, cast

from ottla.api.control_records import (
    QUORUM_RECORDS,
    ControlType,
    read_control_key,
    read_end_of_transaction,
    read_quorum_record,
)
from ottla.api.coordinator_records import CoordinatorRecord, Pairs, read_record
from ottla.api.framed_records import Classes, read_framed
from ottla.cli.log.choices import Decoding
from ottla.cli.log.decoding import Decode, Decoded
from ottla.cli.log.values import text_or_none
from ottla.kernels.faults import Malformed
from ottla.records.reader import Record
from ottla.wire.fields import Buffer, Field, Struct, WireType
from ottla.wire.uuids import uuid_text

_FRAMED: Final = {
    Decoding.METADATA: ("ottla.api.metadata_records", "METADATA_RECORDS"),
    Decoding.REMOTE_LOG: ("ottla.api.remote_log_records", "REMOTE_LOG_RECORDS"),
}
_COORDINATORS: Final = {
    Decoding.GROUPS: ("ottla.api.group_records", "GROUP_RECORDS"),
    Decoding.TRANSACTIONS: ("ottla.api.transaction_records", "TRANSACTION_RECORDS"),
    Decoding.SHARE: ("ottla.api.share_records", "SHARE_RECORDS"),
}

_SECRETS: Final = frozenset({"salt", "stored_key", "server_key", "hmac"})
_SECRET_WORDS: Final = ("password", "secret", "jaas", "credential", "private")
HIDDEN: Final = "(hidden)"
"""What stands for a secret: a dump is copied into chats and tickets."""


@cache
def decoder(kind: Decoding) -> Decode:
    """The classes of a log are loaded when the first of its records is read."""
    if kind in _FRAMED:
        module, name = _FRAMED[kind]
        classes = cast("Classes", getattr(import_module(module), name))
        return lambda record: _framed(classes, record)
    module, name = _COORDINATORS[kind]
    pairs = cast("Pairs", getattr(import_module(module), name))
    return lambda record: _coordinator(pairs, record)


def _framed(classes: Classes, record: Record) -> Decoded:
    message, version = read_framed(classes, record.value)
    return {"type": type(message).__name__, "version": version, "data": as_json(message)}


def _coordinator(pairs: Pairs, record: Record) -> Decoded:
    found = read_record(pairs, record.key, record.value)
    if not isinstance(found, CoordinatorRecord):
        return {"type": f"unknown key type {found.key_type}", "key": None, "data": None}
    name = type(found.key).__name__.removesuffix("Key")
    data = None if found.value is None else as_json(found.value)
    return {"type": name, "key": as_json(found.key), "data": data}


def decode_control_record(record: Record) -> Decoded:
    """A control record: what it is, and what it says."""
    if record.key is None:
        raise Malformed("a control record has a key")
    number = read_control_key(record.key)
    if number not in tuple(ControlType):
        return {"type": f"unknown control type {number}", "data": None}
    kind = ControlType(number)
    name = kind.name.lower()
    if record.value is None:
        raise Malformed(f"a control record of type {name} has a value")
    if kind in QUORUM_RECORDS:
        return {"type": name, "data": as_json(read_quorum_record(kind, record.value))}
    epoch = read_end_of_transaction(record.value)
    return {"type": name, "data": {"coordinator_epoch": epoch}}


def as_json(struct: Struct) -> dict[str, object]:
    """A message as JSON has it: ids as their text, bytes as text or base64, secrets hidden."""
    name = getattr(struct, "name", "")
    has_secret = isinstance(name, str) and any(word in name.lower() for word in _SECRET_WORDS)
    found: dict[str, object] = {}
    for field in struct.fields:
        value = getattr(struct, field.name)
        if field.name in _SECRETS or (has_secret and field.name == "value" and value is not None):
            found[field.name] = HIDDEN
        else:
            found[field.name] = _plain(field.kind, value, field)
    return found


def _plain(kind: str, value: Any, field: Field | WireType) -> object:
    """One value of a field, or of an array's element."""
    if value is None:
        return None
    if kind == "array":
        element = getattr(field, "element", None)
        inner = element.kind if isinstance(element, WireType) else "struct"
        return [_plain(inner, one, element or field) for one in value]
    if kind == "struct":
        return as_json(value)
    if kind == "uuid":
        return uuid_text(value)
    return _text_of(value) if isinstance(value, bytes) else value


def _text_of(data: Buffer) -> str:
    text = text_or_none(data)
    return b64encode(data).decode() if text is None else text
