"""Scripted faults: who meets them, how often, what becomes of a request, and what they cost."""

import time
from collections.abc import Callable, Iterator

import pytest

from ottla.api.fetch import FetchResponse
from ottla.api.produce import ProduceResponse
from ottla.broker.effects import Effect, Send
from ottla.broker.events import Connected, Received
from ottla.broker.handlers import produce as produce_handler
from ottla.sim.client import request_frame
from ottla.testing import Broker
from ottla.testing.faults import Rule
from tests.costs import calls
from tests.unit.testing.wire_peer import Peer, fetch_request, fetched, produce_request

DELAY_MS = 60_000
FETCH_SESSION = 12


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker(settings={"num.partitions": "2"}) as broker:
        yield broker


@pytest.fixture
def peer(broker: Broker) -> Iterator[Peer]:
    with Peer(broker) as peer:
        peer.describe("orders", "others")
        yield peer


def test_an_error_is_answered_so_often_and_nothing_is_done(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce", topic="orders", partition=0).error("NOT_LEADER_OR_FOLLOWER").times(
        2
    )
    assert [peer.produce("orders") for _ in range(3)] == [[(6, -1)], [(6, -1)], [(0, 0)]]
    said = "Produce v9 orders-0 NOT_LEADER_OR_FOLLOWER"
    assert broker.faults.report() == f"{said}\n{said}"
    assert broker.faults.fired[0].client_id == "simulated"


