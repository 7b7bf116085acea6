"""Names of the folders of partitions in a log directory, and back.

A partition that is being deleted, moved between directories or is unknown to the metadata has a
unique id and a suffix, so that a new one of the same name can lie beside it.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

NAME_LENGTH_MAX: Final = 255
"""What file systems allow."""
PARTITION_MAX: Final = 2**31 - 1

_NAME: Final = re.compile(
    r"(?P<topic>\S+)-(?P<partition>0|[1-9][0-9]{0,9})"
    r"(?:\.(?P<unique>[^\s.]+)(?P<purpose>-delete|-future|-stray))?"
)


class Purpose(StrEnum):
    """Why a folder is there; the value is the end of its name."""

    CURRENT = ""
    DELETE = "-delete"
    FUTURE = "-future"
    STRAY = "-stray"


@dataclass(frozen=True, slots=True)
class PartitionFolder:
    """What the name of a folder says; the topic may be cut, unless the folder is current."""

    partition: TopicPartition
    purpose: Purpose = Purpose.CURRENT
    unique: str = ""


def current_folder(partition: TopicPartition) -> str:
    """The folder of a partition that is served."""
    return f"{partition.topic}-{partition.partition}"


def delete_folder(partition: TopicPartition, unique: Uuid) -> str:
    """The folder of a partition that waits to be deleted; the topic is cut if need be."""
    return _cut(partition, unique, Purpose.DELETE)


def stray_folder(partition: TopicPartition, unique: Uuid) -> str:
    """The folder of a partition that the metadata does not know; the topic is cut if need be."""
    return _cut(partition, unique, Purpose.STRAY)


def future_folder(partition: TopicPartition, unique: Uuid) -> str:
    """The folder of a copy that is to replace the one in another directory.

    Nothing is cut, since the topic is needed when the copy is found again. So a topic with a name
    of more than 200 characters or so cannot be moved: its folder's name would be too long.
    """
    return f"{current_folder(partition)}.{unique.hex()}{Purpose.FUTURE}"


def parse_folder(name: str) -> PartitionFolder:
    """Read the name of a folder; InvalidValue if no partition has it.

    Numbers must be as they are written: `t-01` would be a second folder of `t-1`.
    """
    found = _NAME.fullmatch(name)
    if found is None or int(found["partition"]) > PARTITION_MAX:
        raise InvalidValue(f"{name[:NAME_LENGTH_MAX]!r} is not the name of a partition's folder")
    partition = TopicPartition(found["topic"], int(found["partition"]))
    return PartitionFolder(partition, Purpose(found["purpose"] or ""), found["unique"] or "")


def _cut(partition: TopicPartition, unique: Uuid, purpose: Purpose) -> str:
    end = f"-{partition.partition}.{unique.hex()}{purpose}"
    return partition.topic[: NAME_LENGTH_MAX - len(end)] + end
