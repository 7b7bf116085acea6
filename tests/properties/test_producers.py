"""Whatever producers do: replay is live state, no gap gets in, nothing undecided is read."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.core.partition.leader_epochs import LeaderEpochs
from ottla.core.partition.producers import Marker, Producers
from ottla.records.batch import SEQUENCE_MAX, TRANSACTIONAL_BIT
from tests.scenarios.producer_log import ProducerLog, after, base_of, replayed

Step = tuple[str, int, int, int, int]
VERBS = ("plain", "transactional", "retry", "skip", "wrap", "bump", "commit", "abort", "hw", "roll")
verbs = st.sampled_from(VERBS + ("plain", "transactional") * 2)
steps = st.lists(
    st.tuples(verbs, st.integers(1, 3), st.integers(1, 4), st.integers(0, 3), st.integers(0, 2)),
    max_size=60,
)


def played(commands: list[Step]) -> ProducerLog:
    """A leader's log after the commands, of which it refused some."""
    log = ProducerLog(verify_transactions=0)
    for command in commands:
        play(log, *command)
    return log


def play(log: ProducerLog, verb: str, producer: int, count: int, back: int, version: int) -> None:
    state = log.producers.get(producer)
    epoch = state.epoch if state else 0
    sequence = (state.last_sequence + 1) & SEQUENCE_MAX if state else 0
    time = 1000 + log.end
    match verb:
        case "plain" | "transactional":
            log.client(producer, epoch, sequence, count, int(verb == "transactional"), time)
        case "retry":
            log.client(producer, epoch, max(sequence - back, 0), count, 0, time)
        case "skip":
            log.client(producer, epoch, sequence + back, count, 0, time)
        case "wrap":
            log.client(producer + 3, 0, SEQUENCE_MAX - back, count, 0, time)
        case "bump":
            log.client(producer, max(epoch + back - 1, 0), 0, count, version & 1, time)
        case "commit" | "abort":
            epoch += version == 2
            log.marker(producer, epoch, back, int(verb == "commit"), time, version)
        case "hw":
            log.hw(max(log.end - back, log.high_watermark))
        case _:
            if log.end != log.segments[-1]:
                log.roll()


@given(steps)
def test_replay_of_the_log_is_live_state(commands: list[Step]) -> None:
    log = played(commands)
    again = ProducerLog(verify_transactions=0)
    for one in log.logged:
        replayed(again.producers, one)
    again.high_watermark = log.high_watermark
    again.producers.move_high_watermark(log.high_watermark)
    assert again.state()[:-1] == log.state()[:-1]


@given(steps, st.integers(0, 60))
def test_a_snapshot_and_the_rest_are_live_state(commands: list[Step], place: int) -> None:
    log = played(commands)
    before, rest = log.logged[:place], log.logged[place:]
    first, second = (Producers(86_400_000, must_verify=False) for _ in range(2))
    for one in before:
        replayed(first, one)
    second.reload(first.snapshot(), first.end_offset, now_ms=0)
    assert second.snapshot() == first.snapshot()
    for one in rest:
        replayed(second, one)
    assert second.snapshot() == log.producers.snapshot()
    assert second.end_offset == log.end
    assert second.describe() == log.producers.describe()
    assert second.last_records() == log.producers.last_records()
    open_ = second.transactions.first_undecided_offset
    assert open_ == log.producers.transactions.first_undecided_offset
    for producer_id in log.producers.last_records():
        live, loaded = log.producers.get(producer_id), second.get(producer_id)
        assert live
        assert loaded
        kept = [batch[:4] for batch in loaded.batches]
        assert [batch[:4] for batch in live.batches][len(live.batches) - len(kept) :] == kept


@given(steps)
def test_no_gap_gets_in(commands: list[Step]) -> None:
    following: dict[tuple[int, int], int] = {}
    for one in played(commands).logged:
        if isinstance(one, Marker):
            continue
        key = one.producer_id, one.producer_epoch
        assert following.get(key, one.base_sequence) == one.base_sequence
        following[key] = (one.last_sequence + 1) & SEQUENCE_MAX


