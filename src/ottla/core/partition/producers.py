"""What a partition knows of its producers: which batch is a retry, who is fenced, what is stable.

A producer numbers its records (KIP-98): per partition, sequences follow on from each other, past
2**31 - 1 from 0 on, and begin at 0 with each new epoch of the producer. So a batch that comes again
is known by its sequences, and one that overtook another is refused, to be sent again after it. A
lower epoch is that of a producer that was replaced. A transaction is open in a partition from its
first batch until a marker of the coordinator commits or aborts it.

`decide`, `decide_offsets` and `decide_marker` answer whether a leader may append, changing nothing.
`replay` and `replay_marker` take what is in the log, and nothing else changes a producer: on a
leader after the append, on a follower, in recovery. They do not judge: it is in the log, so it
counts, a lower epoch included. Only a plain batch within a transaction cannot be: it is refused.

A snapshot holds all but the older batches of each producer, and one time: a newest batch gets that
of a marker after it. Once one is loaded, a retry of an older batch is refused as out of order.

The caller carries out the append, keeps the snapshots and tells the time: the wall clock's, since
it is compared with the times of batches.

Invariants:
I-PROD-1  What is replayed ends at or past the end offset, which thereby only rises; `reload` and
          `start_at` alone set it back.
I-PROD-2  A batch that `decide` accepts follows in sequence on the last one of its epoch, begins a
          new epoch at 0, or is the first that is known of its producer: no gap gets in.
I-PROD-3  A producer has at most five known batches, all of its epoch, in the order of offsets.
I-PROD-4  A producer's transaction is open here exactly if it is among `transactions`.
I-PROD-5  Log start <= last stable offset <= high watermark; no open transaction lies below it.
I-PROD-6  A producer with an open transaction does not expire.
I-PROD-7  State after replay of a whole log = state of a snapshot and replay of the rest = live
          state, but for the older batches and the newest one's time.
I-PROD-8  A control batch is no data: it comes as a marker, or is passed over.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, Protocol

from ottla.api.describe_producers import DescribeProducersResponse
from ottla.api.partition_files import ProducerSnapshot
from ottla.core.partition.open_transactions import CompletedTransaction, OpenTransactions
from ottla.core.partition.producer_state import NO_EPOCH, NO_OFFSET, KnownBatch, ProducerState
from ottla.core.partition.verifications import NO_GUARD, Verification, Verifications
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.records.batch import CONTROL_BIT, SEQUENCE_MAX, TRANSACTIONAL_BIT

PRODUCER_EPOCH_MAX: Final = 2**15 - 1
EPOCH_PER_TRANSACTION: Final = 2
"""The transaction version from which on every transaction has its own epoch (KIP-890)."""
LATE_MS: Final = 300_000
"""How long past the longest time-out a transaction may be open before it is called late."""


class ProducerBatch(Protocol):
    """What is read of a batch; its header and its row of a scan both have it."""

    @property
    def attributes(self) -> int: ...
    @property
    def base_offset(self) -> int: ...
    @property
    def last_offset(self) -> int: ...
    @property
    def producer_id(self) -> int: ...
    @property
    def producer_epoch(self) -> int: ...
    @property
    def base_sequence(self) -> int: ...


class Marker(NamedTuple):
    """The end of a transaction, as the coordinator wrote it and where it lies."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    is_commit: bool
    offset: int = NO_OFFSET
    timestamp: int = -1


class Decision(NamedTuple):
    """Whether to append; a duplicate is not appended but answered as it was the first time."""

    error: ErrorCode = ErrorCode.NONE
    reason: str = ""
    duplicate: KnownBatch | None = None


class LastRecord(NamedTuple):
    """What a cleaner must keep of a producer: its last batch, or without one its epoch's marker."""

    last_data_offset: int
    producer_epoch: int


ACCEPTED: Final = Decision()
_OUT_OF_ORDER: Final = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
_Described = DescribeProducersResponse.Topic.Partition.Producer


