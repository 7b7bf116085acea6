"""Columns hold what a plain reading of the bytes gives, compiled or not, whatever the bytes."""

import random
from types import ModuleType

from fastcrc.crc32 import iscsi as crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.kernels import arrow
from ottla.kernels.faults import Malformed
from ottla.kernels.selection import INT64_MAX, INT64_MIN, Selection
from ottla.records.columns import Columns, Shape, Window
from ottla.records.compression import compress
from ottla.records.scratch import Scratch
from tests.unit.kernels.arrow_twin import uncompiled_arrow
from tests.unit.records.batch_bytes import LOG_APPEND_TIME, TRANSACTIONAL, Batch, Record

slow_arrow = uncompiled_arrow()

blobs = st.none() | st.binary(max_size=300)
headers = st.lists(st.tuples(st.text(max_size=5).map(str.encode), blobs), max_size=3)
deltas = st.integers(-(1 << 40), 1 << 40)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    offsets = draw(st.lists(st.integers(0, 1000), unique=True, max_size=12).map(sorted))
    codec = draw(st.sampled_from([0, 0, 0, 1, 2, 3, 4]))
    return Batch(
        [Record(at, draw(deltas), draw(blobs), draw(blobs), draw(headers)) for at in offsets],
        base_offset=draw(st.integers(0, 5000)),
        attributes=codec | draw(st.sampled_from([0, LOG_APPEND_TIME, TRANSACTIONAL])),
        base_timestamp=draw(st.integers(0, 1 << 41)),
        producer_id=draw(st.integers(-1, 3)),
        leader_epoch=draw(st.integers(-1, 99)),
        compress=lambda data: compress(codec, data),
    )


def plain_rows(batch: Batch, window: Window) -> list[dict[str, object]]:
    """What a batch holds, said once more and slowly."""
    log_time = batch.attributes & LOG_APPEND_TIME
    latest = max((record.timestamp_delta for record in batch.records), default=0)
    rows: list[dict[str, object]] = []
    for record in batch.records:
        offset = batch.base_offset + record.offset_delta
        time = batch.base_timestamp + (latest if log_time else record.timestamp_delta)
        if not window.start_offset <= offset < window.end_offset:
            continue
        if not window.start_timestamp <= time < window.end_timestamp:
            continue
        pairs = [{"key": name.decode(), "value": value} for name, value in record.headers]
        rows.append(
            {
                "key": record.key,
                "value": record.value,
                "offset": offset,
                "timestamp": time,
                "timestampType": 1 if log_time else 0,
                "headers": pairs or None,
                "leaderEpoch": batch.leader_epoch,
                "producerId": batch.producer_id,
            }
        )
    return rows


NAMES = list(plain_rows(Batch(), Window())[0])

windows = st.builds(
    Window,
    start_offset=st.just(0) | st.integers(0, 6000),
    end_offset=st.just(INT64_MAX) | st.integers(0, 6000),
    start_timestamp=st.just(INT64_MIN) | st.integers(0, 1 << 41),
    end_timestamp=st.just(INT64_MAX) | st.integers(0, 1 << 41),
)
shapes = st.builds(
    Shape,
    rows_max=st.integers(1, 20) | st.just(8192),
    bytes_max=st.integers(1, 1000) | st.just(1 << 20),
    large=st.booleans(),
    timestamp_unit=st.just("ms"),
)


@settings(max_examples=300, deadline=None)
@given(
    run=st.lists(batches(), max_size=5),
    window=windows,
    shape=shapes,
    names=st.lists(st.sampled_from(NAMES), unique=True, min_size=1),
)
def test_columns_are_what_a_plain_reading_gives(
    run: list[Batch], window: Window, shape: Shape, names: list[str]
) -> None:
    # A walk ends at the first batch that begins at or after the end: offsets only rise in a log.
    run.sort(key=lambda batch: batch.base_offset)
    data = b"".join(batch.written() for batch in run)
    table = Columns(names, shape).table(data, window)
    table.validate(full=True)
    if "timestamp" in names:
        at = table.schema.get_field_index("timestamp")
        table = table.set_column(at, "timestamp", table["timestamp"].cast("int64"))
    rows = [row for batch in run for row in plain_rows(batch, window)]
    assert table.to_pylist() == [{name: row[name] for name in names} for row in rows]


def mutated(data: bytes, seed: int) -> bytes:
    """Some bytes changed, cut out or put in; the headers' checksums are not looked at."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.randrange(5)):
        at = chance.randrange(len(changed) + 1)
        changed[at : at + chance.randrange(3)] = chance.randbytes(chance.randrange(3))
    return bytes(changed)


def outcomes(kernel: ModuleType, data: bytes, wanted: Selection, checked: bool) -> list[object]:
    """All pieces, and the fault in words."""
    found: list[object] = []
    aborted = [(1, 0, 900), (2, 700, INT64_MAX)]
    checksum = crc32c if checked else None
    reading = kernel.Run(data, wanted, checksum, Scratch().decompress, aborted)
    try:
        while rows := reading.fill():
            found.append((rows, reading.position, reading.take()))
    except Malformed as fault:
        found.append((type(fault), str(fault)))
    return [*found, reading.position]


@settings(max_examples=500, deadline=None)
@given(
    run=st.lists(batches(), min_size=1, max_size=3),
    seed=st.integers(0, 1 << 32),
    columns=st.integers(0, 255),
    window=windows,
    shape=shapes,
    checked=st.booleans(),
)
def test_compiled_and_uncompiled_do_the_same_with_any_bytes(
    run: list[Batch], seed: int, columns: int, window: Window, shape: Shape, checked: bool
) -> None:
    wanted = Selection(
        columns,
        window.start_offset,
        window.end_offset,
        window.start_timestamp,
        window.end_timestamp,
        shape.rows_max,
        shape.bytes_max,
        shape.large,
        timestamp_factor=1000 if seed % 2 else 1,
    )
    data = mutated(b"".join(batch.written() for batch in run), seed)
    assert outcomes(arrow, data, wanted, checked) == outcomes(slow_arrow, data, wanted, checked)
