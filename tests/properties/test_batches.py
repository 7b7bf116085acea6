"""Batches come back as they were written, kernels do the same compiled and uncompiled, and no
bytes can hurt them."""

import random
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.kernels import batches, cleaning, record_writer, records
from ottla.kernels.faults import Malformed, Unencodable
from ottla.records.batch import BatchHeader
from ottla.records.builder import BatchOptions, Row, assemble, write_batch
from ottla.records.check import Rules, check, check_copied
from ottla.records.reader import read_records
from ottla.records.rebuild import OpenBatch, recompress
from tests.costs import peak_bytes
from tests.unit.kernels.twins import uncompiled
from tests.unit.records.samples import INFLATED_BYTES_MAX, T

slow_batches = uncompiled("batches")
slow_cleaning = uncompiled("cleaning")
slow_records = uncompiled("records")
slow_writer = uncompiled("record_writer")

INT64 = st.integers(-(2**63), 2**63 - 1)
BLOB = st.none() | st.binary(max_size=80)
HEADERS = st.lists(st.tuples(st.text(max_size=5), BLOB), max_size=3)
RECORD = st.tuples(
    st.integers(1, 300), st.integers(T - 9000, T + 9000) | INT64, BLOB, BLOB, HEADERS
)

RULES = Rules(after_max_ms=2**63 - 1 - T, is_compacted=True)


@st.composite
def row_lists(draw: st.DrawFn) -> list[Row]:
    """Records whose offsets rise, one at least."""
    rows: list[Row] = []
    offset = 999
    for gap, *rest in draw(st.lists(RECORD, min_size=1, max_size=8)):
        offset += gap
        rows.append((offset, *rest))
    return rows


OPTIONS = st.builds(
    BatchOptions,
    base_offset=st.integers(0, 1000),
    partition_leader_epoch=st.integers(-1, 2**31 - 1),
    codec=st.integers(0, 4),
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    base_sequence=st.integers(-1, 2**31 - 1),
    is_transactional=st.booleans(),
    append_timestamp=st.none() | st.integers(0, T),
    delete_horizon_ms=st.none() | INT64,
)


