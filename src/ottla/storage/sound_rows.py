"""Tell the batches of a run that are sound from the first that is not: in order, and undamaged."""

from collections.abc import Sequence
from typing import Final, NamedTuple
from zlib import crc32

from fastcrc.crc32 import iscsi as crc32c

from ottla.records.batch import CHECKSUM_START
from ottla.records.scan import BatchRow, Stop

_MESSAGE_CHECKSUM_START: Final = 16
# Columns by number, since this is done for every batch, and a name costs more.
_BASE_OFFSET, _LAST_OFFSET, _CRC = 4, 5, 13
assert BatchRow._fields[:3] == ("position", "size_bytes", "magic")
assert BatchRow._fields[4:6] == ("base_offset", "last_offset")
assert BatchRow._fields[_CRC] == "crc"


class Sound(NamedTuple):
    """The batches of a run before the first bad one, and what is wrong with that."""

    rows: Sequence[BatchRow]
    stop: Stop


def sound_rows(data: memoryview, rows: Sequence[BatchRow], offsets: tuple[int, int]) -> Sound:
    """Check the batches of a run, whose offsets must lie between two, both inclusive."""
    offset_min, offset_max = offsets
    for count, row in enumerate(rows):
        position, last_offset = row[0], row[_LAST_OFFSET]
        end_position = position + row[1]
        if row[_BASE_OFFSET] < offset_min or last_offset > offset_max:
            return Sound(rows[:count], Stop.ORDER)
        if row[2] == 2:
            found = crc32c(data[position + CHECKSUM_START : end_position])
        else:
            found = crc32(data[position + _MESSAGE_CHECKSUM_START : end_position])
        if found != row[_CRC]:
            return Sound(rows[:count], Stop.CHECKSUM)
        offset_min = last_offset + 1
    return Sound(rows, Stop.END)
