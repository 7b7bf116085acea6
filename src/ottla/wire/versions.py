"""Ranges of versions, as Kafka's schemas write them: `0+`, `3-11`, `4`, `none`."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

VERSION_MAX: Final = 32767


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions from `first` to `last`, both within; none if `last` is below `first`."""

    first: int
    last: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `0+`, `3-11`, `4` or `none`."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), VERSION_MAX)
        first, _, last = text.partition("-")
        return cls(int(first), int(last or first))

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __bool__(self) -> bool:
        return self.first <= self.last

    def __and__(self, other: "VersionRange") -> "VersionRange":
        return VersionRange(max(self.first, other.first), min(self.last, other.last))

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        if not self:
            return "none"
        if self.last == VERSION_MAX:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


ALL: Final = VersionRange(0, VERSION_MAX)
NO_VERSIONS: Final = VersionRange(0, -1)
