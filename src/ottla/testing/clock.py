"""The clock of a broker in a test: it goes as always, and jumps when it is told to."""

from collections.abc import Callable


class BrokerClock:
    """How far a broker's time is ahead of the machine's, for deadlines and for timestamps."""

    def __init__(self, advance: Callable[[int], None]) -> None:
        """`advance` lets a broker's time have passed."""
        self._advance = advance

    def advance(self, ms: int) -> None:
        """Let so much time have passed at once; what is due by then is done when this returns."""
        if ms < 0:
            raise ValueError("time does not go back")
        self._advance(ms)
