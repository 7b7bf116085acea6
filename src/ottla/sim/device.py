"""What a simulated disk and its open files share: room, time, chance, and what goes wrong."""

import os
from collections.abc import Callable, Sequence
from errno import errorcode
from random import Random
from typing import Final, Protocol
from weakref import WeakKeyDictionary

from ottla.sim.content import Content
from ottla.sim.faults import (
    CutsPower,
    Fails,
    Fault,
    FaultTable,
    Operation,
    Outcome,
    PowerCut,
    WritesShort,
)

# What a device without a capacity says is free.
_PLENTY_BYTES: Final = 1 << 50


class Closable(Protocol):
    """An open file, as far as the device knows it."""

    def close(self) -> None:
        """Give it back."""
        ...


class Device:
    """The device under a simulated disk."""

    __slots__ = ("_faults", "_record", "capacity_bytes", "chance", "now_ms", "opened", "used_bytes")

    def __init__(
        self,
        now_ms: Callable[[], int],
        chance: Random,
        capacity_bytes: int | None,
        record: Callable[[str], None] | None,
    ) -> None:
        self.now_ms = now_ms
        self.chance = chance
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        # In order, so that the end of a process is the same every time.
        self.opened: WeakKeyDictionary[Closable, None] = WeakKeyDictionary()
        self._record = record
        self._faults = FaultTable()

    def inject(self, fault: Fault) -> None:
        """Let calls go wrong, counted from now."""
        self._faults.add(fault)

    def heal(self) -> None:
        """Let no more calls go wrong."""
        self._faults.clear()

    def begin(
        self,
        operation: Operation,
        paths: Sequence[str],
        numbers: Sequence[int] = (),
        lose: Callable[[], None] | None = None,
    ) -> Outcome | None:
        """Record a call, and fail it if a fault says so, after having lost what that loses."""
        outcome = self._faults.outcome(operation, paths)
        if self._record is not None:
            words = [operation.value, *paths, *map(str, numbers)]
            self._record(" ".join(words) + _told(outcome))
        if isinstance(outcome, CutsPower):
            raise PowerCut
        if isinstance(outcome, Fails):
            if lose is not None:
                lose()
            raise OSError(outcome.number, os.strerror(outcome.number), paths[0])
        return outcome

    def free_bytes(self) -> int:
        """How much room is left."""
        if self.capacity_bytes is None:
            return _PLENTY_BYTES
        return max(self.capacity_bytes - self.used_bytes, 0)

    def writable_count(
        self, content: Content, position: int, count: int, outcome: Outcome | None
    ) -> int:
        """How many bytes of a write go: none if there is no room, and few if a fault says so."""
        if self.capacity_bytes is not None:
            count = content.room_for(position, count, self.free_bytes())
        if isinstance(outcome, WritesShort) and count > 1:
            limit = outcome.bytes_max
            count = min(count, self.chance.randrange(1, count) if limit is None else limit)
        return count

    def flipped(self, data: bytes) -> bytes:
        """The same bytes with one bit wrong."""
        if not data:
            return data
        changed = bytearray(data)
        changed[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
        return bytes(changed)

    def free_if_gone(self, content: Content) -> None:
        """Give back the room of a file that has no name any more and is not open."""
        if not content.links and not content.opened:
            self.used_bytes -= content.room_bytes


def _told(outcome: Outcome | None) -> str:
    """The end of a call's line."""
    if outcome is None:
        return ""
    if isinstance(outcome, Fails):
        return f": {errorcode.get(outcome.number, outcome.number)}"
    return f": {outcome}"
