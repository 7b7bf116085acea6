"""Which partition a key belongs to: as Java's client decides, so that both send a key to one place.

The hash is MurmurHash2 of 32 bits with the seed that Kafka's clients use.
"""

from typing import Final

_SEED: Final = 0x9747B28C
_FACTOR: Final = 0x5BD1E995
_WORD: Final = 0xFFFFFFFF
_POSITIVE: Final = 0x7FFFFFFF


def murmur2(data: bytes) -> int:
    """The hash, as an unsigned number."""
    found = _SEED ^ len(data)
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _FACTOR & _WORD
        word = (word ^ word >> 24) * _FACTOR & _WORD
        found = (found * _FACTOR & _WORD) ^ word
    if whole < len(data):
        found = (found ^ int.from_bytes(data[whole:], "little")) * _FACTOR & _WORD
    found = (found ^ found >> 13) * _FACTOR & _WORD
    return found ^ found >> 15


def partition_of(key: bytes, partitions_count: int) -> int:
    """The partition of a key."""
    return (murmur2(key) & _POSITIVE) % partitions_count
