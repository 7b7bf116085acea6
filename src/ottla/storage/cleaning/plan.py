"""What a cleaning goes by, gathered on the log's thread, so that the long part needs no log.

Invariant
  I-CLEAN-2  A plan holds closed segments only, all of them below the last stable offset and the
             recovery point, and they do not change. What else a cleaning reads was copied when it
             was planned.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ottla.records.scan import Stop
from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.offset_index import INT32_MAX
from ottla.storage.partition_files import PartitionFiles
from ottla.storage.recovery import Corrupt
from ottla.storage.runs import Run
from ottla.storage.segment import Segment
from ottla.storage.sound_rows import sound_rows
from ottla.storage.transaction_index import AbortedTransaction


class Planned(NamedTuple):
    """A segment to be cleaned, and how large its indexes are."""

    segment: Segment
    offset_index_bytes: int
    time_index_bytes: int


@dataclass(frozen=True, slots=True)
class CleaningPlan:
    """One cleaning of one log."""

    files: PartitionFiles
    options: LogOptions
    segments: Sequence[Planned]
    first_dirty_offset: int
    dirty_position: int
    """Where the batch lies that the first dirty offset is in, in its segment."""
    upper_offset: int
    """Where the first segment begins that may not be cleaned."""
    aborted: Sequence[AbortedTransaction]
    last_records: Mapping[int, tuple[int, int]]
    now_ms: int

    @property
    def horizon_ms(self) -> int:
        """Until when a tombstone stays that is seen for the first time."""
        return self.now_ms + self.options.delete_retention_ms

    def dirty_segments(self) -> list[tuple[Segment, int]]:
        """The segments that keys are taken in from, and where the one after each begins."""
        segments = [planned.segment for planned in self.segments]
        bases = [*(segment.base_offset for segment in segments), self.upper_offset]
        return [
            (segment, next_base)
            for segment, (_, next_base) in zip(segments, pairwise(bases), strict=True)
            if next_base > self.first_dirty_offset
        ]

    def groups(self, end_offset: int) -> list[list[Segment]]:
        """The segments that begin below an offset, those together that make one segment."""
        planned = [one for one in self.segments if one.segment.base_offset < end_offset]
        bases = [*(one.segment.base_offset for one in planned), self.upper_offset]
        grouped: list[list[Planned]] = []
        for one, next_base in zip(planned, bases[1:], strict=True):
            if grouped and self._fits(grouped[-1], one, next_base - 1):
                grouped[-1].append(one)
            else:
                grouped.append([one])
        return [[one.segment for one in group] for group in grouped]

    def _fits(self, group: Sequence[Planned], added: Planned, last_offset: int) -> bool:
        """May a segment join others, whatever the cleaning makes of them?"""
        together = [*group, added]
        size_bytes = sum(one.segment.size_bytes for one in together)
        index_bytes = max(
            sum(one.offset_index_bytes for one in together),
            sum(one.time_index_bytes for one in together),
        )
        offsets = last_offset - group[0].segment.base_offset
        return (
            size_bytes <= self.options.segment_bytes
            and index_bytes <= self.options.segment.index_bytes_max
            and (added.segment.size_bytes == 0 or offsets <= INT32_MAX)
        )


def plan_cleaning(
    log: Log, first_dirty_offset: int, upper_offset: int, now_ms: int
) -> CleaningPlan:
    """Gather what a cleaning needs to know; only on the log's thread."""
    assert upper_offset <= log.segments.active.base_offset, "I-CLEAN-2"
    assert upper_offset <= log.recovery_point, "I-CLEAN-2"
    segments = log.segments.between(log.segments.first.base_offset, upper_offset)
    return CleaningPlan(
        files=log.files,
        options=log.options,
        segments=[Planned(segment, *segment.index_bytes) for segment in segments],
        first_dirty_offset=first_dirty_offset,
        dirty_position=_position(log, first_dirty_offset, upper_offset),
        upper_offset=upper_offset,
        aborted=log.aborted(log.segments.first.base_offset, upper_offset),
        last_records=dict(log.history.last_records()),
        now_ms=now_ms,
    )


def _position(log: Log, offset: int, upper_offset: int) -> int:
    """Where in its segment the batch begins that an offset is in; 0 if it is not dirty."""
    for segment in log.segments.between(offset, upper_offset)[:1]:
        if segment.base_offset < offset:
            found = segment.find_offset(offset)
            return segment.size_bytes if found is None else found[0]
    return 0


def sound_runs(segment: Segment, position: int = 0) -> Iterator[Run]:
    """The batches of a segment, each held against its checksum.

    Invariant
      I-CLEAN-3  No byte gets a new checksum that did not have a right one before, and no key counts
                 that lies in a damaged batch. Raises `Corrupt`.
    """
    runs = segment.runs(position)
    offset = segment.base_offset
    for run in runs:
        rows, stop = sound_rows(run.data, run.rows, (offset, segment.base_offset + INT32_MAX))
        if stop is not Stop.END:
            raise _corrupt(segment, run, rows[-1].last_offset + 1 if rows else offset, stop)
        offset = rows[-1].last_offset + 1
        yield run
    if runs.end.stop is not Stop.END:
        raise Corrupt(segment.stem, runs.end.position, offset, runs.end.stop)


def _corrupt(segment: Segment, run: Run, offset: int, stop: Stop) -> Corrupt:
    first_bad = next(row for row in run.rows if row.last_offset >= offset)
    return Corrupt(segment.stem, run.position + first_bad.position, offset, stop)
