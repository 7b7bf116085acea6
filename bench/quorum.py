"""What a leader of the metadata quorum does in processor time, its log in memory."""

import random
import time
from collections.abc import Callable

from ottla.core.quorum.effects import FlushLog, StoreElection
from ottla.core.quorum.election import Election
from ottla.core.quorum.events import ElectionStored, Event, LogFlushed, RequestReceived, Ticked
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.machine import Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.requests import fetch_request
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.wire.fields import Uuid
from tests.sim.memory_log import MemoryLog

COUNT = 3000


def leader() -> tuple[Quorum, MemoryLog]:
    """A quorum of one that leads."""
    key = ReplicaKey(1, Uuid(bytes(range(16))))
    endpoints = (Endpoint("CONTROLLER", "localhost", 9093),)
    voters = VoterSet([Voter(key, endpoints)])
    options = QuorumOptions(
        key=key, cluster_id="c", listener="CONTROLLER", endpoints=endpoints, static_voters=voters
    )
    log = MemoryLog()
    quorum = Quorum(options, log, random.Random(1), Election(), Ticked(0, 0))
    step(quorum, log, Ticked(0, 0))
    return quorum, log


def step(quorum: Quorum, log: MemoryLog, event: Event) -> None:
    """Take an event in, with devices that take no time."""
    for effect in quorum.step(event):
        done(quorum, log, effect)


def done(quorum: Quorum, log: MemoryLog, effect: object) -> None:
    """Say that a device is done."""
    if isinstance(effect, StoreElection):
        step(quorum, log, ElectionStored())
    elif isinstance(effect, FlushLog):
        log.flush()
        step(quorum, log, LogFlushed())


def measured(action: Callable[[], None]) -> float:
    """Microseconds for one of many."""
    start = time.process_time()
    for _ in range(COUNT):
        action()
    return (time.process_time() - start) / COUNT * 1e6


def main() -> None:
    """Print one line for each kind of work."""
    quorum, log = leader()

    def append() -> None:
        appended = quorum.append(1, [b"x" * 100])
        assert appended is not None
        for effect in appended.effects:
            done(quorum, log, effect)

    observer = QuorumOptions(key=ReplicaKey(2), cluster_id="c", listener="CONTROLLER")
    at_end = OffsetAndEpoch(log.end_offset, 1)
    request = fetch_request(observer, 1, at_end, 0)
    event = RequestReceived(1, 17, request)
    print(f"fetch at the end, answered: {measured(lambda: step(quorum, log, event)):.0f} us")
    print(f"append of one record, flushed and committed: {measured(append):.0f} us")
    assert quorum.high_watermark == log.end_offset
    tick = Ticked(1, 1)
    print(f"tick of a leader: {measured(lambda: step(quorum, log, tick)):.1f} us")


if __name__ == "__main__":
    main()
