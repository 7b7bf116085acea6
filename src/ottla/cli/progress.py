"""A bar for long work: how much of it is done, how fast, and how long it will still take."""

import os
from collections.abc import Callable
from time import monotonic
from typing import Final, Self, TextIO

from ottla.cli.quantities import shown_duration, shown_size

FIRST_SECONDS: Final = 0.5
"""Work that is done sooner shows no bar."""
BETWEEN_SECONDS: Final = 0.1
_CELLS: Final = 20


class Progress:
    """Bytes done of a total, drawn over and over on one line; silent without a stream."""

    def __init__(
        self, stream: TextIO | None, total_bytes: int, clock: Callable[[], float] = monotonic
    ) -> None:
        self._stream = stream
        self._clock = clock
        self._total_bytes = total_bytes
        self._done_bytes = 0
        self._started = clock() if stream else 0.0
        self._drawn = self._started + FIRST_SECONDS - BETWEEN_SECONDS
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def advance(self, count_bytes: int, what: str = "") -> None:
        """Note bytes that are done; draw if it is time to."""
        self._done_bytes += count_bytes
        if self._stream is None:
            return
        now = self._clock()
        if now - self._drawn >= BETWEEN_SECONDS:
            self._drawn = now
            self._draw(self._stream, self.line(now - self._started, what))

    def line(self, elapsed_seconds: float, what: str) -> str:
        """What the bar says."""
        done, total = self._done_bytes, max(self._total_bytes, self._done_bytes, 1)
        cells = done * _CELLS // total
        rate = done / elapsed_seconds if elapsed_seconds > 0 else 0.0
        left = shown_duration((total - done) / rate) if rate else "?"
        bar = "#" * cells + "." * (_CELLS - cells)
        sizes = f"{shown_size(done)} / {shown_size(total)}"
        return f"[{bar}] {done * 100 // total}% {sizes} {shown_size(rate)}/s {left} left {what}"

    def clear(self) -> None:
        """Take the bar away, so that a line may be written."""
        if self._is_shown and self._stream is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_shown = False

    def _draw(self, stream: TextIO, line: str) -> None:
        stream.write(f"\r{line[: _columns(stream) - 1]}\x1b[K")
        stream.flush()
        self._is_shown = True


def _columns(stream: TextIO) -> int:
    """How wide a terminal is; 80 if it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
