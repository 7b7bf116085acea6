"""The producer snapshots of a partition's folder: `<offset>.snapshot`.

Each says what was known of producers below its offset, so that opening or cutting the log replays
only what comes after it. None is needed: one that cannot be read is removed, and an older one does.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ottla.api.partition_files import ProducerSnapshot
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.storage.file_names import Kind, SegmentFile, Stage
from ottla.storage.producer_snapshot import format_producer_snapshot, parse_producer_snapshot
from ottla.storage.small_files import read_file, replace_file


class Snapshot(NamedTuple):
    """What a snapshot says, and below which offset it is true."""

    offset: int
    entries: Sequence[ProducerSnapshot.ProducerEntry]


class ProducerSnapshots:
    """Which snapshots there are, and their files."""

    def __init__(self, disk: Disk, folder: str, offsets: Iterable[int] = ()) -> None:
        """`offsets` are those of the files that are there."""
        self._disk = disk
        self._folder = folder
        self._offsets = sorted(offsets)

    @property
    def offsets(self) -> Sequence[int]:
        """The offsets that there is a snapshot of, rising."""
        return tuple(self._offsets)

    def path(self, offset: int, stage: Stage = Stage.CURRENT) -> str:
        """The file of a snapshot."""
        return f"{self._folder}/{SegmentFile(offset, Kind.PRODUCER_SNAPSHOT, stage).name}"

    def note(self, offset: int) -> None:
        """Take a file that was written meanwhile for one of the snapshots."""
        if offset not in self._offsets:
            insort(self._offsets, offset)

    def latest(self, offset_max: int, refused: list[Malformed]) -> Snapshot | None:
        """The newest one at or below an offset that can be read.

        What is wrong with newer ones is added to `refused`, and they are removed.
        """
        for offset in reversed(self._offsets):
            if offset > offset_max:
                continue
            try:
                entries = read_file(self._disk, self.path(offset), parse_producer_snapshot)
            except Malformed as fault:
                refused.append(fault)
                self.remove([offset])
                continue
            if entries is not None:
                return Snapshot(offset, entries)
        return None

    def remove(self, offsets: Iterable[int]) -> None:
        """Remove some of the files."""
        for offset in sorted(set(offsets).intersection(self._offsets)):
            self._disk.remove(self.path(offset))
            self._offsets.remove(offset)


def write_snapshot(
    disk: Disk, path: str, entries: Sequence[ProducerSnapshot.ProducerEntry]
) -> None:
    """Make a snapshot's file; it is on the device when this returns."""
    replace_file(disk, path, format_producer_snapshot(entries))
