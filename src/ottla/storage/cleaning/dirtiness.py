"""How dirty a log is, and whether it is time to clean it: Kafka's own rules.

Dirty is what was appended since the last cleaning. Of that, what may be cleaned ends where the
active segment begins, the segment with the first undecided record, or the first one that is too
young. It also ends at the recovery point: behind it a segment may have lost its end, and recovery
could not tell that from what a cleaning took (I-REC-4). The ratio is that part's bytes to all bytes
before its end.
"""

from dataclasses import dataclass

from ottla.storage.log import Log
from ottla.storage.log_options import LogOptions
from ottla.storage.segment import Segment

_INT64_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Dirtiness:
    """What a cleaning of a log could do."""

    first_dirty_offset: int
    upper_offset: int
    """Where the first segment begins that may not be cleaned."""
    clean_bytes: int
    cleanable_bytes: int
    is_overdue: bool
    """Is there a record that has waited for longer than any may?"""

    @property
    def ratio(self) -> float:
        """The part of the bytes that was never cleaned and may be."""
        total_bytes = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total_bytes if total_bytes else 0.0

    def is_due(self, options: LogOptions) -> bool:
        """Is it time to clean?"""
        if self.cleanable_bytes == 0:
            return False
        return self.is_overdue or self.ratio > options.min_cleanable_ratio


def dirtiness_of(
    log: Log, checkpoint: int | None, last_stable_offset: int, now_ms: int
) -> Dirtiness:
    """Look at a log; `checkpoint` says where it was clean up to, if it was ever cleaned.

    Where that is no offset of the log any more, all of it counts as dirty.
    """
    start_offset, end_offset = log.log_start_offset, log.end_offset
    first_dirty = start_offset
    if checkpoint is not None and start_offset <= checkpoint <= end_offset:
        first_dirty = checkpoint
    closed = _closed_from(log, first_dirty)
    limits = [last_stable_offset, log.segments.active.base_offset, log.recovery_point]
    if log.options.min_compaction_lag_ms > 0:
        young_ms = now_ms - log.options.min_compaction_lag_ms
        limits += [one.base_offset for one in closed if one.latest.timestamp > young_ms][:1]
    limit = max(first_dirty, min(limits))
    upper_offset = next(
        (one.base_offset for one in _closed_from(log, limit)), log.segments.active.base_offset
    )
    before = log.segments.first.base_offset
    return Dirtiness(
        first_dirty,
        upper_offset,
        _bytes(log, before, first_dirty),
        _bytes(log, min(first_dirty, upper_offset), upper_offset),
        _is_overdue(log.options, closed, now_ms),
    )


def _closed_from(log: Log, offset: int) -> list[Segment]:
    """The segment that an offset is in and all after it, but for the active one."""
    active = log.segments.active
    return [one for one in log.segments.from_offset(offset) if one is not active]


def _bytes(log: Log, offset: int, end_offset: int) -> int:
    if offset >= end_offset:
        return 0
    return sum(one.size_bytes for one in log.segments.between(offset, end_offset))


def _is_overdue(options: LogOptions, closed: list[Segment], now_ms: int) -> bool:
    """Was the first batch of a segment never cleaned for longer than the lag that is allowed?"""
    if options.max_compaction_lag_ms >= _INT64_MAX:
        return False
    before_ms = now_ms - max(options.max_compaction_lag_ms, 0)
    firsts = (one.first_timestamp for one in closed)
    return any(first is not None and 0 < first < before_ms for first in firsts)
