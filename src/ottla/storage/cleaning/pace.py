"""How fast a cleaning may go, and whether it may go on.

Storage has no clock: whoever runs a cleaning gives it a pace, which is told of all bytes that were
read or written, and waits or not. `Throttle` says how long.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

INTERVAL_MS: Final = 300
"""How long the rate is watched before it is judged; a pause makes up for all of it."""

Pace: TypeAlias = Callable[[int], None]


class Throttle:
    """Keeps all cleanings of a node together to so many bytes a second."""

    __slots__ = ("_begun_ms", "_bytes", "bytes_per_second")

    def __init__(self, bytes_per_second: float, now_ms: float) -> None:
        assert bytes_per_second > 0
        self.bytes_per_second = bytes_per_second
        self._begun_ms = now_ms
        self._bytes = 0

    def wait_ms(self, size_bytes: int, now_ms: float) -> float:
        """How long to wait, after so many bytes more, before the next."""
        self._bytes += size_bytes
        passed_ms = now_ms - self._begun_ms
        if passed_ms <= INTERVAL_MS:
            return 0
        waits_ms = max(0.0, self._bytes / self.bytes_per_second * 1000 - passed_ms)
        self._begun_ms = now_ms + waits_ms
        self._bytes = 0
        return waits_ms


def unhurried(size_bytes: int) -> None:
    """Go on at once."""
    del size_bytes
