"""The logs of one log directory, with what they share: open files and checkpoints.

A log that could not be opened is set aside: it is not served, its files stay as they are, and so do
its entries in the checkpoints, since a person or a replica may mend it later. It also keeps the
directory from being marked clean: the next start would believe it without looking.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ottla.storage.directories import Placed
from ottla.storage.directory import Directory
from ottla.storage.directory_offsets import DirectoryOffsets, WriteOffsets
from ottla.storage.file_names import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
)
from ottla.storage.handles import Handles
from ottla.storage.log import Log
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition


class Busy(Exception):
    """A job must end first that is under way; then the same can be asked again."""


class LogCleaning(Protocol):
    """The cleaning of a log that is under way."""

    @property
    def is_swapping(self) -> bool:
        """Are segments being exchanged? Until that is done the log can be neither cut nor moved."""
        ...

    def cancel(self) -> None:
        """Let it end without another swap."""
        ...

    def close(self) -> None:
        """End it at once, while none of its jobs runs: a swap is finished, all else is undone."""
        ...


@dataclass(slots=True, eq=False)
class HostedLog:
    """A log that is open, and what the node keeps of it besides."""

    partition: TopicPartition
    placed: Placed
    log: Log
    high_watermark: int
    """Told by the broker, so that retention and the checkpoint know it."""
    cleaned_offset: int | None = None
    """The first offset that was never compacted, if some were."""
    is_taken: bool = False
    """Has a move it alone? Until then nobody else may read or change it."""
    cleaning: LogCleaning | None = None
    """The cleaning that is under way."""

    @property
    def topic_id(self) -> Uuid | None:
        """The id of its topic; None if its folder was begun and not finished."""
        return self.placed.found.topic_id

    @property
    def directory(self) -> Directory:
        """The directory that it lies in."""
        return self.placed.directory

    @property
    def is_swapping(self) -> bool:
        """Does its cleaning exchange segments just now?"""
        return self.cleaning is not None and self.cleaning.is_swapping

    def stop_cleaning(self) -> None:
        """Let what its cleaning found no longer count. Raises `Busy` in the midst of a swap."""
        if self.is_swapping:
            raise Busy(f"segments of {self.log.files.folder} are exchanged")
        if self.cleaning is not None:
            self.cleaning.cancel()


class SetAside(NamedTuple):
    """A log that could not be opened, and why; `Corrupt` says at which byte of which file."""

    partition: TopicPartition
    placed: Placed
    fault: Exception


class DirectoryLogs:
    """What is open of one directory."""

    def __init__(self, directory: Directory, files_max: int) -> None:
        """Read its checkpoints. Raises `DirectoryOffline`."""
        self.directory = directory
        self.handles = Handles(directory.disk, files_max)
        self.offsets = DirectoryOffsets(directory)
        self.hosted: dict[TopicPartition, HostedLog] = {}
        """The partitions and the copies that lie here; never both of one partition."""
        self.set_aside: dict[TopicPartition, SetAside] = {}

    def plan_offsets(self, name: str) -> WriteOffsets | None:
        """The job that brings a checkpoint up to date; None if it is, or one is under way."""
        return self.offsets.plan(name, self._offsets_now(name))

    def take_back(self, partition: TopicPartition, end_offset: int) -> None:
        """Be sure that what the disk says of a log is not past its new end.

        A recovery point there would hide torn batches (I-OFFS-2), and a first dirty offset would
        hide keys from the cleaner once the log has grown again. Raises `Busy` while a job writes
        such a checkpoint.
        """
        for name in (RECOVERY_POINTS, CLEANER_OFFSETS):
            self._take_back(name, partition, end_offset)

    def _take_back(self, name: str, partition: TopicPartition, end_offset: int) -> None:
        if self.offsets.largest(name, partition) <= end_offset:
            return
        if self.offsets.is_writing(name):
            raise Busy(f"{partition.topic}-{partition.partition}: {name} is written")
        offsets = self._offsets_now(name)
        offsets[partition] = min(offsets.get(partition, end_offset), end_offset)
        self.offsets.write(name, offsets)

    def take_back_all(self) -> None:
        """The same for all logs that are open, and those that are no more."""
        said = self.offsets.said(RECOVERY_POINTS)
        offsets = self._offsets_now(RECOVERY_POINTS)
        if any(offset > offsets.get(partition, -1) for partition, offset in said.items()):
            self.offsets.write(RECOVERY_POINTS, offsets)

    def _offsets_now(self, name: str) -> dict[TopicPartition, int]:
        said = self.offsets.said(name)
        found = {partition: said[partition] for partition in self.set_aside if partition in said}
        for partition, hosted in self.hosted.items():
            offset = _OFFSET_OF[name](hosted)
            if offset is not None:
                found[partition] = offset
        return found


def _recovery_point(hosted: HostedLog) -> int | None:
    return hosted.log.recovery_point


def _log_start_offset(hosted: HostedLog) -> int | None:
    """It is kept only where it is not what the first file's name says."""
    log = hosted.log
    is_inside = log.log_start_offset > log.segments.first.base_offset
    return log.log_start_offset if is_inside else None


def _high_watermark(hosted: HostedLog) -> int | None:
    return hosted.high_watermark


def _cleaned_offset(hosted: HostedLog) -> int | None:
    return hosted.cleaned_offset


_OFFSET_OF = {
    RECOVERY_POINTS: _recovery_point,
    LOG_START_OFFSETS: _log_start_offset,
    HIGH_WATERMARKS: _high_watermark,
    CLEANER_OFFSETS: _cleaned_offset,
}
