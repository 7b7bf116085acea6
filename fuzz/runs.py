"""Targets: runs of batches of magic 2, as a client sends them and as a log holds them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from random import Random
from typing import Final

from fastcrc.crc32 import iscsi as crc32c

from fuzz.target import INFLATED_BYTES_MAX, Target
from ottla.errors import ErrorCode
from ottla.kernels.arrow import Run
from ottla.kernels.faults import Malformed, Unencodable
from ottla.kernels.selection import INT64_MAX, Selection
from ottla.records.batch import HEADER_BYTES, LENGTH_END, batch_at, seal
from ottla.records.builder import BatchOptions, write_batch, write_empty_batch
from ottla.records.check import Rules, admit, check, check_copied
from ottla.records.columns import Columns, Shape, Window
from ottla.records.compression import Codec, compress
from ottla.records.control import write_end_marker
from ottla.records.conversion import DownConversion, down_convert
from ottla.records.reader import inflate, read_records
from ottla.records.rebuild import OpenBatch, recompress
from ottla.records.scan import find_offset, find_record, find_timestamp, scan
from ottla.records.scratch import Scratch
from ottla.wire.fields import Buffer
from tests.conformance.drawn_batches import drawn_options, drawn_rows

NOW_MS: Final = 1_700_000_000_000
SECRET: Final = bytes(range(16))
# Where the numbers of a header are in an input, and how wide.
FIELDS: Final = (
    (1, 8), (13, 4), (22, 2), (24, 4), (28, 8), (36, 8), (44, 8), (52, 2), (54, 4), (58, 4),
)  # fmt: skip
RULES: Final = tuple(
    Rules(
        inflated_bytes_max=INFLATED_BYTES_MAX,
        is_compacted=bool(number & 1),
        is_append_time=bool(number & 2),
        before_max_ms=1000 if number & 4 else INT64_MAX,
        magic=1 if number & 8 else 2,
        takes_zstd=not number & 16,
    )
    for number in range(32)
)
_SLACK_BYTES: Final = 4 * INFLATED_BYTES_MAX
# A record takes seven bytes and a header two at least; as objects, some hundreds.
_OBJECTS_RATIO_MAX: Final = 150


@cache
def seeds_of_runs() -> tuple[bytes, ...]:
    """Runs of one batch or a few, of all codecs and kinds, at offsets that rise."""
    random = Random(7)
    found: list[bytes] = []
    for number in range(60):
        options = replace(drawn_options(random), codec=(0, 0, 1, 2, 3, 4)[number % 6])
        if number < 20:
            options = replace(options, base_offset=0)
        rows = drawn_rows(random, options.base_offset)[:8]
        found.append(bytes(write_batch([_short(row, number) for row in rows], options)))
    options = BatchOptions(base_offset=4)
    found += [bytes(write_empty_batch(options, 9)), bytes(write_batch(_plain_rows(4, 3), options))]
    for is_commit in (True, False):
        found.append(
            bytes(
                write_end_marker(
                    is_commit=is_commit, producer=(1, 0), coordinator_epoch=2, timestamp=NOW_MS
                )
            )
        )
    for codec in Codec:
        run = [write_batch(_plain_rows(at, 2), BatchOptions(at, codec=codec)) for at in (0, 2, 9)]
        found.append(b"".join(run))
        found.append(bytes(write_batch(_plain_rows(0, 5), BatchOptions(codec=codec))))
    return tuple(found)


def _short(row: tuple, number: int) -> tuple:
    """What was drawn, mostly small: changes are to meet lengths and not contents."""
    if number % 6 == 5:
        return row
    offset, timestamp, key, value, headers = row
    short = [(name[:9], one and one[:9]) for name, one in headers]
    return (offset, timestamp, key and key[:20], value and value[:20], short)


def _plain_rows(base: int, count: int) -> list[tuple]:
    return [(base + n, NOW_MS + n, b"k%d" % n, b"value", [("h", b"x")]) for n in range(count)]


def seeds() -> Iterator[bytes]:
    for number, run in enumerate(seeds_of_runs()):
        yield bytes([number * 37 % 256]) + run
        yield b"\0" + run


def repair_run(data: bytearray, random: Random) -> bytearray:
    """In half of the cases lengths and checksums are right, in some the records compressed."""
    chance = random.random()
    if chance < 0.4:
        return data
    if chance > 0.85:
        data = _compressed(data, random)
    if chance < 0.55 and len(data) > HEADER_BYTES:
        place, width = FIELDS[int(random.random() * len(FIELDS))]
        edge = (1 << 8 * width - 1) - random.choice([0, 1, 2, 3, 1 << 8 * width - 1])
        data[place : place + width] = (edge % (1 << 8 * width)).to_bytes(width, "big")
    position = 1
    while len(data) - position >= HEADER_BYTES:
        size = LENGTH_END + int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
        if not HEADER_BYTES <= size <= len(data) - position:
            size = len(data) - position
            data[position + 8 : position + 12] = (size - LENGTH_END).to_bytes(4, "big")
        if chance > 0.5:
            data[position + 16] = 2
        if data[position + 16] == 2:
            batch = data[position : position + size]
            seal(batch)
            data[position : position + size] = batch
        position += size
    return data


def _compressed(data: bytearray, random: Random) -> bytearray:
    """The first batch with its section compressed after it was changed."""
    if len(data) <= HEADER_BYTES or data[23] & 7:
        return data
    codec = random.randrange(1, 5)
    data[23] |= codec
    return data[: HEADER_BYTES + 1] + compress(codec, bytes(data[HEADER_BYTES + 1 :]))


def _chosen(data: Buffer) -> tuple[int, Buffer]:
    """The byte that chooses, and the run."""
    return (data[0] if data else 0), data[1:]


def read_sent(data: Buffer) -> object:
    """What a broker does with a client's batch; one that is accepted can be read."""
    chosen, batch = _chosen(data)
    rules = RULES[chosen % 32]
    verdict = check(batch, rules, NOW_MS)
    if verdict.error != ErrorCode.NONE:
        return verdict
    admitted = bytearray(batch)
    admit(admitted, verdict, rules, (1 << 40, 3), NOW_MS)
    (row,) = check_copied(admitted).rows
    found = sum(1 for _ in read_records(admitted, INFLATED_BYTES_MAX))
    assert found == row.records_count == row.last_offset - row.base_offset + 1
    return verdict, row


