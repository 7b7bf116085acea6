"""Where a command writes: lines for the reader, notes and a progress bar for who waits."""

import io
import os
import sys
from collections.abc import Mapping
from typing import Final, Self, TextIO

from ottla.cli.progress import Progress

_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


class Terminal:
    """The two outputs of a command; a bar on the second never stands in the way of the first."""

    def __init__(self, out: TextIO, err: TextIO, environment: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        is_dumb = environment.get("TERM") == "dumb"
        self.is_interactive = out.isatty()
        self.is_colourful = out.isatty() and not is_dumb and not environment.get("NO_COLOR")
        self._has_bar = err.isatty() and not is_dumb
        self._bars_beside = err.isatty() and out.isatty()
        self._progress: Progress | None = None

    @classmethod
    def of_process(cls) -> Self:
        """The outputs of this process; what they cannot show is written as an escape."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        return cls(sys.stdout, sys.stderr, os.environ)

    def say(self, line: str) -> None:
        """Write a line of the answer."""
        if self._bars_beside and self._progress is not None:
            self._progress.clear()
        self._out.write(line + "\n")

    def ask(self, question: str) -> None:
        """Write a question beside the answer; the cursor stays behind it."""
        if self._progress is not None:
            self._progress.clear()
        self._out.flush()
        self._err.write(question)
        self._err.flush()

    def flush(self) -> None:
        """Let what was written be seen, before something is waited for."""
        self._out.flush()

    def note(self, line: str) -> None:
        """Write a line beside the answer."""
        if self._progress is not None:
            self._progress.clear()
        self._out.flush()
        self._err.write(line + "\n")

    def paint(self, text: str, style: str) -> str:
        """A text in a style, if the answer is read on a terminal that has any."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.is_colourful else text

    def progress(self, total_bytes: int, *, beside_output: bool = True) -> Progress:
        """A bar for long work, or one that never shows where nobody would see it.

        Where the answer itself scrolls by on the same terminal it may be told not to show.
        """
        shows = self._has_bar and (beside_output or not self._bars_beside)
        self._progress = Progress(self._err if shows else None, total_bytes)
        return self._progress
