"""The offset and the time index of a segment, which get their entries at the same batches.

After more than an interval of bytes, the next batch gets an entry in both: its last offset and its
position, and the largest time so far with the last offset of the batch that brought it. At the roll
the largest time of all gets its entry too. Kafka's own rule; a test holds the bytes against it.

Invariants
  I-SIX-1  An entry is made only for a batch that was written.
  I-SIX-2  `latest` is at or past every time of the segment, once it is known.
"""

from collections.abc import Sequence

from ottla.ports import File
from ottla.records.scan import BatchRow
from ottla.storage.checked_batches import CheckedBatches
from ottla.storage.entries import EntryFile
from ottla.storage.handles import Handles
from ottla.storage.offset_index import LAYOUT as OFFSETS
from ottla.storage.offset_index import OffsetIndex
from ottla.storage.time_index import LAYOUT as TIMES
from ottla.storage.time_index import TimeIndex, TimestampOffset

NO_TIMESTAMP = -1
# Columns by number: a name costs twice as much, and this is done for every batch.
_SIZE, _LAST_OFFSET, _TIME = (
    BatchRow._fields.index(name) for name in ("size_bytes", "last_offset", "max_timestamp")
)


class SegmentIndexes:
    """What finds batches of one segment by offset and by time."""

    __slots__ = (
        "_bytes_since_entry",
        "_entries_left",
        "_interval_bytes",
        "latest",
        "offsets",
        "times",
    )

    def __init__(
        self, handles: Handles, names: tuple[str, str], base_offset: int, sizes: tuple[int, int]
    ) -> None:
        """`names` are the paths of both indexes; `sizes` the interval and how large each gets."""
        self._interval_bytes, bytes_max = sizes
        self.offsets = OffsetIndex(handles, names[0], base_offset, bytes_max)
        self.times = TimeIndex(handles, names[1], base_offset, bytes_max)
        self.latest: TimestampOffset | None = None
        self._bytes_since_entry = 0
        self._entries_left = 0  # So many fit in both for certain; at 0 they are asked.

    @property
    def is_full(self) -> bool:
        """Is there no room in one of them for another entry?"""
        if self._entries_left > 0:
            return False
        offsets, times = self.offsets, self.times
        return (
            len(offsets.entries) >= offsets.entries_max or len(times.entries) >= times.entries_max
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """How many bytes of entries both have."""
        return len(self.offsets.entries) * OFFSETS.size, len(self.times.entries) * TIMES.size

    @property
    def files(self) -> tuple[EntryFile, EntryFile]:
        """The files of both."""
        return self.offsets.entries, self.times.entries

    def clear(self) -> None:
        """Forget every entry, as if no batch had been written."""
        for file in self.files:
            file.clear()
        self._entries_left = 0
        self.latest = TimestampOffset(NO_TIMESTAMP, self.offsets.base_offset)
        self._bytes_since_entry = 0

    def note(self, rows: Sequence[BatchRow], position: int) -> int:
        """Make what entries are due for batches written from a position on; give where they end."""
        assert self.latest is not None, "an append begins with the latest time known"
        latest = self.latest
        timestamp, offset = latest
        since, interval_bytes = self._bytes_since_entry, self._interval_bytes
        for row in rows:
            size_bytes, last_offset, max_timestamp = row[_SIZE], row[_LAST_OFFSET], row[_TIME]
            if max_timestamp > timestamp:
                timestamp, offset = max_timestamp, last_offset
            if since > interval_bytes and (self._entries_left > 0 or self._has_room()):
                self._entries_left -= 1
                self.offsets.entries.append(last_offset - self.offsets.base_offset, position)
                self.times.append(timestamp, offset)
                since = 0
            since += size_bytes
            position += size_bytes
        if timestamp > latest[0]:
            self.latest = TimestampOffset(timestamp, offset)
        self._bytes_since_entry = since
        return position

    def _has_room(self) -> bool:
        """Is there room for an entry in both? How much is remembered, as entries only come."""
        offsets, times = self.offsets, self.times
        of_offsets = offsets.entries_max - offsets.entries.count
        # The last room for a time is for the one that the roll adds.
        self._entries_left = min(of_offsets, times.entries_max - 1 - times.entries.count)
        return self._entries_left > 0

    def check(self) -> CheckedBatches:
        """A walk over all batches of the segment that makes the entries which `note` would make."""
        offsets, times = self.offsets, self.times
        # One place in the time index is kept for the roll.
        entries_max = (offsets.entries_max, times.entries_max - 1)
        return CheckedBatches(offsets.base_offset, self._interval_bytes, entries_max)

    def take(self, checked: CheckedBatches) -> None:
        """Let the entries be those that a walk over all batches made."""
        for file, entries in zip(self.files, checked.entries, strict=True):
            file.fill(entries)
        self.latest = TimestampOffset(*checked.latest)
        self._bytes_since_entry = checked.unindexed_bytes

    def truncate_to(self, offset: int) -> None:
        """Forget batches that end at or past an offset."""
        self.offsets.truncate_to(offset)
        self.times.truncate_to(offset)
        self.latest = None
        self._bytes_since_entry = 0

    def finish(self) -> None:
        """Write all entries, the one of the latest time too, and cut what room is left."""
        assert self.latest is not None, "a segment is finished after its latest time is known"
        self._entries_left = 0
        self.times.append(*self.latest)
        for file in self.files:
            file.make()
            file.trim()

    @property
    def has_page(self) -> bool:
        """Do so many entries wait in one of them that they should be written?"""
        return self.offsets.entries.has_page or self.times.entries.has_page

    def write_pages(self) -> None:
        """Write entries of which there are many by now."""
        for file in (self.offsets.entries, self.times.entries):
            if file.has_page:
                file.write_page()

    def write(self) -> None:
        """Write what waits."""
        for file in self.files:
            file.write()

    def unsynced(self) -> list[File]:
        """The files that were written to and are not on the device."""
        return [file for file in (one.unsynced() for one in self.files) if file is not None]
