"""Show a history the part of a log that it has not seen, from the nearest snapshot on."""

from collections.abc import Iterable, Iterator

from ottla.kernels.faults import Malformed
from ottla.records.scan import BatchRow
from ottla.storage.history import History
from ottla.storage.producer_snapshots import ProducerSnapshots
from ottla.storage.runs import Run
from ottla.storage.segments import Segments


def restore_producers(
    history: History,
    segments: Segments,
    snapshots: ProducerSnapshots,
    bounds: tuple[int, int],
    now_ms: int,
) -> list[Malformed]:
    """Let a history know the producers of a log between its start and an offset.

    Gives what was wrong with snapshots that could not be used.
    """
    log_start_offset, end_offset = bounds
    refused: list[Malformed] = []
    while True:
        snapshot = snapshots.latest(end_offset, refused)
        if snapshot is None or snapshot.offset < log_start_offset:
            history.forget_producers(log_start_offset)
            offset = log_start_offset
            break
        try:
            history.load_producers(snapshot.entries, snapshot.offset, now_ms)
        except Malformed as fault:
            refused.append(fault)
            snapshots.remove([snapshot.offset])
            continue
        offset = snapshot.offset
        break
    for run, rows in _batches(segments, offset, end_offset):
        history.replay(run.data, rows)
    return refused


def _batches(
    segments: Segments, offset: int, end_offset: int
) -> Iterator[tuple[Run, list[BatchRow]]]:
    """The batches of a range of offsets, run by run."""
    if offset >= end_offset:
        return
    for segment in segments.between(offset, end_offset):
        place = segment.find_offset(offset)
        if place is None:
            continue
        for run in segment.runs(place[0]):
            rows = list(_within(run.rows, offset, end_offset))
            if rows:
                yield run, rows


def _within(rows: Iterable[BatchRow], offset: int, end_offset: int) -> Iterator[BatchRow]:
    return (row for row in rows if offset <= row.last_offset and row.base_offset < end_offset)
