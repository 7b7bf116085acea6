"""Compress and decompress what batches and message sets hold, by the codec's number.

What comes out is bounded while it is made, by a number of bytes and by a ratio, so that a small
batch cannot cost much memory whatever it claims. Whatever is wrong with the bytes, the error is one
of `kernels/faults`. A codec and its library are loaded when they are first used.
"""

from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Final, Protocol, cast

from ottla.kernels.faults import InvalidValue, LimitExceeded, Unencodable
from ottla.wire.fields import Buffer


class Codec(IntEnum):
    """The codecs by their number in a batch's attributes; `zstd` is not for magic 0 and 1."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


INFLATED_BYTES_MAX: Final = 32 << 20
"""What one batch or wrapper may hold, unless the caller says otherwise.

The libraries take up to half as much again for themselves, and all of it has to stay below 64 MiB.
"""
RATIO_MAX: Final = 1024
"""How many bytes may come out of one, unless the caller says otherwise.

Gzip cannot pass 1032 nor lz4 255, so this stops zstd, which can reach 30,000; batches of real
records that are all alike stay below it.
"""
RATIO_FREE_BYTES: Final = 4 << 20
"""What may come out whatever the ratio: a few equal records compress to next to nothing."""


@dataclass(frozen=True, slots=True)
class LevelRange:
    """The levels that a codec has, both ends within, and the one used if none is asked for."""

    first: int
    last: int
    default: int

    def __contains__(self, level: int) -> bool:
        return self.first <= level <= self.last or level == self.default


LEVELS: Final[dict[int, LevelRange]] = {
    Codec.GZIP: LevelRange(1, 9, -1),
    Codec.LZ4: LevelRange(1, 17, 9),
    Codec.ZSTD: LevelRange(-131072, 22, 3),
}
"""What `compression.<codec>.level` may be, as in Kafka; snappy has no levels."""


class InvalidLevel(ValueError):
    """A codec was asked for a level that it does not have."""

    def __init__(self, codec: int, level: int) -> None:
        super().__init__(f"{Codec(codec).name.lower()} has no level {level}")
        self.codec = codec
        self.level = level


class _Implementation(Protocol):
    """What every module of `records/codecs` has."""

    def compress(self, data: Buffer, level: int) -> bytes: ...

    def decompress(self, data: Buffer, limit_bytes: int) -> bytes: ...

    def decompress_into(self, data: Buffer, out: memoryview) -> int: ...


_MODULES: Final = {
    (Codec.GZIP, False): "gzip",
    (Codec.GZIP, True): "gzip",
    (Codec.SNAPPY, False): "snappy",
    (Codec.SNAPPY, True): "snappy",
    (Codec.LZ4, False): "lz4",
    (Codec.LZ4, True): "lz4_magic0",
    (Codec.ZSTD, False): "zstd",
    (Codec.ZSTD, True): "zstd",
}
_loaded: Final[dict[tuple[int, bool], _Implementation]] = {}


def _implementation(codec: int, legacy_checksum: bool) -> _Implementation:
    key = (codec, legacy_checksum)
    loaded = _loaded.get(key)
    if loaded is None:
        if codec not in tuple(Codec):
            raise InvalidValue(f"no codec has the number {codec}")
        module = import_module(f"ottla.records.codecs.{_MODULES[Codec(codec), legacy_checksum]}")
        loaded = _loaded[key] = cast("_Implementation", module)
    return loaded


def level_of(codec: int, level: int | None) -> int:
    """The level to use where one, or none, is asked for; one that the codec lacks is an error."""
    levels = LEVELS.get(codec)
    if level is None:
        return levels.default if levels else 0
    if levels is None or level not in levels:
        raise InvalidLevel(codec, level)
    return level


def compress(
    codec: int, data: Buffer, level: int | None = None, *, legacy_checksum: bool = False
) -> bytes:
    """Compress; `legacy_checksum` asks for the frame that lz4 has in magic 0."""
    if codec == Codec.NONE:
        return bytes(data)
    if codec not in tuple(Codec):
        raise Unencodable(f"no codec has the number {codec}")
    return _implementation(codec, legacy_checksum).compress(data, level_of(codec, level))


def decompress(
    codec: int,
    data: Buffer,
    bytes_max: int,
    ratio_max: int = RATIO_MAX,
    *,
    legacy_checksum: bool = False,
) -> bytes:
    """Decompress to at most `bytes_max`; beyond 4 MiB to at most `ratio_max` times the input."""
    limit_bytes = min(bytes_max, max(RATIO_FREE_BYTES, ratio_max * len(data)))
    if codec == Codec.NONE:
        if len(data) > bytes_max:
            raise LimitExceeded(f"{len(data)} bytes, {bytes_max} allowed")
        return bytes(data)
    return _implementation(codec, legacy_checksum).decompress(data, limit_bytes)


def decompress_into(
    codec: int, data: Buffer, out: bytearray | memoryview, *, legacy_checksum: bool = False
) -> int:
    """Decompress into a buffer that is there; give how many bytes it took.

    More than it can hold is `LimitExceeded`. Whatever lies beyond the bytes taken is overwritten,
    or not: to fill a buffer with several batches, decompress them in order.
    """
    room = memoryview(out)
    if codec == Codec.NONE:
        if len(data) > len(room):
            raise LimitExceeded(f"{len(data)} bytes, {len(room)} allowed")
        room[: len(data)] = data
        return len(data)
    return _implementation(codec, legacy_checksum).decompress_into(data, room)
