"""What a produced batch costs: few calls, whatever is in it, and no copy of its bytes."""

import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from ottla import kernels
from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.produce import ProduceRequest
from ottla.broker.effects import Send
from ottla.broker.events import Connected, Received
from ottla.broker.node import Node
from ottla.records.builder import write_batch
from ottla.runtime.process import NodeOptions, NodeProcess
from ottla.sim.client import request_frame
from tests.costs import calls, peak_bytes

CALLS_MAX = 112
"""Of Python and C together, by which a batch gets from its frame to its answer."""
COPIED_BYTES_MAX = 8 << 10
TOGETHER = 5
"""As many requests as a producer has in flight."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[NodeProcess]:
    process = NodeProcess(NodeOptions([str(tmp_path)], port=0))
    node = process.node
    node.step(Connected(1, "PLAINTEXT", "costs"))
    asked = CreateTopicsRequest.Topic(
        name="costs", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    frame = bytearray(request_frame(CreateTopicsRequest(topics=[asked]), 7))
    process.loop.carry_out(node.step(Received(1, memoryview(frame))))
    while node.partitions.get("costs", 0) is None:
        process.loop.turn()
    yield process
    process.loop.stop()
    process.loop.run()


@pytest.fixture
def node(process: NodeProcess) -> Node:
    return process.node


def frame_of(records_count: int, value_bytes: int, later_ms: int = 0) -> bytes:
    wall_ms = int(time.time() * 1000) + later_ms
    rows = [(n, wall_ms, None, bytes(value_bytes), ()) for n in range(records_count)]
    partition = ProduceRequest.Topic.Partition(index=0, records=bytes(write_batch(rows)))
    topic = ProduceRequest.Topic(name="costs", partition_data=[partition])
    return request_frame(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 12)


def produce(node: Node, frame: bytes) -> None:
    buffer = bytearray(frame)
    (effect,) = node.step(Received(1, memoryview(buffer)))
    assert isinstance(effect, Send)


def test_a_batch_costs_few_calls_whatever_is_in_it(node: Node) -> None:
    for passed_ms in range(3):
        produce(node, frame_of(1, 16_000, passed_ms))
    # Each is later than the one before, so that both get their entries in the indexes.
    small, large = frame_of(1, 16_000, 1000), frame_of(1000, 16, 2000)
    one, many = calls(lambda: produce(node, small)), calls(lambda: produce(node, large))
    assert one == many
    if kernels.compiled:
        assert many <= CALLS_MAX


def test_requests_that_come_together_cost_one_call_each_way(process: NodeProcess) -> None:
    frame = frame_of(1, 100)
    asked = (len(frame).to_bytes(4, "big") + frame) * TOGETHER
    with socket.create_connection(process.address) as peer:
        # All lies in the peer's queue before the loop accepts the connection and reads.
        peer.sendall(asked)
        seen = Counter[str]()
        while not seen["sendmsg"]:
            seen += system_calls(process.loop.turn)
        answers = peer.recv(1 << 16)
    size_bytes = 4 + int.from_bytes(answers[:4], "big")
    assert len(answers) == TOGETHER * size_bytes
    assert (seen["recv_into"], seen["sendmsg"]) == (1, 1)
    assert seen["pwritev"] >= TOGETHER


def system_calls(action: Callable[[], None]) -> Counter[str]:
    """How often an action calls what is one call of the system, by its name."""
    seen = Counter[str]()

    def counted(frame: FrameType, event: str, argument: object) -> None:
        del frame
        name = getattr(argument, "__name__", "")
        if event == "c_call" and name in {"recv_into", "sendmsg", "sendfile", "pwritev"}:
            seen[name] += 1

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(before)
    return seen


def test_the_bytes_of_a_batch_are_not_copied(node: Node) -> None:
    frame = frame_of(10, 90_000)
    buffer = bytearray(frame)

    def send() -> None:
        memoryview(buffer)[:] = frame  # The other way would make a copy of it first.
        node.step(Received(1, memoryview(buffer)))

    send()
    assert peak_bytes(send) < COPIED_BYTES_MAX
