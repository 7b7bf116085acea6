"""What the scenarios of producers do not show: values exchanged, broken invariants, the cost."""

from collections.abc import Callable

import pytest

from ottla.api.partition_files import ProducerSnapshot
from ottla.core.partition.leader_epochs import LeaderEpochs
from ottla.core.partition.open_transactions import OpenTransactions
from ottla.core.partition.producer_state import KnownBatch
from ottla.core.partition.producers import ACCEPTED, LastRecord, Marker, Producers
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT, BatchHeader
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.scan import scan
from tests.costs import calls
from tests.scenarios.producer_log import header

DAY_MS = 86_400_000


def fresh(*, must_verify: bool = False) -> Producers:
    return Producers(DAY_MS, must_verify=must_verify)


def entry(producer_id: int, **fields: int) -> ProducerSnapshot.ProducerEntry:
    known = {"epoch": 2, "last_sequence": 1, "last_offset": 9, "offset_delta": 3}
    rest = {"timestamp": 50, "coordinator_epoch": 4, "current_txn_first_offset": -1}
    return ProducerSnapshot.ProducerEntry(producer_id=producer_id, **{**known, **rest, **fields})


def plain(sequence: int, count: int = 1) -> BatchHeader:
    return header(7, 0, sequence, count, 1000, transactional=False)


def test_a_snapshot_comes_back_as_it_was() -> None:
    entries = [entry(3), entry(5, current_txn_first_offset=2), entry(8, last_offset=-1)]
    entries[2].last_sequence, entries[2].offset_delta = -1, 0
    producers = fresh()
    producers.reload(reversed(entries), 10, now_ms=60)
    assert producers.snapshot() == entries
    assert producers.end_offset == 10
    assert producers.transactions.first_unstable_offset == 2
    state = producers.get(3)
    assert state
    assert [*state.batches] == [KnownBatch(2**31 - 2, 1, 6, 9, 50)]


def test_a_cleaner_is_told_what_to_keep() -> None:
    producers = fresh()
    producers.reload([entry(3), entry(8, last_offset=-1)], 10, now_ms=60)
    assert producers.last_records() == {3: LastRecord(9, 2), 8: LastRecord(-1, 2)}


def test_open_transactions_of_a_snapshot_lie_in_the_order_of_their_offsets() -> None:
    producers = fresh()
    entries = [entry(1, current_txn_first_offset=6), entry(2, current_txn_first_offset=2)]
    producers.reload(entries, 10, now_ms=DAY_MS * 2)
    assert producers.transactions.oldest_producer_id == 2
    completed = producers.replay_marker(Marker(2, 2, 5, False, 10, 70))
    assert completed == (2, 2, 10, True, 6)


def test_a_row_of_a_scan_is_replayed_as_its_header_is() -> None:
    options = BatchOptions(base_offset=5, producer_id=7, producer_epoch=1, base_sequence=3)
    rows = [(5, 1000, None, b"a", ()), (6, 1001, None, b"b", ())]
    batch = bytes(write_batch(rows, options))
    by_row, by_header = fresh(), fresh()
    row, parsed = scan(batch).rows[0], BatchHeader.parse(batch)
    by_row.replay(row, row.base_offset, row.max_timestamp)
    by_header.replay(parsed, parsed.base_offset, parsed.max_timestamp)
    assert by_row.snapshot() == by_header.snapshot() != []
    assert by_row.end_offset == by_header.end_offset == 7


def test_a_refused_copy_changes_nothing() -> None:
    producers = fresh()
    producers.replay(header(7, 0, 0, 1, 1000, transactional=True), 0, 1000)
    before = producers.snapshot()
    with pytest.raises(InvalidValue, match="producer 7"):
        producers.replay(plain(1), 1, 1000)
    assert producers.snapshot() == before
    assert producers.end_offset == 1


@pytest.mark.parametrize(
    "lower",
    [
        lambda producers: producers.replay(plain(0), 4, 1000),
        lambda producers: producers.replay_marker(Marker(7, 0, 0, True, 4, 1000)),
        lambda producers: producers.pass_over(4),
    ],
)
def test_what_lies_below_the_end_offset_is_not_replayed(
    lower: Callable[[Producers], object],
) -> None:
    producers = fresh()
    producers.start_at(5)
    with pytest.raises(AssertionError, match="I-PROD-1"):
        lower(producers)


