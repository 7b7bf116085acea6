"""Take in the last offset of each key, from the part of a log that was never cleaned.

Invariants
  I-CLEAN-4  The map knows every key of a record at or past the first dirty offset and up to its
             latest offset, but for those of aborted transactions, and no other.
  I-CLEAN-5  It takes the memory that it was given and one run. When it is full the cleaning ends at
             its latest offset, and the next one begins behind it.
"""

from array import array
from collections.abc import Iterator, Sequence

from ottla.kernels import compaction as kernel
from ottla.kernels.compaction import OffsetMap
from ottla.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT
from ottla.records.message_set import entries, messages_of
from ottla.records.scan import BatchRow
from ottla.storage.cleaning.plan import CleaningPlan, sound_runs
from ottla.storage.cleaning.stretches import Kind, opened, stretches
from ottla.storage.cleaning.transactions import MetTransactions
from ottla.storage.runs import Run


def filling(plan: CleaningPlan, keys: OffsetMap) -> Iterator[int]:
    """Take in as many keys as there is room for; give the bytes of each run before it is taken in.

    In the end the log gets clean up to the map's latest offset.
    """
    start_offset = plan.first_dirty_offset
    keys.advance(start_offset - 1)
    filler = _Filler(plan, keys)
    position = plan.dirty_position
    for segment, next_base in plan.dirty_segments():
        for run in sound_runs(segment, position):
            yield len(run.data)
            if not filler.take(run):
                return
        keys.advance(next_base - 1)
        position = 0


class _Filler:
    """Takes in run after run."""

    def __init__(self, plan: CleaningPlan, keys: OffsetMap) -> None:
        self._keys = keys
        self._start_offset = plan.first_dirty_offset
        self._bytes_max = plan.options.segment.inflated_bytes_max
        self._met = MetTransactions(
            one for one in plan.aborted if one.last_offset >= self._start_offset
        )

    def take(self, run: Run) -> bool:
        """Take in the keys of a run; was there room for all?"""
        for kind, rows in stretches(run.rows):
            if kind is Kind.OPEN:
                is_done = self._take_open(run.data, rows)
            elif kind is Kind.COMPRESSED:
                is_done = all(self._take_compressed(run.data, row) for row in rows)
            else:
                is_done = all(self._take_messages(run.data, row) for row in rows)
            if not is_done:
                return False
        return True

    def _take_open(self, data: memoryview, rows: Sequence[BatchRow]) -> bool:
        cells = array("q")
        for row in rows:
            cells.extend((row.position, row.size_bytes, self._counts(data, row)))
        return kernel.fill(self._keys, data, bytearray(cells), self._start_offset) == len(rows)

    def _take_compressed(self, data: memoryview, row: BatchRow) -> bool:
        if not self._counts(data, row):
            self._note(row)
            return True
        batch = opened(data, row, self._bytes_max)
        cells = bytearray(array("q", (0, len(batch), 1)))
        return kernel.fill(self._keys, batch, cells, self._start_offset) == 1

    def _take_messages(self, data: memoryview, row: BatchRow) -> bool:
        for entry in entries(data[row.position : row.position + row.size_bytes]):
            for message in messages_of(entry, self._bytes_max):
                if message.key is not None and message.offset >= self._start_offset:
                    if self._keys.is_full:
                        return False
                    self._keys.put(message.key, message.offset)
        self._note(row)
        return True

    def _counts(self, data: memoryview, row: BatchRow) -> bool:
        """Has a batch keys that count?"""
        if not row.attributes & (TRANSACTIONAL_BIT | CONTROL_BIT):
            return True
        if row.attributes & CONTROL_BIT:
            self._met.meet_control(data, row)
            return False
        return not self._met.meet_data(row)

    def _note(self, row: BatchRow) -> None:
        if row.last_offset >= self._start_offset:
            self._keys.advance(row.last_offset)
