"""Hold the indexes of a segment against its batches, while these are walked over.

An offset index is right if a search by it misses no batch: the batch it points to is there, and all
before it end before the offset of the entry. A time index is right if nothing up to the offset of
an entry is later than its time, and the batch with that offset has that time.
"""

from contextlib import ExitStack
from struct import Struct
from typing import Final

from ottla.cli.log.batches import Batch, Damage
from ottla.cli.log.files import LogFile
from ottla.cli.log.findings import Findings
from ottla.cli.log.indexes import Entries
from ottla.cli.times import shown_time
from ottla.ports import Disk
from ottla.storage import offset_index, time_index

_NOTHING: Final = -1


class _IndexCheck:
    """The entries of an index in order, as far as they rise."""

    layout: Struct

    def __init__(self, disk: Disk, file: LogFile, findings: Findings) -> None:
        self.file = file
        self.findings = findings
        self._closing = ExitStack()
        opened = disk.open(file.path, read_only=True)
        self._closing.callback(opened.close)
        entries = Entries(opened, self.layout)
        if entries.left_over_bytes:
            reason = f"{entries.left_over_bytes} bytes at the end are no whole entry"
            self.bad(entries.size_bytes - entries.left_over_bytes, reason)
        self._entries = iter(entries)
        self._number = -1
        self.entry: tuple[int, int] | None = None
        self.step()

    @property
    def position(self) -> int:
        """Where the entry lies."""
        return self._number * self.layout.size

    def bad(self, position: int, reason: str) -> None:
        """Say what is wrong."""
        self.findings.bad(self.file.path, position, reason)

    def step(self) -> None:
        """Go to the next entry that comes after the one before it, as all of them must."""
        before = self.entry
        self.entry = None
        for first, second in self._entries:
            self._number += 1
            if before is None or self._rises(before, (first, second)):
                self.entry = (first, second)
                return
            self.bad(self.position, f"entry {self._number} does not come after the one before it")

    def _rises(self, before: tuple[int, int], entry: tuple[int, int]) -> bool:
        return entry[0] > before[0] and entry[1] > before[1]

    def close(self) -> None:
        """Give the file back."""
        self._closing.close()


class OffsetIndexCheck(_IndexCheck):
    """Holds `.index` against the batches."""

    layout = offset_index.LAYOUT

    def __init__(self, disk: Disk, file: LogFile, findings: Findings) -> None:
        super().__init__(disk, file, findings)
        self._last_offset = _NOTHING

    def see(self, batch: Batch) -> None:
        """The next batch of the segment."""
        base_offset = self.file.base_offset or 0
        while self.entry is not None and self.entry[1] <= batch.position:
            offset, position = base_offset + self.entry[0], self.entry[1]
            if position < batch.position:
                reason = f"offset {offset} is said to be at {position}, where no batch begins"
                self.bad(self.position, reason)
            elif self._last_offset >= offset:
                reason = f"offset {offset} is said to be at {position}, but it lies before"
                self.bad(self.position, reason)
            self.step()
        self._last_offset = batch.row.last_offset

    def skip(self, damage: Damage) -> None:
        """What points into damage is not judged."""
        while self.entry is not None and self.entry[1] < damage.position + damage.size_bytes:
            self.step()

    def end(self) -> None:
        """The segment is over."""
        while self.entry is not None:
            offset, position = (self.file.base_offset or 0) + self.entry[0], self.entry[1]
            reason = f"offset {offset} is said to be at {position}, which is behind the last batch"
            self.bad(self.position, reason)
            self.step()


class TimeIndexCheck(_IndexCheck):
    """Holds `.timeindex` against the batches."""

    layout = time_index.LAYOUT

    def __init__(self, disk: Disk, file: LogFile, findings: Findings) -> None:
        super().__init__(disk, file, findings)
        self._latest = _NOTHING
        self._is_whole = True
        self._has_end = True

    def _rises(self, before: tuple[int, int], entry: tuple[int, int]) -> bool:
        return entry[0] > before[0] and entry[1] >= before[1]

    def see(self, batch: Batch) -> None:
        """The next batch of the segment."""
        row = batch.row
        while self.entry is not None and self._offset() <= row.last_offset:
            self._judge(batch, self.entry[0], self._offset())
            self.step()
        self._latest = max(self._latest, row.max_timestamp)
        self._has_end = True

    def _offset(self) -> int:
        assert self.entry is not None
        return (self.file.base_offset or 0) + self.entry[1]

    def _judge(self, batch: Batch, timestamp: int, offset: int) -> None:
        """Hold an entry against what ends at or before its offset, and the batch that has it."""
        row = batch.row
        is_end = offset == row.last_offset
        latest = max(self._latest, row.max_timestamp) if is_end else self._latest
        if latest > timestamp:
            self.bad(
                self.position,
                f"up to offset {offset} nothing should be later than {shown_time(timestamp)},"
                f" but a batch has {shown_time(latest)}",
            )
        elif (
            self._is_whole
            and row.magic == 2
            and (row.base_offset > offset or row.max_timestamp < timestamp)
        ):
            reason = f"no batch with offset {offset} has the time {shown_time(timestamp)}"
            self.bad(self.position, reason)

    def skip(self, _damage: Damage) -> None:
        """A batch that is lost may have had any time, and any offset if none follows."""
        self._is_whole = self._has_end = False

    def end(self) -> None:
        """The segment is over."""
        while self._has_end and self.entry is not None:
            self.bad(self.position, f"offset {self._offset()} is behind the last batch")
            self.step()
