"""Which transactions hold back the last stable offset.

A transaction is open from its first batch to its marker. Once that is there the transaction is
decided, but unstable until the marker is below the high watermark, since it could still be lost.

Invariants:
I-TXN-1  Transactions open in the order of their first offsets, of which no two are the same.
I-TXN-2  Markers come in the order of their offsets, so what gets stable is a prefix of the decided.
I-TXN-3  No record at or past the first unstable offset is read as committed.
"""

from bisect import bisect_left, insort
from collections import deque
from typing import NamedTuple


class CompletedTransaction(NamedTuple):
    """A transaction that ended: `last_offset` is that of its marker.

    If it was aborted, these are the facts that the transaction index keeps.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool
    last_stable_offset: int  # Before which all was decided when the marker came.


class OpenTransactions:
    """The transactions of a partition that are open or unstable."""

    __slots__ = ("_decided", "_open", "_unstable")

    def __init__(self) -> None:
        self._open: dict[int, int] = {}  # Producer id by first offset.
        self._decided: deque[tuple[int, int]] = deque()  # Marker's offset and first offset.
        self._unstable: list[int] = []  # First offsets of the decided, sorted.

    def begin(self, producer_id: int, first_offset: int) -> None:
        """Note a producer's first batch in a transaction."""
        assert not self._open or first_offset > next(reversed(self._open)), "I-TXN-1"
        self._open[first_offset] = producer_id

    def complete(self, first_offset: int, marker_offset: int) -> int:
        """Note a marker; answer the offset below which all is decided now."""
        del self._open[first_offset]
        assert not self._decided or marker_offset > self._decided[-1][0], "I-TXN-2"
        self._decided.append((marker_offset, first_offset))
        insort(self._unstable, first_offset)
        return next(iter(self._open), marker_offset + 1)

    def release(self, end_offset: int) -> None:
        """Let go of the decided transactions whose marker lies before an offset."""
        while self._decided and self._decided[0][0] < end_offset:
            _, first_offset = self._decided.popleft()
            del self._unstable[bisect_left(self._unstable, first_offset)]

    def clear(self) -> None:
        """Forget all of them."""
        self._open.clear()
        self._decided.clear()
        self._unstable.clear()

    @property
    def has_decided(self) -> bool:
        """Is there a marker that could still be lost?"""
        return bool(self._decided)

    @property
    def first_undecided_offset(self) -> int | None:
        """Where the oldest open transaction began."""
        return next(iter(self._open), None)

    @property
    def oldest_producer_id(self) -> int | None:
        """Whose transaction has been open since the lowest offset."""
        return next(iter(self._open.values()), None)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction began that is open or not yet stable."""
        undecided = next(iter(self._open), None)
        if not self._unstable:
            return undecided
        return self._unstable[0] if undecided is None else min(undecided, self._unstable[0])