@given(steps)
def test_nothing_undecided_is_stable(commands: list[Step]) -> None:
    log = ProducerLog(verify_transactions=0)
    for command in commands:
        play(log, *command)
        stable = log.producers.last_stable_offset(log.log_start, log.high_watermark)
        assert stable == stable_by_the_log(log)
        assert log.log_start <= stable <= log.high_watermark
    assert [(one.producer_id, one.first_offset, one.last_offset) for one in log.aborted] == [
        (producer_id, first, last)
        for producer_id, first, last, is_commit in transactions_of(log)
        if last is not None and not is_commit
    ]


def transactions_of(log: ProducerLog) -> list[tuple[int, int, int | None, bool]]:
    """Producer, first offset, the marker's, and whether it commits: the ended, then the open."""
    open_: dict[int, int] = {}
    ended: list[tuple[int, int, int | None, bool]] = []
    for one in log.logged:
        if not isinstance(one, Marker):
            if one.attributes & TRANSACTIONAL_BIT:
                open_.setdefault(one.producer_id, one.base_offset)
        elif one.producer_id in open_:
            first = open_.pop(one.producer_id)
            ended.append((one.producer_id, first, one.offset, one.is_commit))
    return ended + [(producer_id, first, None, False) for producer_id, first in open_.items()]


def stable_by_the_log(log: ProducerLog) -> int:
    """The first offset of whatever is undecided below the high watermark, or that itself."""
    held = [
        first
        for _, first, last, _ in transactions_of(log)
        if last is None or last >= log.high_watermark
    ]
    return min([log.high_watermark, *held])


@given(steps)
def test_deciding_changes_nothing(commands: list[Step]) -> None:
    log = played(commands)
    before = log.state()
    for one in log.logged:
        if isinstance(one, Marker):
            log.producers.decide_marker(one, 2)
        else:
            log.producers.decide(one)
            log.producers.decide_offsets(one)
    assert log.state() == before


@given(steps, st.integers(0, 60))
def test_truncation_forgets_what_was_cut(commands: list[Step], place: int) -> None:
    log = played(commands)
    if not log.logged:
        return
    end = base_of(log.logged[place % len(log.logged)])
    kept = [one for one in log.logged if after(one) <= end]
    log.truncate(end)
    fresh = Producers(86_400_000, must_verify=False)
    for one in kept:
        replayed(fresh, one)
    assert log.producers.snapshot() == fresh.snapshot()
    assert log.producers.end_offset == end


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["assign", "assign", "end", "start"]),
            st.integers(0, 9),
            st.integers(0, 40),
        ),
        max_size=40,
    ),
    st.integers(-1, 10),
)
def test_epochs_are_those_of_a_plain_list(commands: list[tuple[str, int, int]], asked: int) -> None:
    epochs, listed = LeaderEpochs(), list[tuple[int, int]]()
    for verb, epoch, offset in commands:
        if verb == "assign":
            epochs.assign(epoch, offset)
            if not (listed and listed[-1][0] == epoch and listed[-1][1] <= offset):
                listed = [one for one in listed if one[0] < epoch and one[1] < offset]
                listed.append((epoch, offset))
        elif verb == "end":
            epochs.truncate_end(offset)
            listed = [one for one in listed if one[1] < offset]
        else:
            epochs.truncate_start(offset)
            gone = [one for one in listed if one[1] <= offset]
            first = [(epoch, offset) for epoch, _ in gone[-1:]]
            listed = first + listed[len(gone) :]
        assert epochs.entries() == listed
    found = epochs.end_offset_for(asked, 99)
    behind = [start for epoch, start in listed if epoch > asked]
    if asked in dict(listed) and not behind:
        assert found == (asked, 99)
    elif asked < 0 or not behind:
        assert found == (-1, -1)
    else:
        lower = [epoch for epoch, _ in listed if epoch <= asked]
        assert found == (max(lower, default=asked), behind[0])
