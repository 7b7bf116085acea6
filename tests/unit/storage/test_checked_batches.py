"""The compiled check of a segment: entries as appends make them, and all that is news."""

from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from zlib import crc32

import pytest
from fastcrc.crc32 import iscsi as crc32c

from ottla.broker.partition_history import PartitionHistory
from ottla.core.partition.producer_state import BATCHES_MAX
from ottla.kernels import batches, recovery
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.control import write_end_marker
from ottla.records.message_set import write_message_set
from ottla.records.scan import BatchRow, Stop, scan
from ottla.runtime.disk import SystemDisk
from ottla.storage.checked_batches import CheckedBatches
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.handles import Handles
from ottla.storage.later_epochs import LaterEpochs
from ottla.storage.segment_indexes import SegmentIndexes
from ottla.storage.sound_rows import sound_rows
from tests.unit.kernels.twins import uncompiled
from tests.unit.records.samples import T

BASE = 100
OFFSET_MAX = BASE + 2**31 - 1
TWINS = (recovery, uncompiled("recovery"))
SEEDS = range(40)


class Drawn:
    """A segment of few producers in many situations, with epochs that rise now and then."""

    def __init__(self, random: Random, count: int) -> None:
        self.random = random
        self.data = bytearray()
        self.offset = BASE + random.randrange(3)
        self.epoch = random.choice((0, 3))
        self.open: set[int] = set()
        self.producer_epochs = dict.fromkeys((1, 2, 65, 2**40), 0)
        for _ in range(count):
            if random.random() < 0.1:
                self.epoch += random.choice((1, 2))
            self.data += self.one()
            self.offset += random.choice((0, 0, 2))

    def one(self) -> bytes:
        """The next batch: of no producer, of one, of a transaction, or its end."""
        kind = self.random.choice(("old", "plain", "one", "one", "one", "one", "open", "end"))
        producer_id = self.random.choice(list(self.producer_epochs))
        options = BatchOptions(base_offset=self.offset, partition_leader_epoch=self.epoch)
        if kind == "old" and self.random.random() < 0.2:
            row = (self.offset, T, b"k", b"old")
            self.offset += 1
            return write_message_set(self.random.choice((0, 1)), 0, [row])
        if kind == "end" and producer_id in self.open:
            self.open.remove(producer_id)
            return self.marker(options, producer_id)
        if kind in ("old", "plain", "end"):
            return self.batch(options)
        is_transactional = producer_id in self.open or kind == "open"
        if is_transactional:
            self.open.add(producer_id)
        elif self.random.random() < 0.1:
            self.producer_epochs[producer_id] += 1
        options = replace(
            options,
            producer_id=producer_id,
            producer_epoch=self.producer_epochs[producer_id],
            base_sequence=self.offset,
            is_transactional=is_transactional,
        )
        return self.batch(options)

    def batch(self, options: BatchOptions) -> bytes:
        count, timestamp = (
            self.random.choice((1, 1, 4)),
            T + self.offset + self.random.randrange(10),
        )
        rows = [(self.offset + at, timestamp + at, b"k", b"v" * 40, ()) for at in range(count)]
        self.offset += count
        return bytes(write_batch(rows, options))

    def marker(self, options: BatchOptions, producer_id: int) -> bytes:
        self.offset += 1
        return bytes(
            write_end_marker(
                is_commit=self.random.choice((True, False)),
                producer=(producer_id, self.producer_epochs[producer_id]),
                coordinator_epoch=5,
                timestamp=T,
                partition_leader_epoch=options.partition_leader_epoch,
                base_offset=options.base_offset,
            )
        )

    def pieces(self) -> list[int]:
        """Where runs end, at ends of batches."""
        ends = list(accumulate(row.size_bytes for row in scan(self.data).rows))
        return sorted({*self.random.sample(ends, min(3, len(ends))), ends[-1]})


def checked(drawn: Drawn, interval_bytes: int) -> tuple[CheckedBatches, list[tuple[Any, Any]]]:
    """Check run by run; give each run's bytes and rows."""
    check = CheckedBatches(BASE, interval_bytes, (1000, 999))
    found = []
    start = 0
    for end in drawn.pieces():
        run = memoryview(drawn.data)[start:end]
        rows, end_position, stop = check.walk(run, start)
        assert (end_position, stop) == (len(run), Stop.END)
        assert (rows[0], rows[-1]) == (scan(run).rows[0], scan(run).rows[-1])
        found.append((run, rows))
        start = end
    return check, found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_history_knows_the_same_by_fewer_batches(seed: int) -> None:
    drawn = Drawn(Random(seed), 200)
    _, runs = checked(drawn, 4096)
    by_all, by_few = PartitionHistory(), PartitionHistory()
    later_by_all, later_by_few = (LaterEpochs(later_epochs(drawn), BASE) for _ in range(2))
    aborted_by_all, aborted_by_few = [], []
    for run, rows in runs:
        every = scan(run).rows
        aborted_by_all += by_all.replay(run, every)
        aborted_by_few += by_few.replay(run, rows)
        later_by_all.note(every)
        later_by_few.note(rows)
    assert aborted_by_few == aborted_by_all
    assert by_few.producers() == by_all.producers()
    assert by_few.epochs() == by_all.epochs()
    assert by_few.state.end_offset == by_all.state.end_offset
    assert by_few.last_records() == by_all.last_records()
    for producer_id in drawn.producer_epochs:
        few, all_ = by_few.state.get(producer_id), by_all.state.get(producer_id)
        assert (few and few.batches) == (all_ and all_.batches)
    found = by_all.epochs()
    assert later_by_few.joined(found) == later_by_all.joined(found)


