"""The offset checkpoints of one log directory: what they said at the start, and writing them anew.

A checkpoint is planned where the logs are changed, and written by a job on any thread. As files are
written whole, two jobs of one file must not run at once, and an older one must not come last.

Invariants
  I-OFFS-1  At most one job is under way for a checkpoint; what is planned meanwhile has to wait.
  I-OFFS-2  The recovery point on the disk is never past what is on the device of a log: it is
            written after the flush that moved it, and taken back before the log is cut.
  I-OFFS-3  The entry of a partition whose log could not be opened stays as it was read.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from ottla.storage.directory import Directory
from ottla.storage.file_names import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_START_OFFSETS,
    RECOVERY_POINTS,
)
from ottla.storage.small_files import remove_file
from ottla.storage.writes import DISK_FULL
from ottla.wire.topics import TopicPartition

CHECKPOINTS: Final = (RECOVERY_POINTS, LOG_START_OFFSETS, HIGH_WATERMARKS, CLEANER_OFFSETS)

Offsets = Mapping[TopicPartition, int]


class WriteOffsets:
    """The job that writes a checkpoint."""

    __slots__ = ("directory", "name", "offsets")

    def __init__(self, directory: Directory, name: str, offsets: Offsets) -> None:
        self.directory = directory
        self.name = name
        self.offsets = offsets

    def run(self) -> None:
        """Do it; if it fails, the checkpoint says what it said before."""
        self.directory.write_offsets(self.name, self.offsets)


class FoundOffsets(NamedTuple):
    """What the checkpoints of a directory say of one partition; None where they say nothing."""

    recovery_point: int | None
    log_start_offset: int | None
    high_watermark: int | None
    cleaned_offset: int | None


class DirectoryOffsets:
    """The offset checkpoints of a directory."""

    def __init__(self, directory: Directory) -> None:
        """Read them all. Raises `DirectoryOffline`."""
        self._directory = directory
        self._said: dict[str, Offsets] = {
            name: directory.read_offsets(name) for name in CHECKPOINTS
        }
        self._may_say = dict(self._said)  # The largest of all that a file may hold at the moment.
        self._writing: set[str] = set()
        self._unsure: set[str] = set()  # A job failed, which may have been done or not.

    def found(self, partition: TopicPartition) -> FoundOffsets:
        """What is said of a partition."""
        return FoundOffsets(*(self._said[name].get(partition) for name in CHECKPOINTS))

    def said(self, name: str) -> Offsets:
        """What a checkpoint says, or will say once the job that is under way has ended."""
        return self._said[name]

    def largest(self, name: str, partition: TopicPartition) -> int:
        """The largest offset that the file may hold for a partition; 0 if it holds none."""
        return self._may_say[name].get(partition, 0)

    def is_writing(self, name: str) -> bool:
        """Is a job under way for a checkpoint?"""
        return name in self._writing

    def plan(self, name: str, offsets: Offsets) -> WriteOffsets | None:
        """The job that lets a checkpoint say this; None if it says so, or one is under way."""
        is_said = offsets == self._said[name] and name not in self._unsure
        if name in self._writing or is_said:
            return None
        before = self._may_say[name]
        self._said[name] = dict(offsets)
        self._may_say[name] = dict(before) | {
            partition: max(offset, before.get(partition, 0))
            for partition, offset in offsets.items()
        }
        self._writing.add(name)
        return WriteOffsets(self._directory, name, self._said[name])

    def ended(self, job: WriteOffsets, *, has_failed: bool) -> None:
        """Hear that a job has ended; one that failed is due again."""
        self._writing.discard(job.name)
        if has_failed:
            self._unsure.add(job.name)
        else:
            self._unsure.discard(job.name)
            self._may_say[job.name] = job.offsets

    def write(self, name: str, offsets: Offsets) -> None:
        """Let a checkpoint say this at once; where there is no room, let it say nothing.

        A recovery point that is not there costs a longer recovery; one that is wrong costs more.
        """
        job = self.plan(name, offsets)
        if job is None:
            return
        try:
            job.run()
        except OSError as fault:
            if fault.errno not in DISK_FULL:
                self.ended(job, has_failed=True)
                raise
            remove_file(self._directory.disk, f"{self._directory.path}/{name}")
            self._said[name] = self._may_say[name] = {}
            self._writing.discard(name)
            self._unsure.discard(name)
        else:
            self.ended(job, has_failed=False)
