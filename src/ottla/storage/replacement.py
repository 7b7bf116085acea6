"""Put the segments that a cleaner made in the place of those that it read, whatever interrupts it.

The cleaner has written its segments as `.cleaned` files and brought them to the device. They are
made `.swap` files, which says that they are whole; then the old ones leave, and only when that is
sure the new ones get their names. Between two steps the folder's names are brought to the device,
so a power cut at any moment leaves a folder that `leftovers.settle` can finish or undo.

    stage     any thread        .cleaned to .swap, the last one first; then sync
    exchange  the log's thread  the log shows the new segments; the old files become .deleted
    settle    any thread        sync
    finish    the log's thread  .swap to its name
    settle    any thread        sync

Invariants
  I-REPL-1  No old file is renamed before all new ones are whole and named `.swap` on the device.
  I-REPL-2  No new file gets its name before all old ones have lost theirs on the device, since
            one old file back beside its successor would be the same offsets twice.
"""

from collections.abc import Sequence

from ottla.storage.file_names import Stage
from ottla.storage.log import Log
from ottla.storage.partition_files import Removal
from ottla.storage.segment import Segment


class Replacement:
    """One exchange of some neighbouring segments for others with the same or fewer batches."""

    def __init__(self, log: Log, new: Sequence[Segment], old: Sequence[Segment]) -> None:
        """`new` are closed `.cleaned` segments that are on the device."""
        assert all(segment in log.segments for segment in old), "the log still has what was read"
        assert log.segments.active not in old, "the active segment is never cleaned"
        self._log = log
        self._new = sorted(new, key=lambda segment: segment.base_offset)
        self._old = list(old)

    def run(self) -> Removal:
        """All the steps one after the other."""
        self.stage()
        removal = self.exchange()
        self.settle()
        self.finish()
        self.settle()
        return removal

    def stage(self) -> None:
        """Say that the new files are whole."""
        for segment in reversed(self._new):
            segment.change_suffix(Stage.CLEANED, Stage.SWAP)
        self.settle()

    def exchange(self) -> Removal:
        """Show the new segments to whoever reads from now on."""
        return self._log.exchange(self._new, self._old)

    def settle(self) -> None:
        """Bring the folder's names to the device."""
        self._log.files.disk.sync_folder(self._log.files.folder)

    def finish(self) -> None:
        """Give the new files their names."""
        for segment in self._new:
            segment.change_suffix(Stage.SWAP, Stage.CURRENT)
