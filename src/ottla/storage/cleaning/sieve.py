"""Choose what stays of the batches of a log, run by run.

A record stays if it lies past all keys that were taken in, or if no later record has its key and it
is no tombstone whose time is over. A batch keeps its offsets and sequences whatever goes of it. One
without records stays as a header if it is the last of a producer that is still known, so that its
sequences and its epoch are, or the last of the cleaned part, so that its offsets are.

A tombstone that stays for the first time, and a marker that ends nothing, gets a horizon: the time
from which a cleaning may drop it, so that whoever reads from the start meanwhile sees it.

Invariants
  I-CLEAN-6  Of every key the last record below the clean end stays, until it is a spent tombstone.
  I-CLEAN-7  Offsets, sequences and the order of what stays are as they were.
  I-CLEAN-8  A batch of which all stays is there byte by byte, unless it gets a horizon.
"""

from array import array
from collections.abc import Iterator, Sequence

from ottla.kernels import compaction as kernel
from ottla.kernels.compaction import OffsetMap
from ottla.records.batch import (
    CONTROL_BIT,
    DELETE_HORIZON_BIT,
    HEADER_BYTES,
    TRANSACTIONAL_BIT,
    BatchHeader,
    seal,
)
from ottla.records.builder import BatchOptions, assemble, write_batch, write_empty_batch
from ottla.records.compression import compress
from ottla.records.message_set import LOG_APPEND_TIME, Entry, Message, entries, messages_of
from ottla.records.scan import BatchRow
from ottla.storage.cleaning.plan import CleaningPlan
from ottla.storage.cleaning.stretches import Kind, opened, stretches
from ottla.storage.cleaning.transactions import MetTransactions
from ottla.storage.runs import Run
from ottla.wire.fields import Buffer

_WRITTEN, _KEPT, _CHANGED = 3, 4, 5


class Sieve:
    """What goes through a whole log, segment after segment, so that it knows its transactions."""

    def __init__(self, plan: CleaningPlan, keys: OffsetMap) -> None:
        self.met = MetTransactions(plan.aborted)
        self._plan = plan
        self._keys = keys
        self._out = bytearray()
        self._times = (plan.now_ms, plan.horizon_ms)
        self._bytes_max = plan.options.segment.inflated_bytes_max
        self._keeps_messages_tombstones = True

    def begin_segment(self, *, keeps_messages_tombstones: bool) -> None:
        """Come to another segment; messages of magic 0 and 1 have no horizon of their own."""
        self._keeps_messages_tombstones = keeps_messages_tombstones

    def sift(self, run: Run) -> list[Buffer]:
        """What stays of a run; it must be let go of before the next one is sifted."""
        found = list(stretches(run.rows))
        if len(found) == 1 and found[0][0] is Kind.OPEN:
            size_bytes = self._sift_open(run.data, found[0][1])
            return [memoryview(self._out)[:size_bytes]] if size_bytes else []
        return [part for kind, rows in found for part in self._parts(kind, run.data, rows) if part]

    def _parts(self, kind: Kind, data: memoryview, rows: Sequence[BatchRow]) -> Iterator[Buffer]:
        if kind is Kind.OPEN:
            size_bytes = self._sift_open(data, rows)
            yield bytes(memoryview(self._out)[:size_bytes])
        elif kind is Kind.COMPRESSED:
            for row in rows:
                yield self._sift_compressed(data, row)
        else:
            for row in rows:
                for entry in entries(data[row.position : row.position + row.size_bytes]):
                    yield self._sift_messages(entry, row)

    def _sift_open(self, data: memoryview, rows: Sequence[BatchRow]) -> int:
        """Write what stays to the front of the buffer; give how much that is."""
        cells = array("q")
        for row in rows:
            cells.extend((row.position, row.size_bytes, self._bits(data, row), 0, 0, 0))
        places = bytearray(cells)
        written = kernel.choose(self._keys, data, places, self._out, self._times)
        numbers = memoryview(places).cast("q")
        if any(numbers[_CHANGED :: kernel.CHOOSE_CELLS]):
            position = 0
            with memoryview(self._out) as out:
                for cell in range(0, len(numbers), kernel.CHOOSE_CELLS):
                    end = position + numbers[cell + _WRITTEN]
                    if numbers[cell + _CHANGED] and end > position:
                        seal(out[position:end])
                    position = end
        return written

    def _sift_compressed(self, data: memoryview, row: BatchRow) -> Buffer:
        bits = self._bits(data, row)
        if bits & kernel.DISCARDS and not bits & kernel.KEEPS_EMPTY:
            return b""
        batch = opened(data, row, self._bytes_max)
        places = bytearray(array("q", (0, len(batch), bits, 0, 0, 0)))
        written = kernel.choose(self._keys, batch, places, self._out, self._times)
        numbers = memoryview(places).cast("q")
        if not numbers[_CHANGED]:
            return bytes(data[row.position : row.position + row.size_bytes])
        if not written:
            return b""
        with memoryview(self._out)[:written] as out:
            header, section = BatchHeader.parse(out), bytes(out[HEADER_BYTES:])
        return assemble(header, compress(header.codec, section) if numbers[_KEPT] else b"")

    def _sift_messages(self, entry: Entry, row: BatchRow) -> Buffer:
        """Make a batch of what stays of a message or a wrapper."""
        kept = [one for one in messages_of(entry, self._bytes_max) if self._stays(one)]
        is_last = row.last_offset + 1 == self._plan.upper_offset
        if not kept:
            options = BatchOptions(base_offset=row.last_offset)
            return write_empty_batch(options, row.last_offset, entry.timestamp) if is_last else b""
        has_tombstone = any(one.value is None for one in kept)
        options = BatchOptions(
            base_offset=kept[0].offset,
            codec=entry.codec,
            append_timestamp=entry.timestamp if entry.timestamp_type == LOG_APPEND_TIME else None,
            delete_horizon_ms=self._plan.horizon_ms if has_tombstone else None,
        )
        return write_batch(
            [(one.offset, one.timestamp, one.key, one.value, ()) for one in kept], options
        )

    def _stays(self, message: Message) -> bool:
        if message.offset > self._keys.latest_offset:
            return True
        return (
            message.key is not None
            and message.offset >= self._keys.get(message.key)
            and (message.value is not None or self._keeps_messages_tombstones)
        )

    def _bits(self, data: memoryview, row: BatchRow) -> int:
        """What is known of a batch without looking at its records."""
        bits = kernel.KEEPS_EMPTY if self._is_needed(row) else 0
        if row.attributes & CONTROL_BIT:
            bits |= kernel.IS_CONTROL
            if self.met.meet_control(data, row):
                bits |= kernel.ENDS_NOTHING
                has_horizon = row.attributes & DELETE_HORIZON_BIT
                if has_horizon and row.base_timestamp <= self._plan.now_ms:
                    bits |= kernel.DISCARDS
        elif row.attributes & TRANSACTIONAL_BIT and self.met.meet_data(row):
            bits |= kernel.DISCARDS
        return bits

    def _is_needed(self, row: BatchRow) -> bool:
        """Does a batch stay even without records?"""
        if row.last_offset + 1 == self._plan.upper_offset:
            return True
        if row.producer_id < 0:
            return False
        last = self._plan.last_records.get(row.producer_id)
        if last is None:
            return False
        last_offset, epoch = last
        if last_offset >= 0:
            return row.last_offset == last_offset
        return bool(row.attributes & CONTROL_BIT) and row.producer_epoch == epoch
