"""Logs of drawn batches for clients to read, with what they ought to see; records to produce."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Final

from ottla.records.builder import BatchOptions, Row, write_batch, write_empty_batch
from ottla.records.compression import Codec
from ottla.records.control import write_end_marker
from ottla.records.message_set import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    NO_TIMESTAMP_TYPE,
    write_message_set,
)
from tests.conformance import drawn_message_sets
from tests.conformance.clients import Seen, Sent
from tests.conformance.drawn_batches import drawn_options, drawn_rows, kafkas_records
from tests.conformance.one_partition import Aborted, Log

NOW_MS: Final = 1_700_000_000_000
START_OFFSET: Final = 1 << 33
_GAPS: Final = (0, 0, 1, 1000)


def seen_rows(rows: list[Row], stamp: int | None) -> list[Seen]:
    """What clients see of a batch."""
    kind = CREATE_TIME if stamp is None else LOG_APPEND_TIME
    return [
        Seen(one.offset, kind, one.timestamp_ms, one.key, one.value, one.headers)
        for one in kafkas_records(rows, stamp)
    ]


def drawn_log(codec: Codec, level: int | None, count: int) -> tuple[Log, list[Seen]]:
    """Batches of every feature, emptied ones among them, with gaps between as cleaning leaves."""
    random = Random(f"{codec} {level}")
    data, expected = bytearray(), list[Seen]()
    offset = START_OFFSET
    for _ in range(count):
        offset += random.choice(_GAPS)
        options = replace(drawn_options(random), base_offset=offset, codec=codec, level=level)
        rows = drawn_rows(random, offset)
        if random.random() < 0.1:
            emptied = replace(options, codec=Codec.NONE, delete_horizon_ms=None)
            data += write_empty_batch(emptied, rows[-1][0], NOW_MS)
        else:
            data += write_batch(rows, options)
            expected += seen_rows(rows, options.append_timestamp)
        offset = rows[-1][0] + 1
    return Log(bytes(data), offset, START_OFFSET), expected


def drawn_message_log(
    magic: int, codec: Codec, stamp: int | None, count: int
) -> tuple[Log, list[Seen]]:
    """Message sets, with the same gaps."""
    random = Random(f"{magic} {codec} {stamp}")
    data, expected = bytearray(), list[Seen]()
    offset = START_OFFSET
    kind = CREATE_TIME if stamp is None else LOG_APPEND_TIME
    for _ in range(count):
        offset += random.choice(_GAPS)
        rows = drawn_message_sets.drawn_rows(random, magic, offset)
        data += write_message_set(magic, codec, rows, append_time=stamp)
        for at, timestamp, key, value in rows:
            time = timestamp if stamp is None else stamp
            shown = (kind, time) if magic else (NO_TIMESTAMP_TYPE, -1)
            expected.append(
                Seen(
                    at,
                    *shown,
                    None if key is None else bytes(key),
                    None if value is None else bytes(value),
                )
            )
        offset = rows[-1][0] + 1
    return Log(bytes(data), offset, START_OFFSET), expected


def log_of_transactions(codec: Codec) -> tuple[Log, dict[str, list[int]]]:
    """Transactions that cross each other, ended either way or still open, and others' records.

    Given are the offsets of the records by what became of them.
    """
    data = bytearray()
    became: dict[str, list[int]] = {"committed": [], "aborted": [], "open": []}
    aborted: list[Aborted] = []
    next_offset, next_sequence = 0, dict[int, int]()
    script = (
        "1:aborted 2:committed 0:committed 1:aborted 1:abort 2:committed 1:committed 2:commit "
        "0:committed 1:commit 2:aborted 1:aborted 2:abort 0:committed 1:abort 2:abort 1:commit "
        "1:committed 2:aborted 1:commit 2:abort 0:committed 2:open 0:open 1:open 1:commit"
    )
    begun: dict[int, int] = {}
    open_offset = -1
    for step in script.split():
        producer_id, what = int(step[0]), step[2:]
        if what in ("abort", "commit"):
            if what == "abort" and producer_id in begun:
                aborted.append(Aborted(producer_id, begun[producer_id], next_offset))
            begun.pop(producer_id, None)
            data += write_end_marker(
                is_commit=what == "commit",
                producer=(producer_id, 0),
                coordinator_epoch=9,
                timestamp=NOW_MS,
                base_offset=next_offset,
            )
            next_offset += 1
            continue
        if what == "open" and open_offset < 0:
            open_offset = next_offset
        sequence = next_sequence.get(producer_id, 0)
        options = BatchOptions(
            base_offset=next_offset,
            codec=codec,
            producer_id=producer_id or -1,
            producer_epoch=0 if producer_id else -1,
            base_sequence=sequence if producer_id else -1,
            is_transactional=producer_id > 0,
        )
        rows: list[Row] = [
            (next_offset + index, NOW_MS, b"key", step.encode(), ()) for index in range(3)
        ]
        if producer_id:
            begun.setdefault(producer_id, next_offset)
        data += write_batch(rows, options)
        became[what] += [row[0] for row in rows]
        next_sequence[producer_id] = sequence + len(rows)
        next_offset += len(rows)
    log = Log(bytes(data), next_offset, aborted=aborted, open_offset=open_offset)
    return log, became


def drawn_records(seed: str, count: int, *, with_headers: bool = True) -> Iterable[Sent]:
    """What a client is to produce: nulls, empty ones, and enough repetition to be compressed."""
    random = Random(seed)
    contents = None, b"", b"key", random.randbytes(40), b"ab" * 900, b"\0" * 3000
    for _ in range(count):
        headers = [
            (random.choice(["", "h", "å" * 40]), random.choice(contents))
            for _ in range(random.choice([0, 0, 1, 3]) if with_headers else 0)
        ]
        timestamp = NOW_MS + random.randrange(-5000, 5000)
        yield Sent(timestamp, random.choice(contents), random.choice(contents), tuple(headers))
