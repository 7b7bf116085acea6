"""Where lines come from, and whether more of them are about to come."""

import os
from collections.abc import Iterable, Iterator
from select import select
from typing import Final

_CHUNK_BYTES: Final = 1 << 16
_IDLE_SECONDS: Final = 0.01


class Lines:
    """Lines that are all there."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._lines)

    def is_idle(self) -> bool:
        """Must the next line be waited for, so that what was read should not wait for it?"""
        return False


class LiveLines(Lines):
    """Lines that a person types, or a program writes when it has something to say."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(self._read(descriptor))
        self._descriptor = descriptor
        self._has_more = False

    def _read(self, descriptor: int) -> Iterator[bytes]:
        rest = b""
        while chunk := os.read(descriptor, _CHUNK_BYTES):
            *whole, rest = (rest + chunk).split(b"\n")
            for left, line in zip(range(len(whole) - 1, -1, -1), whole, strict=True):
                self._has_more = left > 0
                yield line
        self._has_more = True
        if rest:
            yield rest

    def is_idle(self) -> bool:
        if self._has_more:
            return False
        return not select([self._descriptor], [], [], _IDLE_SECONDS)[0]
