"""Walk over the batches of a log file in pieces, so that memory does not grow with the file."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ottla.ports import File
from ottla.records.scan import BatchRow, Stop, scan

RUN_BYTES: Final = 1 << 20
_PREFIX_BYTES: Final = 12
"""Offset and length, with which an entry of any magic begins."""


class Run(NamedTuple):
    """Some whole batches that follow one another, as they lie in the file."""

    position: int  # Of `data` in the file; rows count from there.
    data: memoryview
    rows: list[BatchRow]


class RunsEnd(NamedTuple):
    """Where the batches end, and why: `END`, or what is wrong with what comes next."""

    position: int
    stop: Stop


class Runs:
    """The batches of a file between two positions, by their headers; `end` is known at the end.

    A batch larger than a run is read whole, but never by a length that the file cannot fill.
    """

    def __init__(
        self, file: File, position: int, end_position: int, run_bytes: int = RUN_BYTES
    ) -> None:
        self.end = RunsEnd(position, Stop.END)
        self._file = file
        self._end_position = end_position
        self._run_bytes = run_bytes

    def __iter__(self) -> Iterator[Run]:
        wanted = self._run_bytes
        while self.end.stop is Stop.END and self.end.position < self._end_position:
            position = self.end.position
            left = self._end_position - position
            data = memoryview(self._file.read(position, min(wanted, left)))
            rows, end_position, stop = _rows(data)
            wanted = self._run_bytes
            if not rows and stop is Stop.TORN and len(data) == min(self._run_bytes, left) < left:
                wanted = _PREFIX_BYTES + int.from_bytes(data[8:_PREFIX_BYTES], "big")
                if wanted <= left:
                    continue
            if stop is Stop.TORN and rows:
                # What was cut off by the end of the run comes with the next one.
                stop = Stop.END
            self.end = RunsEnd(position + end_position, stop)
            if rows:
                yield Run(position, data, rows)


def _rows(data: memoryview) -> tuple[list[BatchRow], int, Stop]:
    """All the whole batches of some bytes."""
    rows: list[BatchRow] = []
    position = 0
    while True:
        found = scan(data, position)
        rows += found.rows
        position = found.end_position
        if found.stop is not Stop.FULL:
            return rows, position, found.stop
