"""Which transactions were aborted in a segment: `<base offset>.txnindex`.

An entry is made when the abort marker is appended, so entries rise by their last offset, which is
the marker's. A consumer that reads only what is committed gets those that overlap what it reads.
The file exists only if there is an entry.
"""

from struct import Struct
from typing import Final, NamedTuple

from ottla.storage.entries import EntryFile, LyingIndex
from ottla.storage.handles import Handles

VERSION: Final = 0
LAYOUT: Final = Struct(">hqqqq")
_LAST_OFFSET: Final = 3


class AbortedTransaction(NamedTuple):
    """From its first record to its marker, and the last stable offset when it was aborted."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class Overlapping(NamedTuple):
    """Aborted transactions, and whether the next segment's index need not be asked."""

    transactions: list[AbortedTransaction]
    is_complete: bool


class TransactionIndex:
    """The transaction index of one segment."""

    def __init__(self, handles: Handles, path: str, base_offset: int) -> None:
        self.base_offset = base_offset
        self.entries = EntryFile(handles, path, LAYOUT, is_allocated=False)

    @property
    def has_new_name(self) -> bool:
        """Must the folder be brought to the device for it? Nobody would miss the file."""
        return self.entries.has_new_name

    def append(self, aborted: AbortedTransaction) -> None:
        """Add a transaction; their markers come one after the other."""
        last = self.entries.last
        assert last is None or aborted.last_offset > last[_LAST_OFFSET], self.entries.path
        self.entries.append(VERSION, *aborted)

    def overlapping(self, first_offset: int, end_offset: int) -> Overlapping:
        """The transactions with records between two offsets, the second exclusive.

        Also says whether that is all: a transaction whose last stable offset lies at or past the
        end was aborted when everything before was decided, so no later one reaches back.
        """
        found: list[AbortedTransaction] = []
        for index in range(
            self.entries.count_at_or_below(first_offset - 1, _LAST_OFFSET), len(self.entries)
        ):
            aborted = self._aborted(index)
            if aborted.first_offset > aborted.last_offset:
                raise LyingIndex(f"{self.entries.path}: entry {index} ends before it begins")
            if aborted.first_offset < end_offset:
                found.append(aborted)
            if aborted.last_stable_offset >= end_offset:
                return Overlapping(found, is_complete=True)
        return Overlapping(found, is_complete=False)

    def truncate_to(self, offset: int) -> None:
        """Forget transactions whose marker is at an offset or past it."""
        self.entries.truncate(self.entries.count_at_or_below(offset - 1, _LAST_OFFSET))

    def check(self) -> None:
        """Raise what is wrong: each entry has the version, and ends within its segment."""
        for index in range(len(self.entries)):
            if self._aborted(index).last_offset < self.base_offset:
                raise LyingIndex(f"{self.entries.path}: entry {index} ends below the base offset")

    def _aborted(self, index: int) -> AbortedTransaction:
        version, *values = self.entries[index]
        if version != VERSION:
            raise LyingIndex(f"{self.entries.path}: entry {index} has version {version}")
        return AbortedTransaction(*values)
