"""A log of headers with producers over it: what a broker does with them, one method a command.

It has segments, snapshots and truncation where Kafka has them, so that the two can be compared.
"""

from dataclasses import dataclass, field

from ottla.api.partition_files import ProducerSnapshot
from ottla.core.partition.open_transactions import CompletedTransaction
from ottla.core.partition.producers import Decision, Marker, Producers
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.records.batch import TRANSACTIONAL_BIT, BatchHeader

TRANSACTION_TIMEOUT_MS_MAX = 900_000
Logged = BatchHeader | Marker


def header(
    producer: int, epoch: int, sequence: int, count: int, timestamp: int, *, transactional: bool
) -> BatchHeader:
    """The header of a batch as a client sends it."""
    attributes = TRANSACTIONAL_BIT if transactional else 0
    return BatchHeader(
        base_offset=0,
        batch_length=49,
        partition_leader_epoch=-1,
        magic=2,
        crc=0,
        attributes=attributes,
        last_offset_delta=count - 1,
        base_timestamp=timestamp,
        max_timestamp=timestamp,
        producer_id=producer,
        producer_epoch=epoch,
        base_sequence=sequence,
        records_count=count,
    )


def replayed(producers: Producers, logged: Logged) -> CompletedTransaction | None:
    """Have one thing of the log taken in."""
    if isinstance(logged, Marker):
        return producers.replay_marker(logged)
    producers.replay(logged, logged.base_offset, logged.max_timestamp)
    return None


