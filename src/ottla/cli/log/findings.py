"""What is wrong with files, and what is only worth knowing, as it is found."""

from collections.abc import Callable
from typing import NamedTuple


class Finding(NamedTuple):
    """Something at a place in a file; a note is nothing bad."""

    path: str
    position: int | None
    reason: str
    is_note: bool = False


class Findings:
    """Tells of each finding at once, and counts them."""

    def __init__(self, tell: Callable[[Finding], None]) -> None:
        self.bad_count = 0
        self.notes_count = 0
        self._tell = tell

    def bad(self, path: str, position: int | None, reason: str) -> None:
        """Something is wrong."""
        self.bad_count += 1
        self._tell(Finding(path, position, reason))

    def note(self, path: str, reason: str) -> None:
        """Something is worth knowing."""
        self.notes_count += 1
        self._tell(Finding(path, None, reason, is_note=True))
