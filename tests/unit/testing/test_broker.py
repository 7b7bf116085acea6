"""A broker in a test: there at once, several of them, gone without a trace, and never a hang."""

import asyncio
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.api.fetch import FetchResponse
from ottla.broker.events import Ticked
from ottla.testing import Broker, BrokerFailed
from tests.unit.testing.wire_peer import Peer, fetch_request, fetched, produce_request

READY_CPU_S = 0.05
RESET_CPU_S = 0.02
DAY_MS = 86_400_000


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        yield broker


def descriptors() -> list[str]:
    """What this process has open, as far as the system tells."""
    found: list[str] = []
    for path in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(path.readlink()))
        except FileNotFoundError:
            continue
    return sorted(found)


def test_nothing_is_left_behind() -> None:
    with Broker() as broker:
        pass  # What is loaded and opened for good by the first one does not count.
    before, threads = descriptors(), threading.active_count()
    with Broker() as broker, Peer(broker) as peer:
        peer.describe("orders")
        peer.produce("orders")
        folder = Path(broker.folder)
        assert folder.exists()
        broker.reset()
        address = broker.bootstrap
    assert (descriptors(), threading.active_count()) == (before, threads)
    assert not folder.exists()
    host, _, port = address.rpartition(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), 1)


def test_several_run_in_one_process() -> None:
    with Broker() as first, Broker() as second, Peer(first) as here, Peer(second) as there:
        here.describe("orders")
        assert here.produce("orders", values=3) == [(0, 0)]
        assert there.describe() == []
        second.reset()
        assert here.produce("orders") == [(0, 3)]


def test_it_is_ready_in_a_moment() -> None:
    """The time of the processor counts, since the machine may be busy; the least of some."""
    spent_s = []
    for _ in range(5):
        started_s = time.process_time()
        with Broker() as broker:
            spent_s.append(time.process_time() - started_s)
            with Peer(broker) as peer:
                assert peer.describe() == []
    assert min(spent_s) < READY_CPU_S


def test_a_reset_leaves_nothing_but_the_address(broker: Broker) -> None:
    spent_s, ids = [], set()
    address = broker.bootstrap
    for _ in range(5):
        with Peer(broker) as peer:
            assert peer.describe() == []
            (topic,) = peer.describe("orders")
            ids.add(topic.topic_id)
            assert peer.produce("orders") == [(0, 0)]
            started_s = time.process_time()
            broker.reset()
            spent_s.append(time.process_time() - started_s)
            assert peer.is_closed()
    assert broker.bootstrap == address
    assert len(ids) == 5
    assert min(spent_s) < RESET_CPU_S
    assert len(list(Path(broker.folder).iterdir())) == 1


def test_a_reset_ends_requests_that_wait(broker: Broker) -> None:
    with Peer(broker) as peer:
        peer.describe("orders")
        peer.send(fetch_request("orders", 0, max_wait_ms=60_000), 12)
        assert peer.hears_nothing(0.05)
        broker.reset()
        assert peer.is_closed()


def test_for_those_who_are_asynchronous() -> None:
    async def serve() -> bytes:
        async with Broker() as broker:
            host, _, port = broker.bootstrap.rpartition(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"\0\0\0\0")
            ended = await reader.read()
            writer.close()
            await writer.wait_closed()
            return ended

    assert asyncio.run(serve()) == b""


def fail(event: object) -> list[object]:
    raise AssertionError("I-NODE-9: planted")


def test_a_failure_is_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that breaks closes its connections, and every later call says why."""
    broker = Broker()
    broker.start()
    with Peer(broker) as peer:
        monkeypatch.setattr(broker._door, "step", fail)
        peer.send(produce_request("orders"), 9)
        assert peer.is_closed()
    for call in (broker.reset, lambda: broker.clock.advance(1), lambda: broker.bootstrap):
        with pytest.raises(BrokerFailed, match="I-NODE-9"):
            call()
    assert not broker.is_running
    before = descriptors()
    with pytest.raises(BrokerFailed, match="planted") as raised:
        broker.stop()
    assert isinstance(raised.value.__cause__, AssertionError)
    assert len(descriptors()) <= len(before)
    with broker:
        assert broker.is_running


def test_a_failure_within_an_action_is_no_hang(broker: Broker) -> None:
    def action() -> list[object]:
        raise AssertionError("planted")

    with pytest.raises(BrokerFailed, match="planted"):
        broker._do(action)
    with pytest.raises(BrokerFailed, match="planted"):
        broker.stop()


def test_an_unusable_setting_is_told_at_once() -> None:
    before = descriptors()
    with pytest.raises(Exception, match=r"log\.segment\.bytes"):
        Broker(settings={"log.segment.bytes": "many"}).start()
    assert descriptors() == before


def test_what_is_not_started_says_so() -> None:
    with pytest.raises(BrokerFailed, match="not started"):
        Broker().bootstrap  # noqa: B018  The property itself is what is asked.


def test_time_can_pass(broker: Broker) -> None:
    """A request that waits for a day is answered once the day has passed."""
    with Peer(broker) as peer:
        peer.describe("orders")
        peer.send(fetch_request("orders", 0, max_wait_ms=DAY_MS), 12)
        assert peer.hears_nothing(0.05)
        broker.clock.advance(DAY_MS)
        _, answer = peer.receive(FetchResponse)
        assert fetched(answer) == [(0, 0)]


def test_retention_sees_the_time() -> None:
    hour_ms = 3_600_000
    settings = {"log.retention.ms": str(hour_ms)}
    with Broker(settings=settings) as broker, Peer(broker) as peer:
        peer.describe("orders")
        peer.produce("orders", values=3)
        broker.clock.advance(hour_ms // 2)
        assert peer.fetch("orders", 0)[0][0] == 0
        broker.clock.advance(hour_ms)
        assert peer.fetch("orders", 0) == [(1, 0)]
        assert peer.fetch("orders", 0, offset=3) == [(0, 0)]


def test_time_does_not_go_back(broker: Broker) -> None:
    with pytest.raises(ValueError, match="back"):
        broker.clock.advance(-1)
    assert broker._door._now > Ticked(0, 0)


def test_the_plugin_loads_nothing_of_a_broker() -> None:
    code = "import sys, ottla.testing.plugin as _; print([m for m in sys.modules if 'ottla' in m])"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "['ottla', 'ottla.testing', 'ottla.testing.plugin']"
