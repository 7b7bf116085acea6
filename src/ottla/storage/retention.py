"""Which of a log's oldest segments may be deleted.

Each rule takes up where the one before it stopped, so that a segment that outlives its time because
of one late record holds back those after it only until the log is too large.

Invariants
  I-RET-1  Only whole segments go, the oldest first.
  I-RET-2  Nothing at or past the high watermark goes.
  I-RET-3  The active segment goes only if it is not empty and all before it go; then another
           active one is made first.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from ottla.storage.log_options import UNLIMITED, LogOptions
from ottla.storage.segment import Segment
from ottla.storage.segments import Segments

Rule: TypeAlias = Callable[[Segment], bool]


class Bounds(NamedTuple):
    """Where a log begins, up to where it is safe on all its replicas, and where it ends."""

    log_start_offset: int
    high_watermark: int
    end_offset: int


def expired(segments: Segments, options: LogOptions, bounds: Bounds, now_ms: int) -> list[Segment]:
    """The segments that may go: all before the log's start, and what the options say."""
    found: list[Segment] = []
    _take(found, segments, bounds, _before_start(segments, bounds.log_start_offset))
    if options.is_deleted:
        left_bytes = segments.size_bytes - sum(segment.size_bytes for segment in found)
        if options.retention_bytes != UNLIMITED:
            _take(found, segments, bounds, _too_much(left_bytes - options.retention_bytes))
        if options.retention_ms != UNLIMITED:
            _take(found, segments, bounds, _too_old(now_ms - options.retention_ms))
    return found


def _take(found: list[Segment], segments: Segments, bounds: Bounds, goes: Rule) -> None:
    """Add the next oldest segments as long as each goes."""
    for segment in list(segments)[len(found) :]:
        upper = segments.next_base(segment)
        if upper is None:
            upper = bounds.end_offset
            if segment.size_bytes == 0:
                return
        if upper > bounds.high_watermark or not goes(segment):
            return
        found.append(segment)


def _before_start(segments: Segments, log_start_offset: int) -> Rule:
    def goes(segment: Segment) -> bool:
        upper = segments.next_base(segment)
        return upper is not None and upper <= log_start_offset

    return goes


def _too_much(excess_bytes: int) -> Rule:
    def goes(segment: Segment) -> bool:
        nonlocal excess_bytes
        excess_bytes -= segment.size_bytes
        return excess_bytes >= 0

    return goes


def _too_old(before_ms: int) -> Rule:
    return lambda segment: segment.newest_ms() < before_ms
