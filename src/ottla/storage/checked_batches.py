"""Check all batches of a segment, and make its index entries on the way, by compiled code."""

from typing import Final
from zlib import crc32

from fastcrc.crc32 import iscsi as crc32c

from ottla.kernels.recovery import SegmentCheck
from ottla.records.scan import BatchRow, Stop, rows_of

_FULL: Final = int(Stop.FULL)


class CheckedBatches:
    """The batches of one segment, from its beginning to the first that is bad."""

    def __init__(self, base_offset: int, interval_bytes: int, entries_max: tuple[int, int]) -> None:
        """`entries_max` is how many entries there may be in the offset and in the time index."""
        self._check = SegmentCheck(base_offset, interval_bytes, entries_max, (crc32c, crc32))

    def walk(self, data: memoryview, position: int) -> tuple[list[BatchRow], int, Stop]:
        """Check the batches of some bytes, which begin at a position of the file.

        Gives rows of those that say something: the first and the last, any of a transaction, and
        the newest of each producer and around a change of the leader's epoch.
        """
        rows: list[BatchRow] = []
        end_position, stop = 0, _FULL
        while stop == _FULL:
            count, end_position, stop = self._check.walk(data, end_position, position)
            rows += rows_of(self._check.rows(count))
        return rows, end_position, Stop(stop)

    @property
    def end_offset(self) -> int:
        """The offset after the last good batch."""
        return self._check.end_offset

    @property
    def latest(self) -> tuple[int, int]:
        """The largest time, and the last offset of the first batch that has it."""
        return self._check.latest

    @property
    def entries(self) -> tuple[bytearray, bytearray]:
        """What the offset and the time index are to hold, as it lies in their files."""
        return self._check.entries

    @property
    def unindexed_bytes(self) -> int:
        """How much there is since the last entry."""
        return self._check.unindexed_bytes
