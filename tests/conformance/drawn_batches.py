"""Draws batches of magic 2, and says the same to Kafka's builder."""

from dataclasses import replace
from random import Random
from typing import Final

from ottla.records.builder import BatchOptions, Row
from ottla.records.compression import Codec
from tests.conformance.oracle import Batch, Record

NAMES: Final = {codec: codec.name.lower() for codec in Codec}
LEVELS: Final = {
    Codec.NONE: (None,),
    Codec.GZIP: (None, 1, 9),
    Codec.SNAPPY: (None,),
    Codec.LZ4: (None, 1, 17),
    Codec.ZSTD: (None, -5, 19),
}
CASES: Final = [(codec, level) for codec, levels in LEVELS.items() for level in levels]
"""Every codec, at the least and a high level, and where none is asked for."""


def drawn_bytes(random: Random) -> bytes | None:
    """Nothing, little or much, and not all of it random: codecs see repetitions too."""
    return random.choice(
        [None, b"", b"key", random.randbytes(random.randrange(70)), b"ab" * random.randrange(900)]
    )


def drawn_rows(random: Random, base_offset: int) -> list[Row]:
    rows: list[Row] = []
    offset = base_offset + random.choice([0, 0, 3])
    for _ in range(random.choice([1, 2, 7, 40])):
        timestamp = random.choice([0, 1_700_000_000_000, 1_699_999_999_000, random.getrandbits(41)])
        headers = [
            (random.choice(["", "h", "å" * 40]), drawn_bytes(random))
            for _ in range(random.choice([0, 0, 1, 3]))
        ]
        rows.append((offset, timestamp, drawn_bytes(random), drawn_bytes(random), headers))
        offset += random.choice([1, 1, 1, 2, 200, 100_000])
    return rows


def drawn_options(random: Random) -> BatchOptions:
    """What a producer, a transaction, a leader or a cleaner may say of a batch."""
    options = BatchOptions(
        base_offset=random.choice([0, 5, 1 << 40]),
        partition_leader_epoch=random.choice([-1, 0, 77]),
    )
    if random.random() < 0.5:
        options = replace(
            options,
            producer_id=random.choice([0, 1 << 50]),
            producer_epoch=random.choice([0, 32767]),
            base_sequence=random.choice([0, 9, 2**31 - 1]),
            is_transactional=random.random() < 0.5,
        )
    if random.random() < 0.2:
        options = replace(options, append_timestamp=1_700_000_000_500)
    if random.random() < 0.2:
        options = replace(options, delete_horizon_ms=1_600_000_000_000)
    return options


def kafkas_records(rows: list[Row], append_timestamp: int | None = None) -> tuple[Record, ...]:
    """Our rows as Kafka shows them."""
    return tuple(
        Record(
            offset=offset,
            timestamp_ms=timestamp if append_timestamp is None else append_timestamp,
            key=None if key is None else bytes(key),
            value=None if value is None else bytes(value),
            headers=tuple((name, None if one is None else bytes(one)) for name, one in headers),
        )
        for offset, timestamp, key, value, headers in rows
    )


def kafkas_batch(rows: list[Row], options: BatchOptions) -> Batch:
    """What Kafka's builder is told to write the same."""
    stamp = options.append_timestamp
    return Batch(
        records=kafkas_records(rows),
        compression=NAMES[Codec(options.codec)],
        level=options.level,
        timestamp_type="CreateTime" if stamp is None else "LogAppendTime",
        log_append_time_ms=-1 if stamp is None else stamp,
        base_offset=options.base_offset,
        producer_id=options.producer_id,
        producer_epoch=options.producer_epoch,
        base_sequence=options.base_sequence,
        is_transactional=options.is_transactional,
        is_control=options.is_control,
        partition_leader_epoch=options.partition_leader_epoch,
        delete_horizon_ms=-1 if options.delete_horizon_ms is None else options.delete_horizon_ms,
    )
