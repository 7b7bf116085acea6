"""Ids of sixteen bytes: their text, those with a meaning of their own, how to make new ones."""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import NO_ID, Uuid

_TEXT: Final = re.compile("[0-9A-Za-z_-]{22}")


def _small(number: int) -> Uuid:
    return Uuid(number.to_bytes(16, "big"))


METADATA_TOPIC: Final = _small(1)
"""The topic id of __cluster_metadata."""

# What stands for the directory of a replica where there is none to name.
MIGRATING: Final = NO_ID
"""Somewhere: the replica comes from a time that had no directory ids."""
UNASSIGNED: Final = _small(1)
"""Nowhere yet."""
LOST: Final = _small(2)
"""In a directory that is offline."""

RESERVED: Final = frozenset(_small(number) for number in range(100))


def uuid_text(uuid: Uuid) -> str:
    """Base64 with the alphabet for URLs, without padding: 22 characters."""
    return urlsafe_b64encode(uuid)[:22].decode("ascii")


def uuid_of_text(text: str) -> Uuid:
    """Read what `uuid_text` writes."""
    if not _TEXT.fullmatch(text):
        raise InvalidValue(f"{text[:100]!r} is not the text of an id")
    return Uuid(urlsafe_b64decode(text + "=="))


def uuid_of_random(random: bytes) -> Uuid:
    """Make an id of sixteen random bytes, marked as such (RFC 9562, version 4).

    The marks keep it out of the reserved ones. Its text never begins with a hyphen, which a command
    line would take for an option.
    """
    assert len(random) == 16, "an id needs sixteen bytes"
    made = bytearray(random)
    made[6] = made[6] & 0x0F | 0x40
    made[8] = made[8] & 0x3F | 0x80
    if made[0] >> 2 == 62:  # The place of the hyphen in the alphabet.
        made[0] ^= 0x80
    return Uuid(bytes(made))
