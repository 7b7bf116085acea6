"""What the machine needs of the metadata log, and what can be said about two logs by it.

Calls take effect at once and can be read back; what they wrote survives a power cut only after the
flush or freeze that the machine asks for and waits for. Only `truncate_to` and
`restart_at_snapshot` wait for the device themselves.
"""

from enum import Enum
from typing import Final, NamedTuple, Protocol

from ottla.wire.fields import Buffer


class OffsetAndEpoch(NamedTuple):
    """The end of a part of the log and the epoch of its last record; the id of a snapshot."""

    end_offset: int
    epoch: int

    def is_up_to_date(self, other: "OffsetAndEpoch") -> bool:
        """Has a log that ends here all that one may have which ends there?"""
        return (self.epoch, self.end_offset) >= (other.epoch, other.end_offset)


BOOTSTRAP_SNAPSHOT: Final = OffsetAndEpoch(0, 0)
"""What the formatter of a directory wrote; it is never sent to others."""


class QuorumLog(Protocol):
    """A log of whole batches below which lies a snapshot."""

    @property
    def start_offset(self) -> int:
        """The first offset that can be read; what is below is in a snapshot."""
        ...

    @property
    def end_offset(self) -> int:
        """The offset after the last record."""
        ...

    @property
    def flushed_offset(self) -> int:
        """Everything below is on the device."""
        ...

    @property
    def last_epoch(self) -> int:
        """The epoch of the last record, or of the snapshot if there is none; 0 at first."""
        ...

    def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
        """Where the largest epoch not above one ends, which may be in a snapshot."""
        ...

    @property
    def earliest_snapshot(self) -> OffsetAndEpoch | None:
        """The oldest snapshot that is whole."""
        ...

    @property
    def latest_snapshot(self) -> OffsetAndEpoch | None:
        """The newest snapshot that is whole."""
        ...

    def append(self, batches: Buffer) -> None:
        """Append whole batches that have their offsets and epochs."""
        ...

    def read(self, offset: int, bytes_max: int) -> bytes:
        """Whole batches from the one that an offset lies in, the first whatever its size."""
        ...

    def truncate_to(self, end_offset: int) -> None:
        """Cut off all from an offset on."""
        ...

    def restart_at_snapshot(self) -> bool:
        """Begin anew after the newest snapshot if that is past the end; was it?"""
        ...

    def snapshot_bytes(self, id_: OffsetAndEpoch) -> int | None:
        """How large a snapshot is; None if there is none."""
        ...

    def read_snapshot(self, id_: OffsetAndEpoch, position: int, bytes_max: int) -> bytes:
        """A piece of a snapshot."""
        ...

    def begin_snapshot(self, id_: OffsetAndEpoch) -> None:
        """Make ready to be given a snapshot, from its beginning."""
        ...

    def append_snapshot(self, id_: OffsetAndEpoch, piece: Buffer) -> None:
        """Take the next piece."""
        ...


class Fit(Enum):
    """How the end of another's log fits this one."""

    VALID = 0
    DIVERGING = 1
    SNAPSHOT = 2


def fit_of(log: QuorumLog, end: OffsetAndEpoch) -> tuple[Fit, OffsetAndEpoch]:
    """Say whether a log that ends so is a part of this one, or else what it should do."""
    if log.start_offset == 0 and end.end_offset == 0:
        return Fit.VALID, BOOTSTRAP_SNAPSHOT
    earliest, latest = log.earliest_snapshot, log.latest_snapshot
    if earliest is not None and latest is not None and _needs_snapshot(log, end, earliest):
        return Fit.SNAPSHOT, latest
    found = log.end_offset_for_epoch(end.epoch)
    if found.epoch != end.epoch or found.end_offset < end.end_offset:
        return Fit.DIVERGING, found
    return Fit.VALID, end


def _needs_snapshot(log: QuorumLog, end: OffsetAndEpoch, earliest: OffsetAndEpoch) -> bool:
    """Is what comes after an end no longer in the log, or not known to fit it?"""
    is_other = end.end_offset == log.start_offset and end.epoch != earliest.epoch
    return end.end_offset < log.start_offset or is_other or end.epoch < earliest.epoch
