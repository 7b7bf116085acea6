"""Requests that wait: for something to move, or for their time to be over.

Each waits under some keys. Whoever moves a thing wakes its key: then all that wait under it are
asked, in the order in which they came, whether they are done.

Invariants
  I-WAIT-1  What was parked is completed, expired or dropped exactly once, and then under no key.
  I-WAIT-2  `next_deadline_ms` is at or before every deadline of what waits.
  I-WAIT-3  The heap holds at most twice as many entries as wait, and a few.
"""

from collections.abc import Hashable, Sequence
from heapq import heapify, heappop, heappush
from typing import Final, Protocol

_SPARE_ENTRIES: Final = 64


class Parked(Protocol):
    """A request that waits; it answers its client itself."""

    @property
    def keys(self) -> Sequence[Hashable]:
        """What it waits for; the same as long as it waits."""
        ...

    @property
    def deadline_ms(self) -> int:
        """When its time is over."""
        ...

    def complete(self, *, is_expired: bool) -> bool:
        """Answer if it is done or expired; say whether it has answered."""
        ...


class Waiting:
    """All that waits on a node."""

    __slots__ = ("_by_key", "_heap", "_number", "_numbers")

    def __init__(self) -> None:
        self._by_key: dict[Hashable, dict[int, Parked]] = {}
        self._numbers: dict[int, int] = {}  # The number of what waits, by the id of it.
        self._heap: list[tuple[int, int, Parked]] = []
        self._number = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._by_key

    def park(self, parked: Parked) -> None:
        """Let it wait."""
        self._number += 1
        number = self._number
        assert id(parked) not in self._numbers, "I-WAIT-1"
        self._numbers[id(parked)] = number
        for key in parked.keys:
            self._by_key.setdefault(key, {})[number] = parked
        heappush(self._heap, (parked.deadline_ms, number, parked))
        self._trim()

    def wake(self, key: Hashable) -> None:
        """Ask those who wait under a key whether they are done."""
        waiting = self._by_key.get(key)
        if waiting is None:
            return
        for parked in list(waiting.values()):
            if id(parked) in self._numbers and parked.complete(is_expired=False):
                self.drop(parked)

    def expire(self, now_ms: int) -> None:
        """Let those answer whose time is over."""
        heap = self._heap
        while heap and heap[0][0] <= now_ms:
            _, number, parked = heappop(heap)
            if self._numbers.get(id(parked)) == number:
                has_answered = parked.complete(is_expired=True)
                assert has_answered, "I-WAIT-1"
                self.drop(parked)

    def drop(self, parked: Parked) -> None:
        """Let it wait no longer, as it has answered or nobody wants its answer."""
        number = self._numbers.pop(id(parked), None)
        if number is None:
            return
        for key in parked.keys:
            waiting = self._by_key[key]
            waiting.pop(number, None)
            if not waiting:
                del self._by_key[key]

    def next_deadline_ms(self) -> int | None:
        """When the next one expires; what is done already may make it earlier, never later."""
        heap = self._heap
        while heap and self._numbers.get(id(heap[0][2])) != heap[0][1]:
            heappop(heap)
        return heap[0][0] if heap else None

    def _trim(self) -> None:
        """Let go of what no longer waits, or a long deadline would keep it in memory."""
        if len(self._heap) > 2 * len(self._numbers) + _SPARE_ENTRIES:
            numbers = self._numbers
            self._heap = [one for one in self._heap if numbers.get(id(one[2])) == one[1]]
            heapify(self._heap)
