"""What was written to a log, and what of it a start may find: the oracle of the crash tests.

A `Line` is one course that the log may have taken. A log that was found fits a line if it begins
where the line's start may have been, holds every batch of the line from there up to some end, byte
for byte, and lacks nothing below what was sure. While an operation runs there may be several lines;
once it has returned there is one, as the operation promises.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from ottla.broker.partition_history import PartitionHistory
from ottla.records.scan import BatchRow, scan
from ottla.storage.history import History
from ottla.storage.log import Log
from ottla.storage.transaction_index import AbortedTransaction

READ_BYTES: Final = 1 << 20
Producer: TypeAlias = tuple[int, ...]
"""A producer as a snapshot has it."""
Epochs: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Batch:
    """One batch; no two are equal, so that a log mixed of two courses is noticed."""

    data: bytes
    row: BatchRow


class Seen(NamedTuple):
    """A log as its reader sees it."""

    start: int
    end: int
    data: bytes
    epochs: Epochs
    producers: tuple[Producer, ...]
    aborted: tuple[AbortedTransaction, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One course of a log."""

    batches: tuple[Batch, ...] = ()
    start_min: int = 0
    """Where the log begins at least: so much is on the device."""
    start_max: int = 0
    sure: int = 0
    """Below this nothing may be missing."""
    end: int = 0

    def why_not(self, seen: Seen) -> str:
        """What is wrong with a log as a state of this line; nothing if it is one."""
        if not self.start_min <= seen.start <= self.start_max:
            return f"it starts at {seen.start}, not within {self.start_min}..{self.start_max}"
        if not self.sure <= seen.end <= self.end:
            return f"it ends at {seen.end}, not within {self.sure}..{self.end}"
        rows = [(one.row.base_offset, one.row.last_offset) for one in self.batches]
        # An empty log may begin anywhere: what was lost lay before its start.
        if seen.start < seen.end and any(base < seen.end <= last for base, last in rows):
            return f"it ends at {seen.end}, within a batch"
        if seen.data != self.data_between(seen.start, seen.end):
            return "its batches are others"
        return self._why_not_history(seen)

    def data_between(self, start: int, end: int) -> bytes:
        """The batches of a range of offsets."""
        if start == end:
            return b""
        within = [b for b in self.batches if start <= b.row.last_offset and b.row.base_offset < end]
        return b"".join([batch.data for batch in within])

    def _why_not_history(self, seen: Seen) -> str:
        histories = histories_of(self.batches, seen.start, seen.end)
        # Epochs may know already that the log was to begin later.
        starts = range(seen.start, min(self.start_max, seen.end) + 1)
        if not any(seen.epochs in epochs_of(self.batches, at, seen.end) for at in starts):
            return f"its epochs are {seen.epochs}"
        if seen.producers not in histories.producers:
            return f"its producers are {seen.producers}"
        if seen.aborted not in histories.aborted:
            return f"its aborted transactions are {seen.aborted}, not {histories.aborted}"
        return ""


class Histories(NamedTuple):
    """What replays of a log say, each from another place on, as snapshots let a start do."""

    producers: list[tuple[Producer, ...]]
    aborted: list[tuple[AbortedTransaction, ...]]


@lru_cache(maxsize=10_000)
def histories_of(batches: tuple[Batch, ...], start: int, end: int) -> Histories:
    """Replay the batches below an end, from each place at or below the start on.

    A reader from the start on must be told the same by all of them but where a producer was last
    heard of before, or where its open transaction began.
    """
    below = [one for one in batches if one.row.last_offset < end]
    found = Histories([], [])
    first = next((n for n, b in enumerate(below) if b.row.last_offset >= start), len(below))
    for number in range(first + 1):
        history, aborted = PartitionHistory(), list[AbortedTransaction]()
        history.forget_producers(below[number].row.base_offset if number < len(below) else end)
        for batch in below[number:]:
            aborted += history.replay(batch.data, [batch.row])
        found.producers.append(producers_of(history))
        found.aborted.append(tuple(one for one in aborted if one.last_offset >= start))
    return found


@lru_cache(maxsize=10_000)
def epochs_of(batches: tuple[Batch, ...], start: int, end: int) -> list[Epochs]:
    """The epochs of a part of a log; of an empty one perhaps that of what was there before."""
    history = PartitionHistory()
    for batch in batches:
        if batch.row.last_offset < end:
            history.replay(batch.data, [batch.row])
    history.cut_epochs(start, end)
    found = tuple((epoch, first) for epoch, first in history.epochs())
    return [found] if start < end else [found, ()]


def producers_of(history: History) -> tuple[Producer, ...]:
    """What a snapshot would say."""
    return tuple(
        (
            one.producer_id,
            one.epoch,
            one.last_sequence,
            one.last_offset,
            one.offset_delta,
            one.timestamp,
            one.coordinator_epoch,
            one.current_txn_first_offset,
        )
        for one in history.producers()
    )


def see(log: Log) -> Seen:
    """Read all of a log."""
    start, end = log.log_start_offset, log.end_offset
    data, offset = bytearray(), start
    while (found := log.read(offset, READ_BYTES, log.end_place)) is not None:
        part = found.file.read(found.position, found.size_bytes)
        rows = scan(part).rows
        assert rows
        assert sum(row.size_bytes for row in rows) == len(part)
        data += part
        offset = rows[-1].last_offset + 1
    history = log.history
    return Seen(
        start,
        end,
        bytes(data),
        tuple((epoch, first) for epoch, first in history.epochs()),
        producers_of(history),
        tuple(log.aborted(start, end)),
    )


def why_none(lines: Sequence[Line], seen: Seen) -> str:
    """What is wrong with a log for each of some lines; nothing if it fits one."""
    reasons: list[str] = []
    for line in lines:
        reason = line.why_not(seen)
        if not reason:
            return ""
        reasons.append(reason)
    return "; or ".join(reasons)
