"""What a produced batch costs a node, and what it would cost if appends were effects.

Requests of one batch of 16 KiB go through `Node.step` with no socket in between, on a real disk.
`the node` is as it is. The other two have a handler that does no more than append: `direct` calls
the log, `by effects` answers with an effect that the driver carries out, and tells by an event that
the batch is there. Run as `python -m bench.append_paths`.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from random import Random
from typing import Final, NamedTuple, cast

from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.broker import appending
from ottla.broker.connections import Request
from ottla.broker.events import Connected, Received
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.records.batch import WritableBuffer
from ottla.records.builder import write_batch
from ottla.records.check import check
from ottla.records.scan import BatchRow
from ottla.runtime.loop import clock_tick
from ottla.runtime.process import NodeOptions, NodeProcess
from ottla.sim.client import request_frame
from ottla.wire.fields import Message

RECORDS: Final = 16
FRAMES: Final = 64
ROUNDS: Final = 5
BATCHES: Final = 5000


class AppendToLog(NamedTuple):
    """The effect that there is not."""

    request: Request
    partition: Partition
    data: WritableBuffer
    rows: list[BatchRow]


class Appended(NamedTuple):
    """The event that would answer it."""

    effect: AppendToLog
    fault: OSError | None


def frames(wall_ms: int) -> list[bytes]:
    """Requests of one batch each, with different bytes."""
    chance = Random(1)
    found: list[bytes] = []
    for _ in range(FRAMES):
        rows = [(n, wall_ms, None, chance.randbytes(990), ()) for n in range(RECORDS)]
        one = ProduceRequest.Topic.Partition(index=0, records=bytes(write_batch(rows)))
        topic = ProduceRequest.Topic(name="bench", partition_data=[one])
        found.append(
            request_frame(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[topic]), 12)
        )
    return found


def decide(node: Node, message: Message, request: Request) -> AppendToLog:
    """Check and place a batch."""
    one = cast("ProduceRequest", message).topic_data[0].partition_data[0]
    partition = node.partitions.get("bench", one.index)
    assert partition is not None
    records = cast("memoryview", one.records)
    verdict = check(records, partition.topic.options.rules, node.clock.wall_ms)
    assert verdict.header is not None
    header, wall_ms = verdict.header, node.clock.wall_ms
    data, rows = appending.place(partition, records, verdict, header, wall_ms)
    return AppendToLog(request, partition, data, rows)


def append_directly(node: Node, message: Message, request: Request) -> Message | None:
    """A handler that appends."""
    decided = decide(node, message, request)
    _, partition, data, rows = decided
    try:
        partition.append(data, rows, node.clock.wall_ms)
    except OSError:
        return None
    return answer(decided)


def leave_to_driver(node: Node, message: Message, request: Request) -> None:
    """A handler that leaves the append to the driver, and the request waiting."""
    effects = cast("list[object]", node.effects)
    effects.append(decide(node, message, request))
    request.parked = cast("None", request)


def answer(decided: AppendToLog) -> Message:
    """What a client is told of a batch that is there."""
    _, partition, _, rows = decided
    code = partition.leader.is_committed(partition.log.end_offset)
    told = ProduceResponse.Topic.Partition(
        index=partition.index, error_code=code or 0, base_offset=rows[0].base_offset
    )
    topic = ProduceResponse.Topic(name="bench", partition_responses=[told])
    return ProduceResponse(responses=[topic])


def finish(node: Node, event: Appended) -> None:
    """Answer once the batch is there."""
    node.dispatch.answer(event.effect.request, answer(event.effect))


def by_effects(node: Node) -> Callable[[memoryview], object]:
    """The same path with an effect and an event more."""
    clock = node.clock
    node._steps[Appended] = lambda event: finish(node, event)  # noqa: SLF001  Only a bench does this.
    tell = cast("Callable[[object], list[object]]", node.step)

    def send(frame: memoryview) -> object:
        for effect in tell(Received(1, frame)):
            if type(effect) is AppendToLog:
                fault: OSError | None = None
                try:
                    effect.partition.append(effect.data, effect.rows, clock.wall_ms)
                except OSError as raised:
                    fault = raised
                tell(Appended(effect, fault))
        return None

    return send


def microseconds(send: Callable[[memoryview], object], given: list[bytes]) -> float:
    """Processor time a batch: the node writes into the bytes, so each round has fresh ones."""
    rounds: list[float] = []
    for _ in range(ROUNDS):
        buffers = [bytearray(frame) for frame in given]
        spent = 0.0
        for n in range(BATCHES):
            buffer = buffers[n % FRAMES]
            buffer[:] = given[n % FRAMES]
            began = time.process_time()
            send(memoryview(buffer))
            spent += time.process_time() - began
        rounds.append(spent / BATCHES * 1e6)
    return statistics.median(rounds)


def main() -> None:
    """Print both."""
    with tempfile.TemporaryDirectory() as folder:
        process = NodeProcess(NodeOptions([os.fspath(folder)], port=0))
        node = process.node
        tick = clock_tick()
        node.step(tick)
        node.step(Connected(1, "PLAINTEXT", "bench"))
        asked = CreateTopicsRequest.Topic(
            name="bench", num_partitions=1, replication_factor=1, assignments=[], configs=[]
        )
        create = bytearray(request_frame(CreateTopicsRequest(topics=[asked]), 7))
        process.loop.carry_out(node.step(Received(1, memoryview(create))))
        while node.partitions.get("bench", 0) is None:
            process.loop.turn()
        given = frames(tick.wall_ms)
        whole = microseconds(lambda frame: node.step(Received(1, frame)), given)
        print(f"the node    {whole:6.1f} us a batch")
        route = node.dispatch._routes[0, 12]  # noqa: SLF001  Only a bench does this.
        route.handle = append_directly
        direct = microseconds(lambda frame: node.step(Received(1, frame)), given)
        print(f"direct      {direct:6.1f} us a batch")
        route.handle = leave_to_driver
        effects = microseconds(by_effects(node), given)
        print(f"by effects  {effects:6.1f} us a batch, {effects - direct:+.1f}")


if __name__ == "__main__":
    main()
