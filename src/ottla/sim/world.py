"""A world in which nodes run: one heap of what is going to happen, one seed, one clock.

Everything that happens is an action at a time, and of two at the same time the one that was planned
first comes first. All chance comes from the one seed, so a run is had again by its seed alone. Each
event is a line of the trace: the time in milliseconds, who, what. The trace's hash tells whether
two runs were the same.
"""

from collections.abc import Callable
from hashlib import sha256
from heapq import heappop, heappush
from random import Random
from typing import Final

EPOCH_MS: Final = 1_700_000_000_000
"""What the wall clock says when a world begins."""


class World:
    """The heap, the clock, the chance and the trace."""

    def __init__(self, seed: int, *, keeps_trace: bool = False) -> None:
        """Begin at time zero; keep the lines of the trace only if somebody wants to see them."""
        self.chance = Random(seed)
        self.now_ms = 0
        self.trace: list[str] = []
        self._keeps_trace = keeps_trace
        self._hash = sha256()
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0

    @property
    def wall_ms(self) -> int:
        """What the wall clock says."""
        return EPOCH_MS + self.now_ms

    @property
    def trace_hash(self) -> str:
        """The hash of all that has happened so far."""
        return self._hash.hexdigest()

    def after(self, delay_ms: int, action: Callable[[], None]) -> None:
        """Let something happen after a delay."""
        assert delay_ms >= 0
        self._number += 1
        heappush(self._heap, (self.now_ms + delay_ms, self._number, action))

    def soon(self, delay_ms_max: int, action: Callable[[], None]) -> None:
        """Let something happen within a delay that chance draws."""
        self.after(self.chance.randrange(delay_ms_max + 1), action)

    def say(self, who: str, what: str) -> None:
        """Add a line to the trace."""
        line = f"{self.now_ms:8} {who:10} {what}"
        self._hash.update(line.encode() + b"\n")
        if self._keeps_trace:
            self.trace.append(line)

    def run(self, until_ms: int) -> None:
        """Let everything happen up to a time, which it is then."""
        while self._heap and self._heap[0][0] <= until_ms:
            self.now_ms, _, action = heappop(self._heap)
            action()
        self.now_ms = until_ms
