"""Tell the batches of a run that are sound from the first that is not: in order, and undamaged."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from zlib import crc32

from fastcrc.crc32 import iscsi as crc32c

from ottla.records.batch import CHECKSUM_START
from ottla.records.scan import BatchRow, Stop

_MESSAGE_CHECKSUM_START: Final = 16


class Sound(NamedTuple):
    """The batches of a run before the first bad one, and what is wrong with that."""

    rows: Sequence[BatchRow]
    stop: Stop


def sound_rows(data: memoryview, rows: Sequence[BatchRow], offsets: tuple[int, int]) -> Sound:
    """Check the batches of a run, whose offsets must lie between two, both inclusive."""
    offset_min, offset_max = offsets
    for count, row in enumerate(rows):
        position, size_bytes, magic, _, base_offset, last_offset, *_, crc = row
        if base_offset < offset_min or last_offset > offset_max:
            return Sound(rows[:count], Stop.ORDER)
        if magic == 2:
            found = crc32c(data[position + CHECKSUM_START : position + size_bytes])
        else:
            found = crc32(data[position + _MESSAGE_CHECKSUM_START : position + size_bytes])
        if found != crc:
            return Sound(rows[:count], Stop.CHECKSUM)
        offset_min = last_offset + 1
    return Sound(rows, Stop.END)
