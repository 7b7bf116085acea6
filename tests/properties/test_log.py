"""The log against a list of batches: whatever is done to both, they say the same."""

import random
from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from ottla.broker.partition_history import PartitionHistory
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import BatchRow, scan
from ottla.sim.disk import SimulatedDisk
from ottla.storage.handles import Handles
from ottla.storage.log import Batches, Log
from ottla.storage.log_options import LogOptions
from ottla.storage.recovery import Opening, open_log
from ottla.storage.segment import SegmentOptions
from ottla.storage.time_index import TimestampOffset
from tests.unit.records.samples import T

FOLDER = "/orders-0"
OPTIONS = LogOptions(
    segment=SegmentOptions(index_interval_bytes=150, index_bytes_max=160),
    segment_bytes=1500,
    segment_ms=5000,
    segment_jitter_ms=500,
    retention_ms=20_000,
    retention_bytes=4000,
)


@dataclass(frozen=True)
class Written:
    """One batch of the model: its bytes, and each record's offset and time."""

    data: bytes
    row: BatchRow
    times: tuple[TimestampOffset, ...]


class LogAgainstList(RuleBasedStateMachine):
    """`kept` are the batches that the log must hold, in order."""

    @initialize(first=st.integers(0, 3))
    def begin(self, first: int) -> None:
        self.now_ms = T
        self.disk = SimulatedDisk(lambda: self.now_ms, random.Random(0))
        self.disk.make_folder(FOLDER)
        self.kept: list[Written] = []
        self.first = self.end = self.flushed = first * 1000
        self.epoch = 0
        self.log = self.opened(is_clean=True)

    def opened(self, *, is_clean: bool) -> Log:
        opening = Opening(self.now_ms, is_clean, self.first, self.flushed)
        handles = Handles(self.disk, 4)
        log, findings = open_log(handles, FOLDER, OPTIONS, PartitionHistory(), opening)
        assert not findings.cuts
        assert not findings.refused
        return log

    def batches(self, count: int, producer: int, gap: int, late_ms: int) -> Batches:
        options = BatchOptions(
            base_offset=self.end + gap,
            partition_leader_epoch=self.epoch,
            codec=(self.end + count) % 5 if count > 2 else 0,
        )
        timestamp = self.now_ms - late_ms
        rows = [
            (options.base_offset + at, timestamp + at, b"k", b"v" * 30, ()) for at in range(count)
        ]
        data = bytes(write_batch(rows, options))
        row = scan(data).rows[0]
        times = tuple(TimestampOffset(time, offset) for offset, time, *_ in rows)
        self.kept.append(Written(data, row, times))
        self.end = row.last_offset + 1
        return data, [row]

    @rule(
        drawn=st.lists(
            st.tuples(
                st.integers(1, 4), st.integers(0, 2), st.integers(0, 2), st.integers(0, 3000)
            ),
            min_size=1,
            max_size=4,
        )
    )
    def append(self, drawn: list[tuple[int, int, int, int]]) -> None:
        self.log.append([self.batches(*one) for one in drawn], self.now_ms)

    @rule(passed_ms=st.integers(1, 8000))
    def wait(self, passed_ms: int) -> None:
        self.now_ms += passed_ms

    @rule()
    def lead_anew(self) -> None:
        self.epoch += 1

    @rule()
    def roll(self) -> None:
        self.log.roll(self.now_ms)

    @rule()
    def flush(self) -> None:
        self.log.flush(self.now_ms)
        self.flushed = self.end
        assert self.log.recovery_point == self.end

    @rule(part=st.floats(0, 1))
    def truncate(self, part: float) -> None:
        offset = self.first + int(part * (self.end - self.first))
        if offset < self.log.segments.first.base_offset:
            self.first = offset
        cut = [one.row.base_offset for one in self.kept if one.row.last_offset >= offset]
        self.kept = [one for one in self.kept if one.row.last_offset < offset]
        self.end = min([offset, *cut])
        self.flushed = min(self.flushed, self.end)
        self.first = min(self.first, self.end)
        assert not self.log.truncate_to(offset, self.now_ms)

    @rule(part=st.floats(0, 1))
    def delete_records(self, part: float) -> None:
        offset = self.first + int(part * (self.end - self.first))
        self.log.move_log_start(offset)
        self.first = max(self.first, offset)

    @rule(part=st.floats(0, 1))
    def delete_old(self, part: float) -> None:
        high_watermark = self.first + int(part * (self.end - self.first))
        before = list(self.log.segments)
        removal = self.log.delete_old(high_watermark, self.now_ms)
        assert (removal is None) == (before == list(self.log.segments))
        if removal is not None:
            removal.run()
            assert before[0].base_offset < self.log.segments.first.base_offset <= high_watermark
            self.first = max(self.first, self.log.segments.first.base_offset)

    @rule(further=st.integers(0, 50))
    def start_at(self, further: int) -> None:
        self.flushed = self.first = self.end = self.end + further
        self.kept = []
        self.log.start_at(self.end, self.now_ms)

    @rule()
    def reopen(self) -> None:
        self.log.close(self.now_ms)
        self.flushed = self.end
        self.log = self.opened(is_clean=True)
        self.forget_gap()

    @rule()
    def kill(self) -> None:
        self.disk.end_process()
        self.log = self.opened(is_clean=False)
        self.forget_gap()

    def forget_gap(self) -> None:
        """After a cut within a gap the end is known to the process only."""
        self.first = max(self.first, self.log.segments.first.base_offset)
        last = self.kept[-1].row.last_offset + 1 if self.kept else 0
        self.end = max(last, self.log.segments.active.base_offset, self.first)
        self.flushed = min(self.flushed, self.end)

    @precondition(lambda self: self.kept)
    @rule(part=st.floats(0, 1), bytes_max=st.integers(0, 700), reach=st.floats(0, 1))
    def read(self, part: float, bytes_max: int, reach: float) -> None:
        offset = self.first + int(part * (self.end - self.first))
        end = self.first + int(reach * (self.end - self.first))
        below = b"".join(one.data for one in self.kept if one.row.last_offset < end <= self.end)
        found = self.log.read(offset, bytes_max, self.log.place_of(end))
        ahead = [one for one in self.kept if offset <= one.row.last_offset < end]
        if not ahead:
            assert found is None
            return
        assert found is not None
        data = found.file.read(found.position, found.size_bytes)
        whole = b"".join(one.data for one in ahead)
        assert whole.startswith(data)
        assert below.endswith(whole)
        assert len(data) >= min(bytes_max, len(ahead[0].data)) or len(data) >= len(ahead[0].data)
        assert len(data) <= max(bytes_max, len(ahead[0].data))

    @rule(late_ms=st.integers(-4000, 30_000))
    def find_timestamp(self, late_ms: int) -> None:
        timestamp = self.now_ms - late_ms
        times = [one for batch in self.kept for one in batch.times if one.offset >= self.first]
        expected = next((one for one in times if one.timestamp >= timestamp), None)
        assert self.log.find_timestamp(timestamp) == expected

    @invariant()
    def ends_agree(self) -> None:
        if not hasattr(self, "log"):
            return
        assert self.log.end_offset == self.end
        assert self.log.log_start_offset == self.first
        assert self.log.size_bytes >= sum(
            len(one.data) for one in self.kept if one.row.base_offset >= self.first
        )

    @invariant()
    def history_is_the_logs(self) -> None:
        if not hasattr(self, "log"):
            return
        history = self.log.history
        assert isinstance(history, PartitionHistory)
        for one in self.kept:
            if one.row.base_offset >= self.first:
                epoch = history.leader_epochs.epoch_at(one.row.base_offset)
                assert epoch == one.row.partition_leader_epoch


LogAgainstList.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestLogAgainstList = LogAgainstList.TestCase