class Producers:
    """The producers of one partition and their transactions."""

    __slots__ = (
        "_states",
        "end_offset",
        "expiration_ms",
        "must_verify",
        "transactions",
        "verifications",
    )

    def __init__(self, expiration_ms: int, *, must_verify: bool) -> None:
        self.expiration_ms = expiration_ms
        self.must_verify = must_verify
        self.end_offset = 0
        self.transactions = OpenTransactions()
        self.verifications = Verifications()
        self._states: dict[int, ProducerState] = {}

    def __len__(self) -> int:
        return len(self._states)

    def get(self, producer_id: int) -> ProducerState | None:
        """What is known of a producer; only `replay` changes it."""
        return self._states.get(producer_id)

    def decide(self, batch: ProducerBatch, guard: int = NO_GUARD) -> Decision:
        """May a client's batch be appended? `guard` is the one under which it was verified."""
        producer_id, epoch, first = batch.producer_id, batch.producer_epoch, batch.base_sequence
        if producer_id < 0:
            return ACCEPTED
        state = self._states.get(producer_id)
        if state is not None and state.epoch == epoch:
            for known in state.batches:
                if known.first_sequence == first:
                    last = (first + batch.last_offset - batch.base_offset) & SEQUENCE_MAX
                    if known.last_sequence == last:
                        return Decision(duplicate=known)
        is_transactional = batch.attributes & TRANSACTIONAL_BIT != 0
        if is_transactional:
            refused = self._why_not_in_transaction(state, batch, guard)
            if refused is not None:
                return refused
        asked = self.verifications.get(producer_id)
        refused = _why_not_in_sequence(state, epoch, first, asked)
        if refused is not None:
            return refused
        if not is_transactional and state is not None and state.open_transaction_offset >= 0:
            return _plain_within_transaction(producer_id)
        return ACCEPTED

    def decide_offsets(self, batch: ProducerBatch, guard: int = NO_GUARD) -> Decision:
        """May a batch of a group's offsets be appended? Those all have the sequence 0."""
        if batch.producer_id < 0:
            return ACCEPTED
        state = self._states.get(batch.producer_id)
        if batch.attributes & TRANSACTIONAL_BIT:
            return self._why_not_in_transaction(state, batch, guard) or ACCEPTED
        if state is None:
            return ACCEPTED
        if batch.producer_epoch < state.epoch:
            return _fenced(batch.producer_id, batch.producer_epoch, state.epoch)
        if state.open_transaction_offset >= 0:
            return _plain_within_transaction(batch.producer_id)
        return ACCEPTED

    def decide_marker(self, marker: Marker, transaction_version: int) -> Decision:
        """May a transaction be ended so?

        Where every transaction has its own epoch, a marker brings the next one (KIP-1228). One of
        the same epoch is a retry if nothing is open, or if there is no higher epoch to bring.
        """
        producer_id, epoch = marker.producer_id, marker.producer_epoch
        state = self._states.get(producer_id)
        if state is None:
            return ACCEPTED
        if epoch < state.epoch:
            return _fenced(producer_id, epoch, state.epoch)
        if (
            epoch == state.epoch
            and transaction_version >= EPOCH_PER_TRANSACTION
            and state.open_transaction_offset >= 0
            and epoch != PRODUCER_EPOCH_MAX
        ):
            return _fenced(producer_id, epoch, state.epoch)
        if marker.coordinator_epoch < state.coordinator_epoch:
            reason = (
                f"producer {producer_id}: coordinator epoch {marker.coordinator_epoch} is lower "
                f"than {state.coordinator_epoch}"
            )
            return Decision(ErrorCode.TRANSACTION_COORDINATOR_FENCED, reason)
        return ACCEPTED

    def replay(self, batch: ProducerBatch, base_offset: int, timestamp: int) -> None:
        """Take in a batch of data, where it lies and with the largest time that it has there."""
        delta = batch.last_offset - batch.base_offset
        last_offset = base_offset + delta
        assert last_offset >= self.end_offset, "I-PROD-1"
        assert batch.attributes & CONTROL_BIT == 0, "I-PROD-8"
        producer_id = batch.producer_id
        if producer_id >= 0:
            state = self._states.get(producer_id)
            if state is None:
                state = ProducerState(producer_id)
            epoch, first = batch.producer_epoch, batch.base_sequence
            is_transactional = batch.attributes & TRANSACTIONAL_BIT != 0
            if not is_transactional and state.open_transaction_offset >= 0:
                raise InvalidValue(_plain_within_transaction(producer_id).reason)
            self._states[producer_id] = state
            if state.epoch != epoch:
                state.batches.clear()
                state.epoch = epoch
            last = (first + delta) & SEQUENCE_MAX if first >= 0 else first
            state.batches.append(KnownBatch(first, last, base_offset, last_offset, timestamp))
            state.last_timestamp = timestamp
            if is_transactional:
                if state.open_transaction_offset < 0:
                    state.open_transaction_offset = base_offset
                    self.transactions.begin(producer_id, base_offset)
                self.verifications.void(producer_id, epoch, is_marker=False)
        self.end_offset = last_offset + 1

    def replay_marker(self, marker: Marker) -> CompletedTransaction | None:
        """Take in the end of a transaction; None if nothing of it lies in this partition."""
        producer_id, epoch, coordinator_epoch, is_commit, offset, timestamp = marker
        assert offset >= self.end_offset, "I-PROD-1"
        state = self._states.get(producer_id)
        if state is None:
            state = self._states[producer_id] = ProducerState(producer_id)
        first_offset = state.open_transaction_offset
        if state.epoch != epoch:
            state.batches.clear()
            state.epoch = epoch
        state.coordinator_epoch = coordinator_epoch
        state.last_timestamp = timestamp
        self.verifications.void(producer_id, epoch, is_marker=True)
        self.end_offset = offset + 1
        if first_offset < 0:
            return None
        state.open_transaction_offset = NO_OFFSET
        stable = self.transactions.complete(first_offset, offset)
        return CompletedTransaction(producer_id, first_offset, offset, not is_commit, stable)

    def pass_over(self, end_offset: int) -> None:
        """Take in what says nothing of producers: other control batches, or an emptied marker."""
        assert end_offset >= self.end_offset, "I-PROD-1"
        self.end_offset = end_offset

    def start_verification(
        self, batch: ProducerBatch, now_ms: int, *, supports_epoch_bump: bool
    ) -> int | Decision:
        """The guard under which to ask the coordinator; none if the transaction is seen open."""
        producer_id, epoch = batch.producer_id, batch.producer_epoch
        state = self._states.get(producer_id)
        if state is not None and epoch < state.epoch:
            return _fenced(producer_id, epoch, state.epoch)
        if state is not None and state.epoch == epoch and state.open_transaction_offset >= 0:
            return NO_GUARD
        return self.verifications.start(
            producer_id,
            batch.base_sequence,
            epoch,
            now_ms,
            supports_epoch_bump=supports_epoch_bump,
        )

    def expire(self, now_ms: int) -> None:
        """Forget producers that have been silent for too long, and questions never answered."""
        self._expire_producers(now_ms)
        self.verifications.expire(now_ms - self.expiration_ms)

    def move_high_watermark(self, high_watermark: int) -> None:
        """Ended transactions whose marker can be lost no more hold nothing back."""
        self.transactions.release(high_watermark)

    def move_log_start(self, log_start_offset: int) -> None:
        """Nothing before the log's start holds anything back; producers are remembered."""
        self.transactions.release(log_start_offset)
        self.end_offset = max(self.end_offset, log_start_offset)

    def last_stable_offset(self, log_start_offset: int, high_watermark: int) -> int:
        """Before which a reader of committed records may read."""
        unstable = self.transactions.first_unstable_offset
        if unstable is None:
            return high_watermark
        return min(max(unstable, log_start_offset), high_watermark)

    def has_late_transaction(self, now_ms: int, timeout_ms_max: int) -> bool:
        """Has the oldest open transaction had no batch for longer than any may take?"""
        producer_id = self.transactions.oldest_producer_id
        if producer_id is None:
            return False
        last_ms = self._states[producer_id].last_timestamp
        return last_ms > 0 and now_ms - last_ms > timeout_ms_max + LATE_MS

    def snapshot(self) -> list[ProducerSnapshot.ProducerEntry]:
        """What a snapshot at the end offset holds, by producer id."""
        return [self._states[one].to_entry() for one in sorted(self._states)]

    def start_at(self, end_offset: int) -> None:
        """Forget all producers, for a log that begins anew at an offset."""
        self._states.clear()
        self.transactions.clear()
        self.end_offset = end_offset

    def reload(
        self,
        entries: Iterable[ProducerSnapshot.ProducerEntry],
        end_offset: int,
        now_ms: int,
    ) -> None:
        """Be as a snapshot at an offset says, but for what has expired since.

        This is also how truncation goes: reload a snapshot at or below the log's new end, or
        `start_at` its start, and replay what lies between.
        """
        states = {entry.producer_id: ProducerState.of_entry(entry) for entry in entries}
        begun = {s.open_transaction_offset: s for s in states.values() if s.is_in_transaction}
        if len(begun) != sum(s.is_in_transaction for s in states.values()):
            raise InvalidValue("two transactions of a snapshot begin at one offset")
        known = [max(s.open_transaction_offset, s.last_data_offset) for s in states.values()]
        if max(known, default=NO_OFFSET) >= end_offset:
            raise InvalidValue(f"a snapshot at {end_offset} knows of {max(known)}")
        self.start_at(end_offset)
        self._states = states
        self._expire_producers(now_ms)
        for first_offset in sorted(begun):
            self.transactions.begin(begun[first_offset].producer_id, first_offset)

    def describe(self) -> list[DescribeProducersResponse.Topic.Partition.Producer]:
        """The rows of DescribeProducers, by producer id."""
        return [
            _Described(
                producer_id=state.producer_id,
                producer_epoch=state.epoch,
                last_sequence=state.last_sequence,
                last_timestamp=state.last_timestamp,
                coordinator_epoch=state.coordinator_epoch,
                current_txn_start_offset=state.open_transaction_offset,
            )
            for _, state in sorted(self._states.items())
        ]

    def last_records(self) -> dict[int, LastRecord]:
        """What a cleaner must keep, by producer id."""
        return {
            producer_id: LastRecord(state.last_data_offset, state.epoch)
            for producer_id, state in self._states.items()
        }

    def _expire_producers(self, now_ms: int) -> None:
        before_ms = now_ms - self.expiration_ms
        self._states = {
            producer_id: state
            for producer_id, state in self._states.items()
            if state.last_timestamp > before_ms or state.open_transaction_offset >= 0
        }

    def _why_not_in_transaction(
        self, state: ProducerState | None, batch: ProducerBatch, guard: int
    ) -> Decision | None:
        """Does a transactional batch belong to a transaction, open here or verified?"""
        producer_id, epoch = batch.producer_id, batch.producer_epoch
        if state is not None:
            if state.epoch == epoch and state.open_transaction_offset >= 0:
                return None
            if epoch < state.epoch:
                return _fenced(producer_id, epoch, state.epoch)
        if self.must_verify and not self.verifications.is_proven(producer_id, guard):
            reason = f"producer {producer_id}: the batch belongs to no open transaction"
            return Decision(ErrorCode.INVALID_TXN_STATE, reason)
        return None


