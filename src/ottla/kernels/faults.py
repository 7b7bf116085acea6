"""The few errors that bytes can cause; each says what is wrong and names the place.

`Malformed` is the peer's fault or the disk's: bytes that are not what they claim to be.
`Unencodable` is ours: a value that the chosen version or type cannot carry.
"""

from collections.abc import Sequence


class _Placed(ValueError):
    """An error that collects the path to its place while it passes through nested values."""

    def __init__(self, reason: str, position: int = -1) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
        self.path: list[str | int] = []

    @property
    def place(self) -> str:
        """The path from the outermost value, as `FetchRequest.topics[3].partitions`."""
        return _written(list(reversed(self.path)))

    def __str__(self) -> str:
        at = f" at byte {self.position}" if self.position >= 0 else ""
        return f"{self.place}{at}: {self.reason}".lstrip() if self.path or at else self.reason


class Malformed(_Placed):
    """Bytes from outside that cannot be read as what they should be."""


class Truncated(Malformed):
    """The bytes end before the value does, or a length points past their end."""


class InvalidValue(Malformed):
    """A value that its type forbids: a null, a negative length, a wrong checksum."""


class LimitExceeded(Malformed):
    """The bytes ask for more memory than they are allowed to cost."""


class Unencodable(_Placed):
    """A value that cannot be written: out of range, null, or unknown to the version asked for."""


def _written(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text
