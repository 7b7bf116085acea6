"""What makes no sense is answered by an error, or left alone, and changes nothing."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from ottla.core.quorum.effects import Answer, Effect, FlushLog, StoreElection
from ottla.core.quorum.election import Election
from ottla.core.quorum.events import ElectionStored, Event, LogFlushed, RequestReceived, Ticked
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.machine import Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.requests import (
    begin_request,
    end_request,
    fetch_request,
    fetch_snapshot_request,
    vote_request,
)
from ottla.core.quorum.sound_batches import sound_bytes
from ottla.core.quorum.voters import Voter, VoterSet
from ottla.core.quorum.writing import write_values
from ottla.errors import ErrorCode
from ottla.wire.fields import Message
from tests.sim.memory_log import MemoryLog
from tests.sim.quorum_world import endpoint, key

VOTERS = VoterSet(Voter(key(id_), (endpoint(id_),)) for id_ in (1,))
START = OffsetAndEpoch(0, 0)


def options(id_: int) -> QuorumOptions:
    return QuorumOptions(
        key=key(id_), cluster_id="cluster", listener="CONTROLLER", static_voters=VOTERS
    )


class Alone:
    """A leader that has nobody to follow it, with devices that take no time."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        now = Ticked(0, 0)
        self.machine = Quorum(options(1), self.log, random.Random(1), Election(), now)
        self.step(now)

    def step(self, event: Event) -> list[Effect]:
        effects = self.machine.step(event)
        for effect in effects:
            if isinstance(effect, StoreElection):
                effects += self.step(ElectionStored())
            elif isinstance(effect, FlushLog):
                self.log.flush()
                effects += self.step(LogFlushed())
        return effects

    def ask(self, request: Message, version: int | None = None) -> Any:
        version = request.versions.last if version is None else version
        (answer,) = self.step(RequestReceived(1, version, request))
        assert isinstance(answer, Answer)
        return answer.response


def requests() -> dict[str, Callable[[], Any]]:
    return {
        "vote": lambda: vote_request(options(2), 1, START, key(1), is_pre_vote=False),
        "begin": lambda: begin_request(options(2), 1, key(1)),
        "end": lambda: end_request(options(2), 1, []),
        "fetch": lambda: fetch_request(options(2), 1, START, 0),
        "fetch snapshot": lambda: fetch_snapshot_request(options(2), 1, START, 0),
    }


def other_cluster(request: Any) -> None:
    request.cluster_id = "another"


def no_topics(request: Any) -> None:
    request.topics = []


def two_topics(request: Any) -> None:
    request.topics = request.topics * 2


def no_partitions(request: Any) -> None:
    request.topics[0].partitions = []


@pytest.mark.parametrize("name", requests())
@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (other_cluster, ErrorCode.INCONSISTENT_CLUSTER_ID),
        (no_topics, ErrorCode.INVALID_REQUEST),
        (two_topics, ErrorCode.INVALID_REQUEST),
        (no_partitions, ErrorCode.INVALID_REQUEST),
    ],
)
def test_a_request_as_a_whole(name: str, spoil: Callable[[Any], None], error: ErrorCode) -> None:
    leader = Alone()
    before = (leader.machine.epoch, leader.log.end_offset, leader.machine.state)
    request = requests()[name]()
    spoil(request)
    assert leader.ask(request).error_code == error
    assert (leader.machine.epoch, leader.log.end_offset, leader.machine.state) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("fetch_offset", -1),
        ("last_fetched_epoch", -1),
        ("last_fetched_epoch", 2),
    ],
)
def test_a_fetch_that_cannot_be(field: str, value: int) -> None:
    request = requests()["fetch"]()
    setattr(request.topics[0].partitions[0], field, value)
    assert Alone().ask(request).responses[0].partitions[0].error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("field", "value"),
    [("last_offset", -1), ("last_offset_epoch", -1), ("last_offset_epoch", 9), ("replica_id", -1)],
)
def test_a_vote_that_cannot_be(field: str, value: int) -> None:
    leader, request = Alone(), requests()["vote"]()
    place = request.topics[0].partitions[0]
    place.replica_epoch = 9
    setattr(place, field, value)
    assert leader.ask(request).topics[0].partitions[0].error_code == ErrorCode.INVALID_REQUEST
    assert leader.machine.epoch == 1


def test_a_request_for_another_voter() -> None:
    request = requests()["vote"]()
    request.voter_id = 7
    answer = Alone().ask(request)
    assert answer.topics[0].partitions[0].error_code == ErrorCode.INVALID_VOTER_KEY


def test_a_piece_of_a_snapshot_that_is_not_there() -> None:
    answer = Alone().ask(requests()["fetch snapshot"]())
    assert answer.topics[0].partitions[0].error_code == ErrorCode.SNAPSHOT_NOT_FOUND


def test_no_changed_bit_of_a_batch_gets_into_the_log() -> None:
    """Base offset and epoch are outside of the checksum, and are looked at on their own."""
    batch = bytes(write_values([b"one", b"two"], 5, 3, 0, 1 << 20))
    end = OffsetAndEpoch(5, 3)
    assert sound_bytes(batch, end, 3) == len(batch)
    for bit in range(8 * len(batch)):
        changed = bytearray(batch)
        changed[bit // 8] ^= 1 << bit % 8
        assert sound_bytes(changed, end, 3) == 0, f"bit {bit}"


@pytest.mark.parametrize(
    ("end", "epoch_max"),
    [
        (OffsetAndEpoch(4, 3), 3),
        (OffsetAndEpoch(6, 3), 3),
        (OffsetAndEpoch(5, 4), 4),
        (OffsetAndEpoch(5, 3), 2),
    ],
)
def test_batches_that_do_not_go_on(end: OffsetAndEpoch, epoch_max: int) -> None:
    batch = bytes(write_values([b"one"], 5, 3, 0, 1 << 20))
    assert sound_bytes(batch, end, epoch_max) == 0