def mutated(data: bytes | bytearray, seed: int) -> bytes:
    """Some bytes changed, cut out or put in, most often one."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.choice((0, 1, 1, 1, 2, 5))):
        at = chance.randrange(len(changed) + 1)
        cut, put = chance.choice(((1, 1), (1, 1), (0, 1), (1, 0), (2, 5)))
        changed[at : at + cut] = chance.choice((chance.randbytes(put), b"\xff" * put, bytes(put)))
    return bytes(changed)


def outcome(work: Callable[[], object]) -> object:
    """What a kernel answers, or the fault in words."""
    try:
        return work()
    except (Malformed, Unencodable) as fault:
        return type(fault), str(fault)


@settings(max_examples=300, deadline=None)
@given(rows=row_lists(), options=OPTIONS)
def test_records_come_back(rows: list[Row], options: BatchOptions) -> None:
    batch = write_batch(rows, options)
    header = BatchHeader.parse(batch)
    stamp = options.append_timestamp
    wanted = [(row[0], row[1] if stamp is None else stamp, *row[2:]) for row in rows]
    read = [tuple(record) for record in read_records(batch, INFLATED_BYTES_MAX)]
    assert read == wanted
    views = read_records(batch, INFLATED_BYTES_MAX, as_views=True)
    assert [tuple(record) for record in views] == wanted
    assert header.last_offset == rows[-1][0]
    assert header.attributes == options.attributes
    copied = check_copied(batch)
    assert [row.position for row in copied.rows] == [0]


@settings(max_examples=300, deadline=None)
@given(rows=row_lists(), base=INT64)
def test_compiled_and_uncompiled_write_alike(rows: list[Row], base: int) -> None:
    fast = outcome(lambda: record_writer.write_records(rows, rows[0][0], base))
    assert fast == outcome(lambda: slow_writer.write_records(rows, rows[0][0], base))
    assert isinstance(fast[0], bytes)
    shuffled = [*rows, rows[0]]
    fast = outcome(lambda: record_writer.write_records(shuffled, 0, base))
    assert fast == outcome(lambda: slow_writer.write_records(shuffled, 0, base))
    assert fast[0] is Unencodable


def every_answer(kernel: ModuleType, batch: bytes, inflated: bytes | None) -> list[object]:
    """What all the functions over records say of a batch."""

    def read(as_views: bool) -> object:
        walk = kernel.open_records(batch, inflated)
        found = []
        while part := kernel.read_records(walk, 3, as_views):
            found += part
        return found

    return [
        outcome(lambda: kernel.check_records(batch, inflated, 7, T - 5000, T + 5000)),
        outcome(lambda: kernel.check_records(batch, inflated, 0, 0, 0)),
        outcome(lambda: kernel.list_objections(batch, inflated, 6, T - 5000, T + 5000, 99)),
        outcome(lambda: kernel.find_timestamp(batch, inflated, T, 1000)),
        outcome(lambda: read(False)),
        outcome(lambda: read(True)),
        outcome(lambda: kernel.list_records(batch, inflated)),
    ]


@settings(max_examples=400, deadline=None)
@given(rows=row_lists(), options=OPTIONS, seed=st.integers(0, 1 << 32), whole=st.booleans())
def test_compiled_and_uncompiled_walk_alike(
    rows: list[Row], options: BatchOptions, seed: int, whole: bool
) -> None:
    batch = write_batch(rows, BatchOptions(base_offset=options.base_offset))
    header = BatchHeader.parse(batch)
    header = header._replace(attributes=options.attributes & ~7)
    section = mutated(batch[61:], seed)
    # A mutation within a right frame goes deep; one anywhere tries the frame.
    sent = bytes(assemble(header, section)) if whole else mutated(batch, seed)
    assert every_answer(records, sent, None) == every_answer(slow_records, sent, None)
    compressed = bytes(assemble(header._replace(attributes=header.attributes | 1), b""))
    fast = every_answer(records, compressed, section)
    assert fast == every_answer(slow_records, compressed, section)


@settings(max_examples=300, deadline=None)
@given(counts=st.lists(st.integers(0, 1), max_size=5), seed=st.integers(0, 1 << 32))
def test_compiled_and_uncompiled_scan_alike(counts: list[int], seed: int) -> None:
    one = write_batch([(0, T, b"k", b"v", [])], BatchOptions())
    header = BatchHeader.parse(one)
    run = b""
    for at, magic in enumerate(counts):
        entry = bytearray(assemble(header._replace(base_offset=at, max_timestamp=T + at), one[61:]))
        if magic == 1:
            entry = bytearray(entry[:34])
            entry[8:17] = (22).to_bytes(4, "big") + entry[12:16] + b"\1"
        run += entry
    run = mutated(run, seed)
    for limit in (2, 10):
        fast_rows, slow_rows = bytearray(limit * 112), bytearray(limit * 112)
        fast = batches.scan(run, 0, fast_rows)
        assert fast == slow_batches.scan(run, 0, slow_rows)
        assert fast_rows == slow_rows
    for target in ((2, 0), (0, T + 1), (2**63 - 1, T)):
        assert batches.find_batch(run, 0, *target) == slow_batches.find_batch(run, 0, *target)


@settings(max_examples=300, deadline=None)
@given(rows=row_lists(), options=OPTIONS, data=st.data())
def test_compiled_and_uncompiled_keep_alike(
    rows: list[Row], options: BatchOptions, data: st.DataObject
) -> None:
    batch = bytes(write_batch(rows, BatchOptions(base_offset=options.base_offset)))
    marks = data.draw(st.binary(min_size=len(rows), max_size=len(rows)))
    listed = records.list_records(batch)
    base = options.delete_horizon_ms
    fast = cleaning.keep_records(batch, listed, marks, base)
    assert fast == slow_cleaning.keep_records(batch, listed, marks, base)
    secret = data.draw(st.binary(min_size=16, max_size=16))
    hashes = cleaning.hash_keys(batch, listed, secret)
    assert hashes == slow_cleaning.hash_keys(batch, listed, secret)
    opened = OpenBatch(write_batch(rows, options), INFLATED_BYTES_MAX)
    kept = opened.keep(marks, base)
    wanted = [row[0] for row, mark in zip(rows, marks, strict=True) if mark]
    assert [record.offset for record in read_records(kept, INFLATED_BYTES_MAX)] == wanted
    assert BatchHeader.parse(kept).last_offset == rows[-1][0]


@settings(max_examples=150, deadline=None)
@given(rows=row_lists(), options=OPTIONS, codec=st.integers(0, 4))
def test_another_codec_holds_the_same(rows: list[Row], options: BatchOptions, codec: int) -> None:
    batch = write_batch(rows, options)
    inflated = None
    if options.codec:
        inflated = bytes(write_batch(rows, replace(options, codec=0))[61:])
    again = recompress(batch, codec, inflated=inflated)
    assert list(read_records(again, INFLATED_BYTES_MAX)) == list(
        read_records(batch, INFLATED_BYTES_MAX)
    )
    wanted = BatchHeader.parse(batch)._replace(attributes=options.attributes & ~7 | codec)
    assert BatchHeader.parse(again)[5:] == wanted[5:]


@settings(max_examples=300, deadline=None)
@given(rows=row_lists(), codec=st.integers(0, 4), seed=st.integers(0, 1 << 32))
def test_flipped_bits_are_never_accepted(rows: list[Row], codec: int, seed: int) -> None:
    chance = random.Random(seed)
    even = [(index, T, b"k", *row[3:]) for index, row in enumerate(rows)]
    batch = write_batch(even, BatchOptions(codec=codec))
    assert check(batch, RULES, T).error == 0
    for _ in range(chance.randrange(1, 4)):
        damaged = bytearray(batch)
        bit = chance.randrange(8 * len(batch))
        damaged[bit // 8] ^= 1 << bit % 8
        # The leader writes its epoch itself, so what stands there is not under the checksum.
        if not 12 <= bit // 8 < 16:
            assert check(damaged, RULES, T).error
        if bit // 8 >= 16:
            assert check_copied(damaged).end_position == 0


@settings(max_examples=300, deadline=None)
@given(rows=row_lists(), codec=st.integers(0, 4), cut=st.floats(0, 1, exclude_max=True))
def test_torn_tails_end_where_the_last_whole_batch_does(
    rows: list[Row], codec: int, cut: float
) -> None:
    first = write_batch(rows, BatchOptions(codec=codec))
    second = write_batch(
        [(row[0] + 10**6, *row[1:]) for row in rows], BatchOptions(2000, codec=codec)
    )
    torn = first + second[: int(cut * len(second))]
    copied = check_copied(torn)
    assert (len(copied.rows), copied.end_position) == (1, len(first))


@settings(max_examples=400, deadline=None)
@given(data=st.binary(max_size=300), magic=st.integers(0, 3), seed=st.integers(0, 1 << 32))
def test_any_bytes_get_a_verdict(data: bytes, magic: int, seed: int) -> None:
    sent = bytearray(data)
    if len(sent) > 61:
        sent[8:12] = (len(sent) - 12).to_bytes(4, "big")
        sent[16] = magic
        sent[:8] = bytes(8)
        sealed = assemble(
            BatchHeader._make((0, 0, 0, 2, 0, magic, 2, T, T, -1, -1, -1, 3)), sent[61:]
        )
        check(mutated(sealed, seed), RULES, T)
    assert check(sent, RULES, T).error
    check_copied(sent)


@pytest.mark.parametrize("count", [2**31 - 1, 10**6])
def test_counts_that_lie_cost_no_memory(count: int) -> None:
    batch = write_batch([(0, T, None, bytes(1000), [])], BatchOptions())
    header = BatchHeader.parse(batch)._replace(records_count=count, last_offset_delta=count - 1)
    lying = assemble(header, batch[61:])

    def read() -> None:
        assert check(lying, RULES, T).error
        with pytest.raises(Malformed):
            list(read_records(lying, INFLATED_BYTES_MAX))
        with pytest.raises(Malformed):
            OpenBatch(lying, INFLATED_BYTES_MAX)

    assert peak_bytes(read) < 100_000
