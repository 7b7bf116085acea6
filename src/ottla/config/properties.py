"""Java's .properties files, read and written as java.util.Properties does.

A file is Latin-1; anything else stands in it as \\uXXXX, beyond the basic plane as two of them. A
logical line may go on over several natural ones, which end in an odd number of backslashes.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ottla.config.faults import MalformedProperties

_SPACE: Final = " \t\f"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# Possessive, so that no way back is remembered: that would take 140 bytes for each of a long key.
_KEY: Final = re.compile(r"(?:[^\\=: \t\f]++|\\.)*+", re.DOTALL)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(u)|(.))", re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN: Final = {
    **{char: f"\\{letter}" for letter, char in _ESCAPED.items()},
    **{char: f"\\{char}" for char in "\\=:#!"},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One key and its value, and the line on which it begins."""

    key: str
    value: str
    line: int


def load(data: bytes) -> dict[str, str]:
    """What a file says; of several values for a key the last one."""
    return {entry.key: entry.value for entry in entries(data.decode("latin-1"))}


def entries(text: str) -> Iterator[Entry]:
    """Every key and value of a text, in order, repeated keys too; MalformedProperties if wrong."""
    for line, logical in _logical_lines(text):
        found = _KEY.match(logical)
        assert found is not None, "the pattern matches nothing, too"
        separator = _SEPARATOR.match(logical, found.end())
        assert separator is not None, "the pattern matches nothing, too"
        yield Entry(_unescaped(found[0], line), _unescaped(logical[separator.end() :], line), line)


def dump(values: Mapping[str, str], comment: str = "") -> bytes:
    """A file that says this, in the order given, under a comment of as many lines as it has."""
    lines = [f"#{_escaped_beyond_latin(line)}" for line in _LINE_END.split(comment) if comment]
    lines += [f"{_escaped_key(key)}={_escaped_value(value)}" for key, value in values.items()]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines joined where they go on, without comments and blank ones, by the first one's number."""
    pending = ""
    start = 0
    natural = _LINE_END.split(text)
    last = len(natural) if natural[-1] else len(natural) - 1
    for number, line in enumerate(natural[:last], 1):
        stripped = line.lstrip(_SPACE)
        # Java forgets that a line goes on if nothing but the backslash stood on it.
        if not pending:
            if not stripped or stripped[0] in "#!":
                continue
            start = number
        goes_on = (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1
        pending += stripped[:-1] if goes_on else stripped
        # At the end of the file Java sees a line feed after a carriage return as one more line.
        if goes_on and (number < last or text.endswith("\r\n")):
            continue
        yield start, pending
        pending = ""
    if pending:
        yield start, pending


def _unescaped(text: str, line: int) -> str:
    if "\\" not in text:
        return text

    def meant(found: re.Match[str]) -> str:
        if found[2]:
            raise MalformedProperties(line, "\\u needs four hexadecimal digits")
        if found[1]:
            return chr(int(found[1], 16))
        return _ESCAPED.get(found[3], found[3])

    plain = _ESCAPE.sub(meant, text)
    if _SURROGATE.search(plain):
        # Two escapes make one character; half a pair stays what it is, as in Java.
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return plain


def _escaped_key(key: str) -> str:
    return _escaped(key).replace(" ", "\\ ")


def _escaped_value(value: str) -> str:
    return _escaped(value) if value[:1] != " " else f"\\{_escaped(value)}"


def _escaped(text: str) -> str:
    return "".join(
        _WRITTEN.get(char) or (char if " " <= char <= "~" else _units(char)) for char in text
    )


def _escaped_beyond_latin(text: str) -> str:
    return "".join(char if char <= "\xff" else _units(char) for char in text)


def _units(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