@dataclass
class ProducerLog:
    """One partition's log; a command answers "ok", the duplicate, or the error's name."""

    expiration_ms: int = 86_400_000
    verify_transactions: int = 1
    now_ms: int = 0
    log_start: int = 0
    high_watermark: int = 0
    logged: list[Logged] = field(default_factory=list)
    aborted: list[CompletedTransaction] = field(default_factory=list)
    segments: list[int] = field(default_factory=lambda: [0])
    held: dict[int, list[ProducerSnapshot.ProducerEntry]] = field(default_factory=dict)
    last_snapshot: int = 0

    def __post_init__(self) -> None:
        self.producers = Producers(self.expiration_ms, must_verify=self.verify_transactions != 0)

    @property
    def end(self) -> int:
        return after(self.logged[-1]) if self.logged else 0

    def time(self, now: int) -> str:
        self.now_ms = now
        return "ok"

    def client(
        self,
        producer: int,
        epoch: int = 0,
        sequence: int = 0,
        count: int = 1,
        transactional: int = 0,
        timestamp: int = 1000,
        *,
        guard: int = 0,
    ) -> str:
        batch = header(
            producer, epoch, sequence, count, timestamp, transactional=transactional != 0
        )
        decision = self.producers.decide(batch, guard)
        return self._append(decision, batch)

    def offsets(
        self,
        producer: int,
        epoch: int = 0,
        count: int = 1,
        transactional: int = 1,
        timestamp: int = 1000,
        guard: int = 0,
    ) -> str:
        batch = header(producer, epoch, 0, count, timestamp, transactional=transactional != 0)
        return self._append(self.producers.decide_offsets(batch, guard), batch)

    def marker(
        self,
        producer: int,
        epoch: int = 0,
        coordinator: int = 0,
        commit: int = 1,
        timestamp: int = 1000,
        version: int = 0,
    ) -> str:
        marker = Marker(producer, epoch, coordinator, commit != 0, self.end, timestamp)
        return self._append(self.producers.decide_marker(marker, version), marker)

    def copy(
        self,
        producer: int,
        epoch: int = 0,
        sequence: int = 0,
        count: int = 1,
        transactional: int = 0,
        timestamp: int = 1000,
    ) -> str:
        batch = header(
            producer, epoch, sequence, count, timestamp, transactional=transactional != 0
        )
        return self._append(Decision(), batch)

    def copymarker(
        self,
        producer: int,
        epoch: int = 0,
        coordinator: int = 0,
        commit: int = 1,
        timestamp: int = 1000,
        version: int = 0,
    ) -> str:
        marker = Marker(producer, epoch, coordinator, commit != 0, self.end, timestamp)
        return self._append(Decision(), marker)

    def verify(self, producer: int, sequence: int = 0, epoch: int = 0, bump: int = 0) -> str:
        batch = header(producer, epoch, sequence, 1, 0, transactional=True)
        guard = self.producers.start_verification(batch, self.now_ms, supports_epoch_bump=bump != 0)
        return guard.error.name if isinstance(guard, Decision) else f"guard {guard}"

    def hw(self, offset: int) -> str:
        self.high_watermark = offset
        self.producers.move_high_watermark(offset)
        return "ok"

    def start(self, offset: int) -> str:
        if offset > self.log_start:
            self.log_start = offset
            self.producers.move_log_start(offset)
            self.last_snapshot = max(self.held, default=offset)
        return "ok"

    def roll(self) -> str:
        self.segments.append(self.end)
        self._snapshot()
        return "ok"

    def snapshots(self) -> str:
        return " ".join(
            f"{at}:" + ";".join(",".join(map(str, row(entry))) for entry in entries)
            for at, entries in sorted(self.held.items())
        )

    def expire(self) -> str:
        self.producers.expire(self.now_ms)
        return "ok"

    def truncate(self, end: int) -> str:
        """Cut the log, and rebuild from the newest snapshot at or below its end, as Kafka does."""
        if end >= self.end:
            return "ok"
        self.logged = [one for one in self.logged if after(one) <= end]
        self.aborted = [one for one in self.aborted if one.last_offset < end]
        for base in [base for base in self.segments if base > end]:
            self.segments.remove(base)
            self.held.pop(base, None)
        self.log_start = min(self.log_start, end)
        was_empty = not self.producers and not self.producers.transactions.has_decided
        self.held = {at: entries for at, entries in self.held.items() if self.log_start < at <= end}
        newest = max(self.held, default=self.log_start)
        self.producers.reload(self.held.get(newest, ()), newest, self.now_ms)
        self.last_snapshot = newest
        # Kafka takes it that a log without producers had none before either.
        if not was_empty:
            self._replay_from(newest)
        self.producers.pass_over(end)
        self._snapshot()
        return self.hw(min(self.high_watermark, end))

    def _replay_from(self, offset: int) -> None:
        for logged in self.logged:
            if after(logged) <= offset:
                continue
            if base_of(logged) in self.segments[-2:]:
                self._snapshot()
            replayed(self.producers, logged)

    def _snapshot(self) -> None:
        at = self.producers.end_offset
        if at > self.last_snapshot:
            self.held[at] = self.producers.snapshot()
            self.last_snapshot = at

    def _append(self, decision: Decision, item: Logged) -> str:
        if decision.duplicate:
            known = decision.duplicate
            return f"duplicate {known.first_offset} {known.last_offset} {known.timestamp}"
        if decision.error:
            assert decision.reason
            return decision.error.name
        if isinstance(item, BatchHeader):
            item = item._replace(base_offset=self.end)
        try:
            completed = replayed(self.producers, item)
        except InvalidValue:
            return ErrorCode.INVALID_TXN_STATE.name
        self.logged.append(item)
        if completed and completed.is_aborted:
            self.aborted.append(completed)
        return "ok"

    def state(self) -> list[str]:
        """All that is known, a line each: partition, producers, what was aborted."""
        known, open_ = self.producers, self.producers.transactions
        unstable, undecided = open_.first_unstable_offset, open_.first_undecided_offset
        late = known.has_late_transaction(self.now_ms, TRANSACTION_TIMEOUT_MS_MAX)
        stable = known.last_stable_offset(self.log_start, self.high_watermark)
        first = f"end {known.end_offset} unstable {shown(unstable)} undecided {shown(undecided)}"
        lines = [f"{first} stable {stable} late {late:d}"]
        for row in known.describe():
            state = known.get(row.producer_id)
            assert state is not None
            batches = "".join(
                f" {b.first_sequence}-{b.last_sequence}@{b.first_offset}-{b.last_offset},"
                f"{b.timestamp}"
                for b in state.batches
            )
            lines.append(
                f"{row.producer_id} epoch {row.producer_epoch} coordinator {row.coordinator_epoch}"
                f" at {row.last_timestamp} open {row.current_txn_start_offset} batches{batches}"
            )
        aborted = "".join(
            f" {one.producer_id}@{one.first_offset}-{one.last_offset}<{one.last_stable_offset}"
            for one in self.aborted
            if one.last_offset >= self.log_start
        )
        return [*lines, f"aborted{aborted}"]


def row(entry: ProducerSnapshot.ProducerEntry) -> tuple[int, ...]:
    """The fields of a snapshot's entry."""
    return (
        entry.producer_id,
        entry.epoch,
        entry.last_sequence,
        entry.last_offset,
        entry.offset_delta,
        entry.timestamp,
        entry.coordinator_epoch,
        entry.current_txn_first_offset,
    )


def base_of(logged: Logged) -> int:
    """The first offset of a batch or a marker."""
    return logged.offset if isinstance(logged, Marker) else logged.base_offset


def after(logged: Logged) -> int:
    """The offset after a batch or a marker."""
    return logged.offset + 1 if isinstance(logged, Marker) else logged.next_offset


def shown(offset: int | None) -> int:
    """An offset, or -1 if there is none."""
    return -1 if offset is None else offset
