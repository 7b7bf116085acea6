"""Names of topics: which are allowed, and which are too alike to be told apart."""

import re
from typing import Final, NamedTuple

from ottla.kernels.faults import InvalidValue

NAME_LENGTH_MAX: Final = 249

_LEGAL: Final = re.compile("[a-zA-Z0-9._-]+")


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


def check_topic(name: str) -> None:
    """Raise InvalidValue, with the reason, if a topic may not have this name."""
    if not name:
        raise InvalidValue("a topic's name is not empty")
    if name in (".", ".."):
        raise InvalidValue(f"{name!r} means a folder, and cannot be a topic's name")
    if len(name) > NAME_LENGTH_MAX:
        reason = f"a topic's name has at most {NAME_LENGTH_MAX} characters, not {len(name)}"
        raise InvalidValue(reason)
    if not _LEGAL.fullmatch(name):
        reason = f"{name!r} has characters other than ASCII letters, digits, '.', '_' and '-'"
        raise InvalidValue(reason)


def may_collide(name: str) -> bool:
    """Whether there can be another name that metrics show in the same way."""
    return "." in name or "_" in name


def collide(one: str, other: str) -> bool:
    """Whether two names look the same in metrics, which know no dot."""
    return one.replace(".", "_") == other.replace(".", "_")
