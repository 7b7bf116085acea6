"""Find a batch in a log file by the headers alone, reading no more than those and what is by them.

A walk over large batches jumps from header to header; small ones come many to a read.
"""

from typing import Final, NamedTuple

from ottla.kernels import batches as kernel
from ottla.kernels.faults import InvalidValue
from ottla.ports import File
from ottla.records.scan import INT64_MIN, Stop

_READ_BYTES: Final = 8192


class Found(NamedTuple):
    """A batch by its header, and where it lies."""

    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    max_timestamp: int


def find_batch(
    file: File | None, span: tuple[int, int], last_offset: int, timestamp: int = INT64_MIN
) -> Found | None:
    """The first batch between two positions whose last offset and largest time reach so far.

    At the first position a batch must begin. Bytes that are none raise their position.
    """
    position, end_position = span
    while file is not None and position < end_position:
        data = file.read(position, min(_READ_BYTES, end_position - position))
        beyond = end_position - position - len(data)
        at, size_bytes, stop, *numbers = kernel.find_header(data, 0, last_offset, timestamp, beyond)
        if stop == Stop.FOUND:
            return Found(position + at, size_bytes, *numbers)
        if stop != Stop.END and (stop != Stop.TORN or at == 0):
            raise no_batch(position + at, Stop(stop))
        position += at
    return None


def no_batch(position: int, stop: Stop) -> InvalidValue:
    """What is to be raised where a batch ought to begin and does not."""
    return InvalidValue(f"no batch begins here ({stop.name})", position)
