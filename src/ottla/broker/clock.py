"""The time as a node knows it, and its source of chance: both are given to it."""

from typing import Protocol

from ottla.wire.fields import Uuid
from ottla.wire.uuids import uuid_of_random


class Chance(Protocol):
    """What a node draws from; `random.Random` is one."""

    def randrange(self, stop: int, /) -> int:
        """Draw a number below another."""
        ...

    def randbytes(self, n: int, /) -> bytes:
        """Draw so many bytes."""
        ...

    def getrandbits(self, k: int, /) -> int:
        """Draw a number of at most so many bits."""
        ...


class Clock:
    """The time of the last tick."""

    __slots__ = ("now_ms", "wall_ms")

    def __init__(self, now_ms: int = 0, wall_ms: int = 0) -> None:
        self.now_ms = now_ms
        self.wall_ms = wall_ms


def draw_id(chance: Chance) -> Uuid:
    """Draw a new id."""
    return uuid_of_random(chance.randbytes(16))
