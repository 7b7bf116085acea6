"""Walk over the batches of a log file in pieces, so that memory does not grow with the file."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

from ottla.ports import File
from ottla.records.scan import BatchRow, Stop, scan

RUN_BYTES: Final = 1 << 20
"""So many that calls hardly count, and so few that the bytes are still in the processor's cache
when they are looked at for the second time."""
_PREFIX_BYTES: Final = 12
"""Offset and length, with which an entry of any magic begins."""
_RUN_BYTES_MIN: Final = 64


Walk: TypeAlias = Callable[[memoryview, int], tuple[list[BatchRow], int, Stop]]
"""Goes over the whole batches of some bytes that begin at a position of the file, and gives rows of
them, how far it came, and why no further; there is a row if there is a batch."""


class Run(NamedTuple):
    """Some whole batches that follow one another, as they lie in the file.

    The bytes are there until the next run is asked for, which takes their place.
    """

    position: int  # Of `data` in the file; rows count from there.
    data: memoryview
    rows: list[BatchRow]


class RunsEnd(NamedTuple):
    """Where the batches end, and why: `END`, or what is wrong with what comes next."""

    position: int
    stop: Stop


class Runs:
    """The batches of a file between two positions, by their headers; `end` is known at the end.

    One buffer is used for all of them. A batch larger than a run is read whole, but never by a
    length that the file cannot fill. A file that is shorter than was said ends as a torn one does.
    """

    def __init__(
        self,
        file: File | None,
        position: int,
        end_position: int,
        run_bytes: int = RUN_BYTES,
        walk: Walk | None = None,
    ) -> None:
        """Without a file there must be nothing between the positions."""
        assert run_bytes >= _RUN_BYTES_MIN
        self.end = RunsEnd(position, Stop.END)
        self._file = file
        self._end_position = end_position
        self._run_bytes = run_bytes
        self._walk = walk or _rows

    def __iter__(self) -> Iterator[Run]:
        left = self._end_position - self.end.position
        buffer = memoryview(bytearray(max(min(self._run_bytes, left), 0)))
        kept = 0
        while self.end.stop is Stop.END and self.end.position < self._end_position:
            assert self._file is not None
            position = self.end.position
            left = self._end_position - position
            wanted = min(len(buffer), left)
            filled = kept + self._file.read_into(position + kept, buffer[kept:wanted])
            rows, end_position, stop = self._walk(buffer[:filled], position)
            kept = filled - end_position
            if filled < wanted:
                stop = Stop.TORN if stop is Stop.END else stop
            elif stop is Stop.TORN and filled < left:
                larger = _PREFIX_BYTES + int.from_bytes(buffer[8:_PREFIX_BYTES], "big")
                if not rows and larger <= left:
                    buffer = _grown(buffer, larger)
                    continue
                # What was cut off by the end of the run comes with the next one.
                stop = Stop.END if rows else stop
            self.end = RunsEnd(position + end_position, stop)
            if rows:
                yield Run(position, buffer[:end_position], rows)
            buffer[:kept] = buffer[end_position:filled]


def _grown(buffer: memoryview, size_bytes: int) -> memoryview:
    """A larger buffer that begins with the same bytes."""
    grown = memoryview(bytearray(size_bytes))
    grown[: len(buffer)] = buffer
    return grown


def _rows(data: memoryview, file_position: int) -> tuple[list[BatchRow], int, Stop]:
    """All the whole batches of some bytes."""
    del file_position
    rows: list[BatchRow] = []
    position = 0
    while True:
        found = scan(data, position)
        rows += found.rows
        position = found.end_position
        if found.stop is not Stop.FULL:
            return rows, position, found.stop
