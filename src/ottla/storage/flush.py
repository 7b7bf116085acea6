"""Bring to the device what a log has written, so that its recovery point may move.

A flush is planned where the log is changed, run on any thread, and taken note of where it was
planned. Many appends share one flush: it covers all that was in the log when it was planned.

Invariants
  I-FLUSH-1  When `run` returns, all batches below `end_offset` are on the device, with the names of
             their files, and so is what must not be older than the recovery point: the leader
             epochs, and the producer snapshots that were waiting; a commit leaves these out, and
             the recovery point as well.
  I-FLUSH-2  A sync that fails is final: what it should have brought may be gone, and the recovery
             point never moves past it. The log's directory is to be given up. A run that fails
             otherwise, as where a checkpoint has no room, is planned anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.api.partition_files import ProducerSnapshot
from ottla.ports import File
from ottla.storage.partition_files import PartitionFiles
from ottla.storage.producer_snapshots import write_snapshot


@dataclass(slots=True, eq=False)
class Flush:
    """A flush that was planned."""

    partition_files: PartitionFiles
    end_offset: int
    files: Sequence[File]
    snapshots: Mapping[int, Sequence[ProducerSnapshot.ProducerEntry]]
    epochs: Sequence[tuple[int, int]] | None
    """None if the checkpoint says already what they are."""
    has_new_names: bool
    is_commit: bool = False
    """Does it bring batches only, so that the recovery point stays?"""
    is_partial: bool = False
    """Is more to be done after it, since not all files may be open at once?"""
    is_durable: bool = False
    """Are the batches on the device, and the names of their files? Told by `run`."""

    def run(self) -> None:
        """Do it; it changes nothing of the log, so any thread may."""
        for file in self.files:
            file.sync()
        disk, snapshots = self.partition_files.disk, self.partition_files.snapshots
        if self.has_new_names:
            disk.sync_folder(self.partition_files.folder)
        self.is_durable = True
        for offset, entries in self.snapshots.items():
            write_snapshot(disk, snapshots.path(offset), entries)
        if self.epochs is not None:
            self.partition_files.write_epochs(self.epochs)
