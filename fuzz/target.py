"""What a fuzz target is: an entry point for bytes from outside, and what it may do with them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from ottla.kernels.faults import Malformed
from ottla.wire.codec import UnsupportedVersion
from ottla.wire.fields import Buffer

SLACK_BYTES: Final = 64 << 10
"""What decoding a message may cost beyond four times its bytes, in all targets that can say so."""
INFLATED_BYTES_MAX: Final = 64 << 10
"""What a compressed batch may hold, in all targets."""
PYTHON_BYTES: Final = 32 << 10
"""What an error with its trace, or the reading code itself, may take at any time."""


def _as_it_is(data: bytearray, random: Random) -> bytearray:
    del random
    return data


def _nothing(value: object) -> None:
    del value


@dataclass(frozen=True, slots=True)
class Target:
    """One entry point.

    The first bytes of an input may choose among options, so that the input alone says all.
    """

    name: str
    read: Callable[[Buffer], Any]
    """Takes an input; gives anything whose text depends on nothing but the input."""
    seeds: Callable[[], Iterable[bytes]]
    """Good inputs, always the same ones."""
    faults: tuple[type[Exception], ...] = (Malformed, UnsupportedVersion)
    """What may be raised; everything else is a finding."""
    check: Callable[[Any], object] = _nothing
    """What must hold of what was read; it raises nothing at all."""
    repair: Callable[[bytearray, Random], bytearray] = _as_it_is
    """Puts right, sometimes, the lengths and checksums of a changed input."""
    tokens: tuple[bytes, ...] = ()
    """What is put into inputs now and then."""
    share: int = 10
    """Its part of all executions, relative to that of the others."""
    ratio_max: int = 4
    slack_bytes: int = SLACK_BYTES

    def memory_bytes_max(self, input_bytes: int) -> int:
        """The most that reading an input may take at any time."""
        return self.ratio_max * input_bytes + self.slack_bytes + PYTHON_BYTES
