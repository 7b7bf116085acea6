"""Changes to an input: bits, lengths, varints, pieces of itself or of another one."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

INPUT_BYTES_MAX: Final = 8 << 10
_NUMBERS: Final = tuple(
    number.to_bytes(width, "big")
    for width in (1, 2, 4, 8)
    for number in sorted(
        {
            edge % (1 << 8 * width)
            for bits in (7, 8, 15, 16, 31, 32, 63, 64)
            for edge in ((1 << bits) - 2, (1 << bits) - 1, 1 << bits, (1 << bits) + 1)
        }
        | set(range(9))
        | {(1 << 8 * width) - 1, (1 << 8 * width) - 2, 1000 % (1 << 8 * width)}
    )
)
_VARINTS: Final = (
    *(b"\xff" * count + end for count in range(1, 11) for end in (b"\0", b"\1", b"\x0f", b"\x7f")),
    *(b"\x80" * count + end for count in range(1, 10) for end in (b"\0", b"\1", b"\x10")),
)
_SMALL: Final = tuple(bytes([one]) for one in (0, 1, 2, 3, 4, 5, 0x3F, 0x40, 0x7F, 0x80, 0xFF))
_CHANGES_MAX: Final = 4
_SWELLS: Final = 0.001


class Mutator:
    """Makes inputs of good ones, the same for the same seed."""

    def __init__(self, pool: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> None:
        self.pool = list(pool)
        self._tokens = tuple(tokens) or _VARINTS
        self._random = random
        self._changes: tuple[Callable[[bytearray, int], None], ...] = (
            self._flip,
            self._flip,
            self._set,
            self._set,
            self._step,
            self._step,
            self._overwrite,
            self._overwrite,
            self._varint,
            self._remove,
            self._repeat,
            self._splice,
            self._token,
            self._cut,
            self._noise,
        )

    def made(self) -> bytearray:
        """One of the pool with a few changes."""
        return self.changed(bytearray(self._of(self.pool)))

    def changed(self, data: bytearray) -> bytearray:
        """The same bytes with a few changes."""
        random = self._random
        changes = self._changes
        for _ in range(1 + int(random.random() * random.random() * _CHANGES_MAX)):
            at = int(random.random() * (len(data) + 1))
            changes[int(random.random() * len(changes))](data, at)
        if random.random() < _SWELLS:
            self._swell(data, int(random.random() * (len(data) + 1)))
        if len(data) > INPUT_BYTES_MAX:
            del data[INPUT_BYTES_MAX:]
        return data

    def _of(self, some: Sequence[bytes]) -> bytes:
        return some[int(self._random.random() * len(some))]

    def _flip(self, data: bytearray, at: int) -> None:
        if at < len(data):
            data[at] ^= 1 << int(self._random.random() * 8)

    def _set(self, data: bytearray, at: int) -> None:
        data[at : at + 1] = self._of(_SMALL)

    def _step(self, data: bytearray, at: int) -> None:
        """A length that is one too much or too little, or two of them as a varint tells it."""
        if at < len(data):
            data[at] = (data[at] + (1, 255, 2, 254)[int(self._random.random() * 4)]) & 255

    def _overwrite(self, data: bytearray, at: int) -> None:
        number = self._of(_NUMBERS)
        data[at : at + len(number)] = number

    def _varint(self, data: bytearray, at: int) -> None:
        data[at : at + int(self._random.random() * 3)] = self._of(_VARINTS)

    def _remove(self, data: bytearray, at: int) -> None:
        del data[at : at + 1 + int(self._random.random() * 16)]

    def _repeat(self, data: bytearray, at: int) -> None:
        part = data[at : at + 1 + int(self._random.random() * 32)]
        data[at:at] = part * (1 + int(self._random.random() * 3))

    def _swell(self, data: bytearray, at: int) -> None:
        """Some byte of the input very often: reading it may not take the square of its length."""
        data[at:at] = data[at : at + 1] * (INPUT_BYTES_MAX - len(data))

    def _splice(self, data: bytearray, at: int) -> None:
        """The end of another input in the place of its own."""
        other = self._of(self.pool)
        data[at:] = other[int(self._random.random() * len(other)) :]

    def _token(self, data: bytearray, at: int) -> None:
        data[at:at] = self._of(self._tokens)

    def _cut(self, data: bytearray, at: int) -> None:
        del data[at:]

    def _noise(self, data: bytearray, at: int) -> None:
        count = 1 + int(self._random.random() * 6)
        data[at : at + count] = self._random.randbytes(count)