def _why_not_in_sequence(
    state: ProducerState | None, epoch: int, first: int, asked: Verification | None
) -> Decision | None:
    """Does a batch follow on from what is known of its producer and its epoch?"""
    known_epoch = NO_EPOCH if state is None else state.epoch
    batches = () if state is None else state.batches
    if epoch < known_epoch:
        return _fenced(-1 if state is None else state.producer_id, epoch, known_epoch)
    if asked is not None:
        if asked.supports_epoch_bump and first != 0 and not batches:
            return Decision(_OUT_OF_ORDER, f"sequence {first} begins a transaction, not 0")
        if first > asked.lowest_sequence:
            reason = f"sequence {first} comes before {asked.lowest_sequence}, which waits"
            return Decision(_OUT_OF_ORDER, reason)
    if known_epoch == NO_EPOCH:
        return None
    if epoch != known_epoch:
        expected = 0
    else:
        expected = (batches[-1].last_sequence + 1) & SEQUENCE_MAX if batches else 0
    if first == expected:
        return None
    return Decision(_OUT_OF_ORDER, f"epoch {epoch}: sequence {first}, not {expected}")


def _fenced(producer_id: int, epoch: int, known_epoch: int) -> Decision:
    reason = f"producer {producer_id}: epoch {epoch}, but {known_epoch} was seen"
    return Decision(ErrorCode.INVALID_PRODUCER_EPOCH, reason)


def _plain_within_transaction(producer_id: int) -> Decision:
    reason = f"producer {producer_id}: a batch outside of the transaction that is open"
    return Decision(ErrorCode.INVALID_TXN_STATE, reason)
