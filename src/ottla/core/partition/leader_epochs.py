"""Where in the log each leader epoch began, and so where it ended.

Every leader has an epoch, higher than the one before. Two replicas find out where their logs part
by comparing where an epoch ended in each (KIP-101, KIP-279); a consumer finds out the same way that
what it had read was lost (KIP-320). An epoch without records has no entry.

Invariants:
I-EPOCH-1  Epochs rise from entry to entry, and so do start offsets; none is negative.
I-EPOCH-2  No entry begins at or past the end of the log, but that of a leader's own epoch, at it.
I-EPOCH-3  The first entry begins at or past the log's start, once it was truncated to it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final, NamedTuple

UNDEFINED_EPOCH: Final = -1
UNDEFINED_OFFSET: Final = -1


class EpochEntry(NamedTuple):
    """An epoch and the offset of its first record; a line of the checkpoint."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The epoch that an answer is about, and the offset after its last record."""

    epoch: int
    end_offset: int


UNDEFINED_END: Final = EpochEnd(UNDEFINED_EPOCH, UNDEFINED_OFFSET)


class LeaderEpochs:
    """The epochs of one log."""

    __slots__ = ("_epochs", "_start_offsets")

    def __init__(self, entries: Iterable[tuple[int, int]] = ()) -> None:
        self._epochs: list[int] = []
        self._start_offsets: list[int] = []
        for epoch, start_offset in entries:
            self.assign(epoch, start_offset)

    def entries(self) -> list[EpochEntry]:
        """All of them, lowest epoch first: what the checkpoint holds."""
        return [*map(EpochEntry, self._epochs, self._start_offsets)]

    def assign(self, epoch: int, start_offset: int) -> bool:
        """Let an epoch begin at an offset; answer whether that changed anything.

        Entries that would not lie before it are removed: that the log has this batch here is a
        fact, and they are not. An epoch that goes on is the common case.
        """
        epochs, starts = self._epochs, self._start_offsets
        if epochs and epoch == epochs[-1] and start_offset >= starts[-1]:
            return False
        assert epoch >= 0, "I-EPOCH-1"
        assert start_offset >= 0, "I-EPOCH-1"
        kept = min(bisect_left(epochs, epoch), bisect_left(starts, start_offset))
        epochs[kept:] = [epoch]
        starts[kept:] = [start_offset]
        return True

    def truncate_end(self, end_offset: int) -> bool:
        """Forget the epochs that begin at or past the log's new end; answer whether any did."""
        if end_offset < 0:
            return False
        kept = bisect_left(self._start_offsets, end_offset)
        changed = kept < len(self._epochs)
        del self._epochs[kept:], self._start_offsets[kept:]
        return changed

    def truncate_start(self, start_offset: int) -> bool:
        """Bring the first epoch to the log's new start and forget those before it.

        Answer whether anything changed that the checkpoint does not say yet.
        """
        past = bisect_right(self._start_offsets, start_offset)
        if past == 0:
            return False
        changed = past > 1 or self._start_offsets[0] != start_offset
        del self._epochs[: past - 1], self._start_offsets[: past - 1]
        self._start_offsets[0] = start_offset
        return changed

    def clear(self) -> None:
        """Forget all epochs."""
        self._epochs.clear()
        self._start_offsets.clear()

    def end_offset_for(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """Where an epoch ended, by the answer of OffsetForLeaderEpoch.

        The latest epoch ends with the log. One without records is answered for by the epoch before
        it, or if records are gone from there, by itself with the offset at which the log goes on.
        """
        epochs = self._epochs
        if epoch == UNDEFINED_EPOCH or not epochs or epoch > epochs[-1]:
            return UNDEFINED_END
        if epoch == epochs[-1]:
            return EpochEnd(epoch, log_end_offset)
        higher = bisect_right(epochs, epoch)
        found = epochs[higher - 1] if higher else epoch
        return EpochEnd(found, self._start_offsets[higher])

    def epoch_at(self, offset: int) -> int | None:
        """The epoch that an offset lies in."""
        place = bisect_right(self._start_offsets, offset)
        return self._epochs[place - 1] if place else None

    def entries_in(self, start_offset: int, end_offset: int) -> list[EpochEntry]:
        """The entries of a part of the log, as if the log were nothing but it."""
        part = LeaderEpochs()
        part._epochs, part._start_offsets = self._epochs[:], self._start_offsets[:]
        if start_offset >= 0:
            part.truncate_start(start_offset)
        part.truncate_end(end_offset)
        return part.entries()

    @property
    def latest_epoch(self) -> int | None:
        """The epoch of the last records, or of the leader that has not written yet."""
        return self._epochs[-1] if self._epochs else None

    @property
    def latest_entry(self) -> EpochEntry | None:
        """The highest epoch."""
        return EpochEntry(self._epochs[-1], self._start_offsets[-1]) if self._epochs else None

    def entry(self, epoch: int) -> EpochEntry | None:
        """Where exactly this epoch began."""
        place = bisect_left(self._epochs, epoch)
        found = self._at(place)
        return found if found and found.epoch == epoch else None

    def previous(self, epoch: int) -> EpochEntry | None:
        """The highest epoch below one."""
        return self._at(bisect_left(self._epochs, epoch) - 1)

    def next(self, epoch: int) -> EpochEntry | None:
        """The lowest epoch above one."""
        return self._at(bisect_right(self._epochs, epoch))

    def _at(self, place: int) -> EpochEntry | None:
        if not 0 <= place < len(self._epochs):
            return None
        return EpochEntry(self._epochs[place], self._start_offsets[place])