def read_copied(data: Buffer) -> object:
    """What a follower, or a broker that starts, does with a run of batches."""
    chosen, run = _chosen(data)
    copied = check_copied(run, offset_min=chosen % 4, leader_epoch_max=77 if chosen & 4 else None)
    for row in copied.rows:
        place = find_offset(run, row.last_offset)
        assert place.position <= row.position, "an offset that is there is not found"
    timestamp = NOW_MS if chosen & 8 else 0
    return copied, scan(run, 0, 1 + chosen % 5), find_timestamp(run, timestamp, offset_min=chosen)


def read_batch(data: Buffer) -> object:
    """The records of one batch, as bytes, as views, and by time."""
    chosen, run = _chosen(data)
    batch = batch_at(run)
    count = 0
    latest = None
    for record in read_records(batch, INFLATED_BYTES_MAX, as_views=bool(chosen & 1)):
        count += 1
        latest = record.offset, record.timestamp, len(record.headers)
    timestamp = (0, NOW_MS, INT64_MAX, -1)[chosen >> 1 & 3]
    return count, latest, find_record(batch, timestamp, chosen >> 3, INFLATED_BYTES_MAX)


def rebuild(data: Buffer) -> object:
    """What cleaning does with a batch, and what a topic of another codec does with it."""
    chosen, run = _chosen(data)
    batch = batch_at(run)
    opened = OpenBatch(batch, INFLATED_BYTES_MAX)
    count = len(opened.rows) // 64
    marks = bytes((chosen >> index % 8) & 1 for index in range(count))
    kept = opened.keep(marks, NOW_MS if chosen & 16 else None)
    left = sum(1 for _ in read_records(kept, 2 * INFLATED_BYTES_MAX))
    assert left == sum(marks), "not all records that were to be kept are there"
    inflated = inflate(batch, INFLATED_BYTES_MAX)
    again = recompress(batch, chosen % 5, inflated=inflated)
    section = inflate(again, INFLATED_BYTES_MAX) if chosen % 5 else again[HEADER_BYTES:]
    assert section == (batch[HEADER_BYTES:] if inflated is None else inflated)
    return bytes(opened.key_hashes(SECRET)), bytes(kept)


