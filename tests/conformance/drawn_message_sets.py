"""Draws message sets of magic 0 and 1."""

from random import Random
from typing import Final

from ottla.records.compression import Codec
from ottla.records.message_set import Row

STAMP: Final = 1_700_000_000_500
CODECS: Final = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]
CASES: Final = [
    *((0, codec, None) for codec in CODECS),
    *((1, codec, stamp) for codec in CODECS for stamp in (None, STAMP)),
]
"""Magic, codec, and when the log appended it; magic 0 has no times."""


def drawn_rows(random: Random, magic: int, base_offset: int) -> list[Row]:
    def drawn_bytes() -> bytes | None:
        return random.choice(
            [
                None,
                b"",
                b"key",
                random.randbytes(random.randrange(70)),
                b"ab" * random.randrange(900),
            ]
        )

    rows: list[Row] = []
    offset = base_offset
    for _ in range(random.choice([1, 2, 7, 40])):
        timestamp = random.choice([0, 1_700_000_000_000, random.getrandbits(41)]) if magic else -1
        rows.append((offset, timestamp, drawn_bytes(), drawn_bytes()))
        offset += random.choice([1, 1, 1, 2, 200, 100_000])
    return rows
