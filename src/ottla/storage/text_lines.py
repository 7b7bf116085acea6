"""Lines, words and numbers of small text files, cut where Java cuts them.

What is wrong is told with the number of its line.
"""

import re
from typing import Final

from ottla.kernels.faults import InvalidValue

INT32_MAX: Final = 2**31 - 1
INT64_MAX: Final = 2**63 - 1

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_SPACES: Final = re.compile(r"\s+", re.ASCII)
_NUMBER: Final = re.compile(r"[+-]?0*[0-9]{1,19}")
_SHOWN_LENGTH_MAX: Final = 100


class MalformedLine(InvalidValue):
    """A line of a text file that is not what its place asks for."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line

    def __str__(self) -> str:
        place = f"{self.place}, line {self.line}" if self.path else f"line {self.line}"
        return f"{place}: {self.reason}"


def text_of(data: bytes) -> str:
    """Decode a file, which is UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise InvalidValue(f"not UTF-8: {fault.reason}", fault.start) from None


def lines_of(data: bytes) -> list[str]:
    """Cut a file into lines; the last one needs no end."""
    lines = _LINE_END.split(text_of(data))
    return lines if lines[-1] else lines[:-1]


def words_of(line: str, separator: re.Pattern[str] = _SPACES) -> list[str]:
    """Cut a line into words; a separator in front makes a first, empty word, one behind nothing."""
    words = separator.split(line)
    while words and not words[-1]:
        words.pop()
    return words


def number_of(text: str, line: int, what: str, largest: int = INT32_MAX) -> int:
    """Read a number of which the largest is given, and with it the smallest."""
    if not _NUMBER.fullmatch(text):
        raise MalformedLine(f"{what} is not a number: {shown(text)}", line)
    number = int(text)
    if not -largest - 1 <= number <= largest:
        raise MalformedLine(f"{what} is too large: {shown(text)}", line)
    return number


def shown(text: str) -> str:
    """A text as a reason quotes it: not all of it, if it is long."""
    return repr(text[:_SHOWN_LENGTH_MAX])
