"""Down-conversion of batches against the last release of Kafka that does it."""

from dataclasses import replace
from random import Random
from typing import Final

import pytest

from ottla.records.builder import write_batch
from ottla.records.compression import Codec
from ottla.records.control import write_end_marker
from ottla.records.conversion import CodecNotSupported, down_convert
from ottla.records.message_set import write_message_set
from tests.conformance.drawn_batches import drawn_options, drawn_rows
from tests.conformance.oracle import Oracle, OracleError, Parsed, Record

COUNT: Final = 100
CODECS: Final = [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4]


def drawn_batch(random: Random, base_offset: int, codec: Codec) -> tuple[bytes, int]:
    """A batch as a log holds it, mostly of magic 2, else of 1; and the offset after it."""
    rows = drawn_rows(random, base_offset)
    if codec != Codec.ZSTD and random.random() < 0.2:
        set_rows = [row[:4] for row in rows]
        return write_message_set(1, codec, set_rows), rows[-1][0] + 1
    options = replace(drawn_options(random), base_offset=base_offset, codec=codec)
    return bytes(write_batch(rows, options)), rows[-1][0] + 1


def drawn_run(random: Random, codec: Codec) -> tuple[bytes, int]:
    """Some batches in order, control batches among them; and an offset to begin at."""
    parts: list[bytes] = []
    offset = start = random.choice([0, 5, 1 << 40])
    for _ in range(random.choice([1, 2, 4])):
        part, offset = drawn_batch(random, offset, codec)
        parts.append(part)
        if random.random() < 0.3:
            marker = write_end_marker(
                is_commit=True,
                producer=(7, 1),
                coordinator_epoch=3,
                timestamp=5,
                base_offset=offset,
            )
            parts.append(bytes(marker))
            offset += 1
    return b"".join(parts), random.choice([start, start, (start + offset) // 2])


def kept(parsed: Parsed) -> list[tuple[str, tuple[Record, ...]]]:
    """What a consumer would find, batch by batch, with each batch's codec."""
    assert parsed.error is None
    assert all(batch.is_valid and batch.error is None for batch in parsed.batches)
    return [(batch.compression, batch.records) for batch in parsed.batches]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_the_same_records_come_out(oracle_39: Oracle, codec: Codec, magic: int) -> None:
    """Plain messages are the same bytes; wrappers hold the same messages."""
    random = Random(f"{codec} {magic}")
    for _ in range(COUNT):
        run, first_offset = drawn_run(random, codec)
        ours = down_convert(run, magic, first_offset).data
        (theirs,) = oracle_39.down_convert(magic, [run], first_offset=first_offset)
        mine, kafkas = oracle_39.parse([ours, theirs])
        assert kept(mine) == kept(kafkas)
        assert codec or ours == theirs


@pytest.mark.parametrize("magic", [0, 1])
def test_zstd_is_refused(oracle_39: Oracle, magic: int) -> None:
    run, first_offset = drawn_run(Random(1), Codec.ZSTD)
    with pytest.raises(OracleError, match="UnsupportedCompressionType"):
        oracle_39.down_convert(magic, [run], first_offset=first_offset)
    with pytest.raises(CodecNotSupported):
        down_convert(run, magic, first_offset)