def down_converted(data: Buffer) -> object:
    """What is done for a consumer that knows only older formats."""
    chosen, run = _chosen(data)
    target = (chosen & 1, chosen >> 4, INFLATED_BYTES_MAX)
    converted = down_convert(run, *target)
    conversion = DownConversion(run, *target)
    sent = sum(len(chunk) for chunk in conversion.chunks(64 << (chosen >> 1 & 7)))
    assert sent == conversion.size_bytes, "not as many bytes as were announced"
    return converted


SELECTIONS: Final = tuple(
    Selection(
        columns=(255, 3, 16, 12)[number & 3],
        start_offset=2 if number & 4 else 0,
        end_timestamp=NOW_MS if number & 8 else INT64_MAX,
        rows_max=2 if number & 16 else 8192,
        bytes_max=1 if number & 32 else 1 << 20,
        large=bool(number & 64),
        timestamp_factor=1000 if number & 1 else 1,
        decompressed_bytes_max=INFLATED_BYTES_MAX,
    )
    for number in range(128)
)


def read_pieces(data: Buffer) -> object:
    """The kernel that fills columns."""
    chosen, run = _chosen(data)
    checksum = crc32c if chosen >= 128 else None
    aborted = [(1, 0, 900), (0, 5, INT64_MAX)] if chosen & 2 else []
    reading = Run(run, SELECTIONS[chosen % 128], checksum, Scratch().decompress, aborted)
    found: list[object] = []
    while rows := reading.fill():
        found.append((rows, reading.position, reading.take()))
    return found


COLUMNS: Final = (
    Columns(("key", "value", "topic", "partition", "offset", "timestamp", "timestampType")),
    Columns(("headers", "leaderEpoch", "producerId")),
    Columns(("headers", "offset"), Shape(rows_max=2, large=True, timestamp_unit="ms")),
    Columns(("value",), check_crcs=False),
)


def read_table(data: Buffer) -> object:
    """A table of Arrow, which Arrow itself finds sound."""
    chosen, run = _chosen(data)
    window = Window(start_offset=chosen >> 4)
    table = COLUMNS[chosen & 3].table(run, window)
    table.validate(full=True)
    return table.num_rows, table.nbytes


def _target(
    name: str,
    read: Callable[[Buffer], object],
    faults: tuple[type[Exception], ...],
    share: int,
    ratio_max: int = _OBJECTS_RATIO_MAX,
) -> Target:
    """All of them take the same inputs; what comes out is bounded by what was inflated."""
    slack_bytes = _SLACK_BYTES + ratio_max * INFLATED_BYTES_MAX
    return Target(name, read, seeds, faults, repair=repair_run, share=share,
                  ratio_max=ratio_max, slack_bytes=slack_bytes)  # fmt: skip


TARGETS: Final = (
    _target("batches_sent", read_sent, (), 12),
    _target("batches_copied", read_copied, (), 8),
    _target("batches_read", read_batch, (Malformed,), 8),
    _target("batches_rebuilt", rebuild, (Malformed,), 6),
    _target("batches_down_converted", down_converted, (Malformed, Unencodable), 3),
    _target("column_pieces", read_pieces, (Malformed,), 8),
    _target("column_tables", read_table, (Malformed,), 1),
)