def test_only_the_partition_that_is_named_fails(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce", topic="orders", partition=1).error("NOT_LEADER_OR_FOLLOWER")
    assert peer.produce("orders", 0, 1) == [(0, 0), (6, -1)]
    assert peer.produce("orders", 0) == [(0, 1)]
    assert peer.produce("others", 0, 1) == [(0, 0), (0, 0)]
    assert len(broker.faults.fired) == 1


def test_a_topic_stands_for_all_its_partitions(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce", topic="orders").error("NOT_LEADER_OR_FOLLOWER")
    assert peer.produce("orders", 0, 1) == [(6, -1), (6, -1)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (lambda rule: rule.nth(3), [0, 0, 6, 0, 0]),
        (lambda rule: rule.nth(2).times(2), [0, 6, 6, 0, 0]),
        (lambda rule: rule.times(2).nth(2), [0, 6, 6, 0, 0]),
        (lambda rule: rule.times(1), [6, 0, 0, 0, 0]),
        (lambda rule: rule, [6, 6, 6, 6, 6]),
    ],
    ids=["nth", "nth-times", "times-nth", "times", "always"],
)
def test_which_calls_meet_it(
    broker: Broker, peer: Peer, script: Callable[[Rule], Rule], expected: list[int]
) -> None:
    script(broker.faults.on("Produce", topic="orders").error("NOT_LEADER_OR_FOLLOWER"))
    peer.produce("others")
    assert [peer.produce("orders")[0][0] for _ in expected] == expected


def test_the_first_rule_that_is_due_is_applied(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").error("KAFKA_STORAGE_ERROR").times(1)
    broker.faults.on("Produce").error("NOT_LEADER_OR_FOLLOWER").times(2)
    assert [peer.produce("orders")[0][0] for _ in range(3)] == [56, 6, 0]


def test_a_fetch_fails_where_it_is_told_to(broker: Broker, peer: Peer) -> None:
    peer.produce("orders", 0, 1)
    broker.faults.on("Fetch", topic="orders", partition=1).error("KAFKA_STORAGE_ERROR").times(1)
    first, second = (peer.fetch("orders", 0, 1) for _ in range(2))
    assert first == [second[0], (56, 0)]
    assert second[1][0] == 0 < second[1][1]


def test_a_fetch_that_names_only_its_session_is_met(broker: Broker, peer: Peer) -> None:
    """It would wait, as there is nothing; the fault is its news. The next one waits again."""
    opening = fetch_request("orders", 0, 1, session=(0, 0))
    session = peer.ask(opening, FETCH_SESSION, FetchResponse).session_id
    broker.faults.on("Fetch", topic="orders", partition=1).error("KAFKA_STORAGE_ERROR").times(1)
    waiting = fetch_request("orders", max_wait_ms=60_000, session=(session, 1))
    answer = peer.ask(waiting, FETCH_SESSION, FetchResponse)
    assert [(one.topic, one.partitions[0].partition_index) for one in answer.responses] == [
        ("orders", 1)
    ]
    assert fetched(answer) == [(56, 0)]
    again = peer.ask(fetch_request("orders", session=(session, 2)), FETCH_SESSION, FetchResponse)
    assert fetched(again) == [(0, 0)], "its high watermark is news after an error"


def test_metadata_of_a_topic_fails(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Metadata", topic="orders").error("LEADER_NOT_AVAILABLE").times(2)
    named = {one.name: one.error_code for one in peer.describe("orders", "others")}
    of_all = {one.name: one.error_code for one in peer.describe()}
    assert named == of_all == {"orders": 5, "others": 0}
    assert [one.error_code for one in peer.describe("orders")] == [0]


def test_without_acks_an_error_is_a_closed_connection(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").error("NOT_LEADER_OR_FOLLOWER").times(1)
    peer.send(produce_request("orders", acks=0), 9)
    assert peer.is_closed()


def test_a_dropped_request_is_not_done(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").drop().times(1)
    peer.send(produce_request("orders"), 9)
    assert peer.hears_nothing()
    assert peer.produce("orders") == [(0, 0)]


def test_a_dropped_answer_is_of_something_done(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").drop_answer().times(1)
    peer.send(produce_request("orders"), 9)
    assert peer.hears_nothing()
    assert peer.produce("orders") == [(0, 1)]


def test_a_connection_is_closed(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").close().times(1)
    peer.send(produce_request("orders"), 9)
    assert peer.is_closed()
    with Peer(broker) as other:
        assert other.produce("orders") == [(0, 0)]


def test_a_delay_goes_by_the_brokers_clock_and_keeps_the_order(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").delay(ms=DELAY_MS).times(1)
    late = peer.send(produce_request("orders", values=3), 9)
    next_one = peer.send(produce_request("orders"), 9)
    assert peer.hears_nothing()
    with Peer(broker) as other:
        assert other.fetch("orders", 0) == [(0, 0)], "nothing is done before its time"
    broker.clock.advance(DELAY_MS)
    assert [peer.receive(ProduceResponse)[0] for _ in range(2)] == [late, next_one]
    assert peer.produce("orders") == [(0, 4)]


def test_a_delay_passes_by_itself(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").delay(ms=50)
    started_s = time.monotonic()
    assert [peer.produce("orders") for _ in range(2)] == [[(0, 0)], [(0, 1)]]
    assert time.monotonic() - started_s >= 0.1


def test_a_fetch_that_is_late_may_wait_again(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Fetch").delay(ms=DELAY_MS).times(1)
    peer.send(fetch_request("orders", 0, max_wait_ms=DELAY_MS), 12)
    assert peer.hears_nothing(0.05)
    broker.clock.advance(DELAY_MS)
    assert peer.hears_nothing(0.05)
    with Peer(broker) as other:
        assert other.produce("orders") == [(0, 0)]
    _, answer = peer.receive(FetchResponse)
    assert fetched(answer)[0][1] > 0


def test_what_is_late_is_done_though_its_client_has_left(broker: Broker) -> None:
    """A connection that is held up is not read, so nobody has noticed; so it is with Kafka."""
    broker.faults.on("Produce").delay(ms=DELAY_MS)
    with Peer(broker) as peer:
        peer.describe("orders")
        peer.send(produce_request("orders"), 9)
        assert peer.hears_nothing(0.05)
    broker.clock.advance(DELAY_MS)
    with Peer(broker) as other:
        assert other.fetch("orders", 0)[0][1] > 0
    assert len(broker._door.node.waiting) == 0


def test_a_reset_ends_a_delay(broker: Broker, peer: Peer) -> None:
    broker.faults.on("Produce").delay(ms=DELAY_MS)
    peer.send(produce_request("orders"), 9)
    assert peer.hears_nothing(0.05)
    broker.reset()
    assert peer.is_closed()
    broker.clock.advance(DELAY_MS)
    with Peer(broker) as other:
        assert other.describe() == []


def test_a_reset_takes_them_away(broker: Broker) -> None:
    broker.faults.on("Produce").error("NOT_LEADER_OR_FOLLOWER")
    with Peer(broker) as peer:
        peer.describe("orders")
        assert peer.produce("orders") == [(6, -1)]
    broker.reset()
    assert broker.faults.fired == []
    with Peer(broker) as peer:
        peer.describe("orders")
        assert peer.produce("orders") == [(0, 0)]


@pytest.mark.parametrize(
    "script",
    [
        lambda faults: faults.on("Prodce"),
        lambda faults: faults.on("Produce", partition=0),
        lambda faults: faults.on("Produce").error("NOT_A_LEADER"),
        lambda faults: faults.on("Produce").error("NONE"),
        lambda faults: faults.on("Produce").delay(ms=-1),
        lambda faults: faults.on("Produce").nth(0),
        lambda faults: faults.on("Produce").times(0),
    ],
)
def test_what_cannot_be_is_refused(broker: Broker, script: Callable[[object], object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        script(broker.faults)


def test_without_faults_a_request_costs_nothing_more(broker: Broker, peer: Peer) -> None:
    """The same calls before there was a rule, with one for another API, and after it is cleared."""
    peer.produce("orders")
    node = broker._door.node
    frame = request_frame(produce_request("orders"), 9)

    def cost() -> int:
        """Ask the node itself, by the thread of its loop; twice, as the first makes the route."""
        counted: list[int] = []

        def produce() -> None:
            (effect,) = node.step(Received(99, memoryview(bytearray(frame))))
            assert isinstance(effect, Send)

        def count() -> list[Effect]:
            produce()
            counted.append(calls(produce))
            return []

        broker._do(count)
        return counted[0]

    broker._do(lambda: node.step(Connected(99, "PLAINTEXT", "costs")))
    never = cost()
    broker.faults.on("Fetch").drop()
    of_another = cost()
    broker.faults.on("Produce", topic="others").drop()
    watched = cost()
    broker.faults.clear()
    assert never == of_another == cost() < watched
    assert node.dispatch._routes[0, 9].handle is produce_handler.handle
