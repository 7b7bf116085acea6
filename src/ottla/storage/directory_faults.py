"""Why a node refuses to start on its log directories, and what it noticed on the way.

A refusal names the directories and says what a person can do; nothing was changed by then. What is
only noticed does not stop a node.
"""

from dataclasses import dataclass
from typing import TypeAlias

from ottla.wire.topics import TopicPartition


class DirectoryRefused(Exception):
    """Log directories that this node must not work on as they are."""

    def __init__(self, reason: str, *paths: str) -> None:
        super().__init__(f"{', '.join(paths)}: {reason}")
        self.reason = reason
        self.paths = paths


class NotFormatted(DirectoryRefused):
    """There is no `meta.properties`, or no directory at all."""


class AlreadyFormatted(DirectoryRefused):
    """A directory that should be formatted has a `meta.properties`."""


class DirectoryInUse(DirectoryRefused):
    """Another process has the directory, or this one has it by another path."""


class OtherCluster(DirectoryRefused):
    """The directory belongs to another cluster."""


class OtherNode(DirectoryRefused):
    """The directory belongs to another node, or the file does not say to which."""


class WrongDirectoryId(DirectoryRefused):
    """Two directories have one id, or one has an id that is reserved."""


class MetadataLogOffline(DirectoryRefused):
    """The directory of the metadata log is offline, without which there is no node."""


class MisplacedMetadataLog(DirectoryRefused):
    """The metadata log lies in a directory that is not the one for it."""


class DuplicatePartition(DirectoryRefused):
    """Two directories have the same partition, and nothing says which one is right."""

    def __init__(self, partition: TopicPartition, *paths: str) -> None:
        reason = (
            f"partition {partition.partition} of {partition.topic} is in both; "
            "move one away, best that of a directory that has failed lately"
        )
        super().__init__(reason, *paths)
        self.partition = partition


class OtherTopic(DirectoryRefused):
    """The folder of a partition belongs to another topic of the same name."""


class NoDirectoryLeft(DirectoryRefused):
    """Every log directory is offline."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A small file could not be read, and is treated as if it were not there."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class NotWritten:
    """A small file could not be written, as there is no room; the node goes on without."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ForeignFolder:
    """A folder in a log directory is not that of a partition, and is left alone."""

    path: str


@dataclass(frozen=True, slots=True)
class SpareCopy:
    """A partition has more than one copy that should replace it; this one is left alone."""

    path: str


Notice: TypeAlias = Unreadable | NotWritten | ForeignFolder | SpareCopy
