"""Walk over the batches of a file that may be damaged anywhere, and go on behind the damage.

A batch that is whole but wrong comes with what is wrong with it. Bytes that are no batch come as
one piece of damage, up to where the next good batch begins: one with a header that can be, and the
checksum of its bytes. Memory is bounded by the largest batch that is read at all.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.ports import File
from ottla.records.check import entry_checksum
from ottla.records.scan import BatchRow, Stop, scan

RUN_BYTES: Final = 1 << 20
BATCH_BYTES_MAX: Final = 256 << 20
"""A length beyond this is taken for damage, not for a batch."""
SEARCHED_BYTES_MAX: Final = 4 << 30
"""How many bytes may be given to checksums while one next batch is looked for."""

_PREFIX_BYTES: Final = 12
_HEADER_BYTES: Final = 17
# An offset below 2**56, a length that is not zero and below 16 MiB, some epoch or checksum, and a
# magic that there is. What this misses is larger than what anybody writes.
_START: Final = re.compile(rb"(?=\x00.{7}\x00(?!\x00{3}).{3}.{4}[\x00-\x02])", re.DOTALL)

_REASONS: Final = {
    Stop.TORN: "the file ends within a batch",
    Stop.LENGTH: "the length is one that no batch has",
    Stop.MAGIC: "the magic is one that there is not",
    Stop.FIELDS: "the header's offsets or counts are ones that no batch has",
}


class Batch(NamedTuple):
    """A batch, or a message of magic 0 or 1, with what is wrong with it, if anything."""

    position: int
    row: BatchRow
    view: memoryview
    faults: tuple[str, ...]


class Damage(NamedTuple):
    """Bytes that are no batch; zeros up to the end are what a preallocated file ends in.

    A torn end is the beginning of a batch that the file ends within.
    """

    position: int
    size_bytes: int
    reason: str
    is_zeros: bool = False
    is_torn_end: bool = False


class Batches:
    """The batches of a file from a position on, in order, and the damage between them."""

    def __init__(
        self, file: File, position: int, end_position: int, offset_min: int | None = None
    ) -> None:
        self.position = position
        self._file = file
        self._end = end_position
        self._offset_min = offset_min

    def __iter__(self) -> Iterator[Batch | Damage]:
        wanted = RUN_BYTES
        while self.position < self._end:
            left = self._end - self.position
            data = memoryview(self._file.read(self.position, min(wanted, left)))
            if len(data) < min(wanted, left):
                # Somebody cut the file since its size was asked for.
                self._end = self.position + len(data)
                continue
            found = scan(data)
            wanted = RUN_BYTES
            if found.rows:
                yield from self._checked(data, found.rows)
            elif found.stop is Stop.TORN and (size := self._size_wanted(data, left)):
                wanted = size
            else:
                yield self._damage(_REASONS[found.stop], may_be_torn=found.stop is Stop.TORN)

    def _size_wanted(self, data: memoryview, left: int) -> int:
        """How many bytes a batch needs that is longer than what was read; 0 if it is none."""
        if len(data) == left:
            return 0
        size = _PREFIX_BYTES + int.from_bytes(data[8:_PREFIX_BYTES], "big")
        return size if len(data) < size <= min(left, BATCH_BYTES_MAX) else 0

    def _checked(self, data: memoryview, rows: list[BatchRow]) -> Iterator[Batch | Damage]:
        """The batches of a run; a wrong checksum may hide a wrong length, so see what follows."""
        start = self.position
        for row in rows:
            self.position = start + row.position
            view = data[row.position : row.position + row.size_bytes]
            faults: list[str] = []
            computed = entry_checksum(data, row)
            if computed != row.crc:
                if not self._is_followed(self.position + row.size_bytes):
                    yield self._damage("the checksum is wrong, and no batch follows")
                    return
                faults.append(f"the checksum is {row.crc:08x}, that of the bytes is {computed:08x}")
            if self._offset_min is not None and row.base_offset < self._offset_min:
                faults.append(f"offset {row.base_offset} comes where {self._offset_min} is least")
            if computed == row.crc:
                self._offset_min = max(self._offset_min or 0, row.last_offset + 1)
            yield Batch(self.position, row, view, tuple(faults))
            self.position += row.size_bytes

    def _is_followed(self, position: int) -> bool:
        """Is there the end of the file, or what could be another batch?"""
        if position == self._end:
            return True
        front = self._file.read(position, min(self._end - position, 61))
        length = int.from_bytes(front[8:_PREFIX_BYTES], "big")
        if len(front) < _HEADER_BYTES or front[16] > 2:
            return False
        return 14 <= length <= self._end - position - _PREFIX_BYTES

    def _damage(self, reason: str, *, may_be_torn: bool = False) -> Damage:
        """Find where good batches begin again, and go there."""
        start = self.position
        if self._is_zero_to_the_end(start):
            self.position = self._end
            reason = "zeros to the end of the file, which was made larger than what it holds"
            return Damage(start, self._end - start, reason, is_zeros=True)
        self.position = self._next_start(start + 1)
        is_torn_end = may_be_torn and self.position == self._end
        return Damage(start, self.position - start, reason, is_torn_end=is_torn_end)

    def _is_zero_to_the_end(self, position: int) -> bool:
        while position < self._end:
            data = self._file.read(position, min(RUN_BYTES, self._end - position))
            if not data or data.count(0) != len(data):
                return False
            position += len(data)
        return True

    def _next_start(self, position: int) -> int:
        """Where the next batch with a right checksum begins, or the end."""
        budget = SEARCHED_BYTES_MAX
        while position < self._end:
            data = self._file.read(position, min(RUN_BYTES, self._end - position))
            for found in _START.finditer(data):
                start = found.start()
                place = position + start
                size = _PREFIX_BYTES + int.from_bytes(data[start + 8 : start + 12], "big")
                if place + size > self._end:
                    continue
                budget -= size
                if budget < 0:
                    return self._end
                if self._is_good(place, size):
                    return place
            if len(data) < RUN_BYTES:
                break
            position += len(data) - _HEADER_BYTES
        return self._end

    def _is_good(self, position: int, size_bytes: int) -> bool:
        data = self._file.read(position, size_bytes)
        rows = scan(data, rows_max=1).rows
        return (
            bool(rows)
            and rows[0].size_bytes == size_bytes
            and (entry_checksum(data, rows[0]) == rows[0].crc)
        )
