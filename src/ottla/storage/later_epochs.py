"""Leader epochs that a checkpoint says began past the recovery point, held against the batches.

They may be from before a cut, and then the batches that took the place of the old ones know better.
But batches cannot say all: those that an epoch began with may have been cleaned away since, and a
follower that is told too late an end of the epoch before would keep what was never replicated. So
an entry stays as long as no batch speaks against it.
"""

from collections.abc import Iterable, Sequence

from ottla.records.scan import BatchRow
from ottla.storage.checkpoints import EpochEntry


class LaterEpochs:
    """The entries of a checkpoint past an offset, which is where `note` begins."""

    def __init__(self, entries: Iterable[EpochEntry], offset: int) -> None:
        self._waiting = [entry for entry in entries if entry.start_offset >= offset]
        self._borne_out: list[EpochEntry] = []

    def note(self, rows: Sequence[BatchRow]) -> None:
        """See the next batches of the log."""
        for row in rows:
            if not self._waiting:
                return
            if row.partition_leader_epoch >= 0:
                self._hold_against(row)

    def _hold_against(self, row: BatchRow) -> None:
        epoch = row.partition_leader_epoch
        waiting: list[EpochEntry] = []
        for entry in self._waiting:
            if row.last_offset < entry.start_offset:
                if epoch < entry.epoch:
                    waiting.append(entry)
            elif row.base_offset >= entry.start_offset and epoch >= entry.epoch:
                self._borne_out.append(entry)
        self._waiting = waiting

    def joined(self, found: Iterable[tuple[int, int]]) -> list[EpochEntry]:
        """What the batches said, and what they did not speak against."""
        starts = dict(found)
        for epoch, start_offset in (*self._borne_out, *self._waiting):
            starts[epoch] = min(start_offset, starts.get(epoch, start_offset))
        joined: list[EpochEntry] = []
        for epoch, start_offset in sorted(starts.items()):
            # An epoch without records ends where it began, and is none once the next one begins.
            while joined and joined[-1].start_offset >= start_offset:
                joined.pop()
            joined.append(EpochEntry(epoch, start_offset))
        return joined