def test_a_marker_is_not_replayed_as_data() -> None:
    batch = plain(0)._replace(attributes=CONTROL_BIT | TRANSACTIONAL_BIT)
    with pytest.raises(AssertionError, match="I-PROD-8"):
        fresh().replay(batch, 0, 1000)


@pytest.mark.parametrize(
    "entries",
    [
        [entry(1, current_txn_first_offset=2), entry(2, current_txn_first_offset=2)],
        [entry(1, last_offset=10)],
        [entry(1, current_txn_first_offset=10)],
    ],
)
def test_a_snapshot_that_contradicts_itself_is_refused(
    entries: list[ProducerSnapshot.ProducerEntry],
) -> None:
    producers = fresh()
    producers.replay(plain(0), 0, 1000)
    with pytest.raises(InvalidValue, match="snapshot"):
        producers.reload(entries, 10, now_ms=60)
    assert len(producers) == producers.end_offset == 1


def test_a_batch_over_the_log_start_is_replayed() -> None:
    producers = fresh()
    producers.start_at(2)
    producers.replay(header(7, 0, 0, 4, 1000, transactional=True), 0, 1000)
    assert producers.end_offset == 4
    assert producers.last_stable_offset(2, 4) == 2


def test_nothing_before_the_log_start_holds_anything_back() -> None:
    producers = fresh()
    producers.replay(header(7, 0, 0, 1, 1000, transactional=True), 0, 1000)
    producers.replay_marker(Marker(7, 0, 0, True, 1, 1000))
    producers.move_log_start(1)
    assert producers.transactions.first_unstable_offset == 0
    producers.move_log_start(9)
    assert producers.transactions.first_unstable_offset is None
    assert producers.end_offset == 9


def test_a_log_that_begins_anew_knows_nothing() -> None:
    producers = fresh()
    for producer_id in (7, 8):
        batch = header(producer_id, 0, 0, 1, 1000, transactional=True)
        producers.replay(batch, producers.end_offset, 1000)
    producers.replay_marker(Marker(7, 0, 0, True, 2, 1000))
    producers.start_at(5)
    assert len(producers) == 0
    assert not producers.transactions.has_decided
    assert producers.last_stable_offset(5, 9) == 9


def test_a_transaction_without_a_time_is_not_late() -> None:
    producers = fresh()
    producers.replay(header(7, 0, 0, 1, -1, transactional=True), 0, -1)
    assert not producers.has_late_transaction(DAY_MS, 0)
    producers.replay(header(7, 0, 1, 1, 1, transactional=True), 1, 1)
    assert producers.has_late_transaction(DAY_MS, 0)


def test_transactions_begin_and_end_in_order() -> None:
    transactions = OpenTransactions()
    transactions.begin(1, 5)
    with pytest.raises(AssertionError, match="I-TXN-1"):
        transactions.begin(2, 5)
    transactions.begin(2, 6)
    transactions.complete(5, 8)
    with pytest.raises(AssertionError, match="I-TXN-2"):
        transactions.complete(6, 8)


@pytest.mark.parametrize(("epoch", "offset"), [(-1, 4), (3, -4)])
def test_an_epoch_is_not_negative(epoch: int, offset: int) -> None:
    with pytest.raises(AssertionError, match="I-EPOCH-1"):
        LeaderEpochs().assign(epoch, offset)


def test_answers_say_why() -> None:
    producers = fresh()
    producers.replay(plain(0), 0, 1000)
    refused = producers.decide(plain(4))
    assert refused.error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused.reason == "epoch 0: sequence 4, not 1"


@pytest.mark.parametrize("known", [1, 5])
@pytest.mark.parametrize("is_transactional", [False, True])
def test_a_batch_in_order_costs_few_calls(known: int, *, is_transactional: bool) -> None:
    producers = fresh(must_verify=True)
    for sequence in range(known):
        batch = header(7, 0, sequence, 1, 1000, transactional=is_transactional)
        producers.replay(batch, sequence, 1000)
    batch = header(7, 0, known, 1, 1000, transactional=is_transactional)
    decisions = []
    assert calls(lambda: decisions.append(producers.decide(batch))) <= 8
    assert decisions == [ACCEPTED]
    assert calls(lambda: producers.replay(batch, known, 1000)) <= 12


def test_a_batch_without_a_producer_costs_fewer_still() -> None:
    producers = fresh()
    batch = header(-1, -1, -1, 1, 1000, transactional=False)
    assert calls(lambda: producers.decide(batch)) == 1
    assert calls(lambda: producers.replay(batch, 0, 1000)) == 2