def later_epochs(drawn: Drawn) -> list[EpochEntry]:
    """What a checkpoint may say: right or wrong, with offsets before and after the truth."""
    drawn.random.seed(len(drawn.data))
    entries = [EpochEntry(n, drawn.random.randrange(BASE, drawn.offset)) for n in range(12)]
    return [
        EpochEntry(n, offset)
        for n, (_, offset) in enumerate(sorted(entries, key=lambda entry: entry.start_offset))
    ]


def test_a_later_epoch_is_told_what_spoke_against_it() -> None:
    """The last batch of an epoch does, though the next epoch begins only behind it."""
    data = b"".join(
        write_batch(
            [(BASE + n, T, b"k", b"v", ())],
            BatchOptions(base_offset=BASE + n, partition_leader_epoch=3 if n < 5 else 5),
        )
        for n in range(10)
    )
    rows, _, _ = CheckedBatches(BASE, 4096, (1000, 999)).walk(memoryview(data), 0)
    assert [row.base_offset - BASE for row in rows] == [0, 4, 5, 9]
    later = LaterEpochs([EpochEntry(5, BASE + 2)], BASE)
    later.note(rows)
    assert later.joined([(3, BASE), (5, BASE + 5)]) == [(3, BASE), (5, BASE + 5)]


def test_rows_without_news_make_no_objects() -> None:
    """A million batches of one producer would else be a million rows."""
    data = b"".join(
        write_batch(
            [(BASE + n, T, b"k", b"v", ())],
            BatchOptions(base_offset=BASE + n, producer_id=7, producer_epoch=0, base_sequence=n),
        )
        for n in range(1000)
    )
    rows, _, _ = CheckedBatches(BASE, 4096, (1000, 999)).walk(memoryview(data), 0)
    assert [row.base_offset for row in rows] == [BASE, *range(BASE + 995, BASE + 1000)]
    assert recovery.KNOWN_BATCHES == BATCHES_MAX
    assert recovery.COLUMNS == batches.COLUMNS == len(BatchRow._fields)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("interval_bytes", [0, 300, 4096])
def test_entries_are_those_of_appends(tmp_path: Path, seed: int, interval_bytes: int) -> None:
    drawn = Drawn(Random(seed), 100)
    bytes_max = 240 if seed % 2 else 1 << 20
    indexes, expected = (
        SegmentIndexes(
            Handles(SystemDisk(), 4),
            (str(tmp_path / f"{name}.index"), str(tmp_path / f"{name}.timeindex")),
            BASE,
            (interval_bytes, bytes_max),
        )
        for name in ("found", "expected")
    )
    expected.clear()
    expected.note(scan(drawn.data).rows, 0)
    check = indexes.check()
    start = 0
    for end in drawn.pieces():
        check.walk(memoryview(drawn.data)[start:end], start)
        start = end
    indexes.take(check)
    more = [replace_row(scan(drawn.data).rows[-1], drawn.offset)] * 3
    for one in (indexes, expected):
        one.note(more, start)
        one.finish()
    assert indexes.latest == expected.latest
    assert indexes.sizes == expected.sizes
    for suffix in ("index", "timeindex"):
        files = [(tmp_path / f"{name}.{suffix}").read_bytes() for name in ("found", "expected")]
        assert files[0] == files[1]


def replace_row(row: BatchRow, offset: int) -> BatchRow:
    """A batch with a later time, to be appended at an offset."""
    return row._replace(last_offset=offset, max_timestamp=T + 100_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_both_twins_end_at_the_same_bad_byte(seed: int) -> None:
    random = Random(seed)
    data = Drawn(random, 40).data
    for _ in range(random.randrange(3)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    del data[len(data) - random.choice((0, 0, 9)) :]
    found = scan(data)
    rows, stop = sound_rows(memoryview(data), found.rows, (BASE, OFFSET_MAX))
    end = rows[-1].position + rows[-1].size_bytes if rows else 0
    expected = (end, found.stop if stop is Stop.END else stop)
    first, second = (walked(kernel, data) for kernel in TWINS)
    assert first == second
    assert first[1:3] == expected


def walked(kernel: ModuleType, data: bytearray) -> tuple[Any, ...]:
    """All that a kernel says of some bytes."""
    check = kernel.SegmentCheck(BASE, 300, (20, 9), (crc32c, crc32))
    count, end_position, stop = check.walk(data, 0, 0)
    said = (check.end_offset, check.latest, check.entries, check.unindexed_bytes)
    return list(check.rows(count)), end_position, stop, *said


def test_a_batch_out_of_the_segments_range_is_no_batch() -> None:
    for offset in (BASE - 1, OFFSET_MAX + 1):
        data = write_batch([(offset, T, b"k", b"v", ())], BatchOptions(base_offset=offset))
        for kernel in TWINS:
            assert walked(kernel, data)[:3] == ([], 0, Stop.ORDER)


def test_no_entry_names_a_position_that_does_not_fit() -> None:
    data = b"".join(
        write_batch([(BASE + n, T + n, b"k", b"v", ())], BatchOptions(base_offset=BASE + n))
        for n in range(3)
    )
    for kernel in TWINS:
        check = kernel.SegmentCheck(BASE, 0, (20, 9), (crc32c, crc32))
        check.walk(data, 0, 2**31)
        assert check.entries == (b"", b"")
        assert check.end_offset == BASE + 3
