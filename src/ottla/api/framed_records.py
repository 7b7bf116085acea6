"""How the metadata log and the remote log's metadata store records: no key, a frame in the value.

The frame is three unsigned varints: its own version, the record's id and the record's version.
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

from ottla.api.version_prefixed import read_whole
from ottla.kernels.faults import InvalidValue, Truncated
from ottla.wire.codec import encode
from ottla.wire.fields import Buffer, Message

FRAME_VERSION: Final = 1
NUMBER_MAX: Final = 32767

Classes: TypeAlias = Mapping[int, type[Message]]
"""The classes of records by id, for one of the logs."""


def write_framed(record: Message, version: int) -> bytes:
    """Write the value of a record; there is no key."""
    front = _varint(FRAME_VERSION) + _varint(record.api_key) + _varint(version)
    return front + encode(record, version)


def read_framed(classes: Classes, value: Buffer | None) -> tuple[Message, int]:
    """Read the record in a value; give it and its version."""
    if value is None:
        raise InvalidValue("a framed record has a value")
    frame_version, start = _read_varint(value, 0)
    if frame_version != FRAME_VERSION:
        raise InvalidValue(f"a frame of version {frame_version}", 0)
    id_, start = _read_varint(value, start)
    version, start = _read_varint(value, start)
    cls = classes.get(id_)
    if cls is None:
        raise InvalidValue(f"a record of the unknown id {id_}", 0)
    if version not in cls.versions:
        raise InvalidValue(f"{cls.__name__} has versions {cls.versions}, not {version}", 0)
    return read_whole(cls, value, version, start), version


def _varint(number: int) -> bytes:
    """Write seven bits a byte, the lowest first; each byte but the last has its top bit set."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    written.append(number)
    return bytes(written)


def _read_varint(data: Buffer, start: int) -> tuple[int, int]:
    """Read a number of the frame and where it ends."""
    number = shift = 0
    for position in range(start, len(data)):
        byte = data[position]
        number |= (byte & 0x7F) << shift
        if number > NUMBER_MAX or shift > 28:
            raise InvalidValue("a number of the frame is too large", start)
        if byte < 0x80:
            return number, position + 1
        shift += 7
    raise Truncated("the frame is cut off", start)
