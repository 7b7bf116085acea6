"""What producing costs a whole broker: its processor time and its system calls, over loopback.

A process of its own runs the node as `ottla dev` does; this one drives it as an idempotent Java
producer would, with requests of one batch made beforehand, five of them in flight. What this side
costs is not counted. `python -m bench.produce [SECONDS] [HOST:PORT PID]`: with a PID, another
broker is measured that has a topic `bench` of one partition and runs as that process.
"""

import os
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from struct import Struct
from typing import Final, NamedTuple, TypeVar

from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.api.produce import ProduceRequest
from ottla.records.batch import SEQUENCE_MAX, seal
from ottla.records.builder import BatchOptions, write_batch
from ottla.sim.client import read_response, request_frame
from ottla.wire.fields import Message

TOPIC: Final = "bench"
VERSION: Final = 12
IN_FLIGHT: Final = 5
FRAMES: Final = 64
SECONDS: Final = 4.0
READY_SECONDS_MAX: Final = 20
TICKS: Final = os.sysconf("SC_CLK_TCK")
_SIZE: Final = Struct(">i")
_SEQUENCE: Final = Struct(">i")
_SEQUENCE_AT: Final = 53
_ERROR: Final = Struct(">h")
_NEW_PRODUCER: Final = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)

_M = TypeVar("_M", bound=Message)


class Case(NamedTuple):
    """What is in a batch."""

    name: str
    records: int
    value_bytes: int


CASES: Final = (Case("16 KiB", 16, 990), Case("1 record", 1, 100))


class Frame(NamedTuple):
    """A request with its length, and the batch that it ends in."""

    data: bytearray
    batch: memoryview


class Spent(NamedTuple):
    """Processor time of a process, in seconds."""

    user: float
    system: float


def asked(sock: socket.socket, message: Message, version: int, wanted: type[_M]) -> _M:
    """Ask once and wait."""
    frame = request_frame(message, version)
    sock.sendall(_SIZE.pack(len(frame)) + frame)
    answer = sock.recv(4, socket.MSG_WAITALL)
    key = wanted.api_key
    assert key is not None
    body = sock.recv(_SIZE.unpack(answer)[0], socket.MSG_WAITALL)
    _, response = read_response(body, key, version)
    assert isinstance(response, wanted)
    return response


def frames(case: Case, producer_id: int) -> list[Frame]:
    """Requests of one batch each, with different bytes."""
    chance, now_ms = Random(1), int(time.time() * 1000)
    found: list[Frame] = []
    options = BatchOptions(producer_id=producer_id, producer_epoch=0, base_sequence=0)
    for _ in range(FRAMES):
        values = [chance.randbytes(case.value_bytes) for _ in range(case.records)]
        rows = [(n, now_ms, None, value, ()) for n, value in enumerate(values)]
        batch = bytes(write_batch(rows, options))
        one = ProduceRequest.Topic.Partition(index=0, records=batch)
        topic = ProduceRequest.Topic(name=TOPIC, partition_data=[one])
        frame = request_frame(
            ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=[topic]), VERSION
        )
        data = bytearray(_SIZE.pack(len(frame)) + frame)
        start = data.index(batch)
        found.append(Frame(data, memoryview(data)[start : start + len(batch)]))
    return found


def drive(sock: socket.socket, case: Case, seconds: float) -> int:
    """Keep requests in flight for so long; give how many were answered."""
    asked(sock, MetadataRequest(topics=[MetadataRequest.Topic(name=TOPIC)]), 9, MetadataResponse)
    given = asked(sock, _NEW_PRODUCER, 4, InitProducerIdResponse).producer_id
    prepared = frames(case, given)
    sent = answered = sequence = 0
    answers = bytearray()
    until = time.monotonic() + seconds
    while answered < sent or time.monotonic() < until:
        while sent - answered < IN_FLIGHT and time.monotonic() < until:
            frame = prepared[sent % FRAMES]
            _SEQUENCE.pack_into(frame.batch, _SEQUENCE_AT, sequence & SEQUENCE_MAX)
            seal(frame.batch)
            sock.sendall(frame.data)
            sequence += case.records
            sent += 1
        if answered < sent:
            answers += sock.recv(65536)
            answered += _taken(answers)
    return answered


def _taken(answers: bytearray) -> int:
    """Check the whole answers that have come, take them away, and give how many they were."""
    count = position = 0
    while len(answers) - position >= 4:
        end = position + 4 + _SIZE.unpack_from(answers, position)[0]
        if end > len(answers):
            break
        # Length, correlation id, tags; one topic, its name, one partition, its index, its error.
        error_at = position + 4 + 4 + 1 + 1 + 1 + len(TOPIC) + 1 + 4
        (error,) = _ERROR.unpack_from(answers, error_at)
        assert error == 0, f"error {error}"
        position = end
        count += 1
    del answers[:position]
    return count


def spent(pid: int) -> Spent:
    """What a process has spent so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    return Spent(int(fields[11]) / TICKS, int(fields[12]) / TICKS)


@contextmanager
def our_node(*before: str) -> Iterator[tuple[str, int]]:
    """A node, by its address and process."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*before, sys.executable, "-m", "ottla", "dev", "--port", "0", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as node:
            assert node.stdout is not None
            with selectors.DefaultSelector() as selector:
                selector.register(node.stdout, selectors.EVENT_READ)
                assert selector.select(READY_SECONDS_MAX), "the node does not start"
            said = node.stdout.readline().decode()
            try:
                yield said.strip().rpartition("=")[2], node.pid
            finally:
                # Who traces it waits for it, and ends with it.
                traced = Path(f"/proc/{node.pid}/task/{node.pid}/children").read_text("ascii")
                os.kill(int(traced) if before else node.pid, signal.SIGTERM)


def connected(address: str) -> socket.socket:
    """A connection as a producer has it."""
    host, _, port = address.rpartition(":")
    sock = socket.create_connection((host, int(port)))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def measure(address: str, pid: int, case: Case, seconds: float) -> None:
    """Print what a batch costs a broker."""
    with connected(address) as sock:
        drive(sock, case, seconds / 4)
        before = spent(pid)
        count = drive(sock, case, seconds)
        after = spent(pid)
    user, system = ((now - then) / count * 1e6 for now, then in zip(after, before, strict=True))
    gigabytes = count * case.records * case.value_bytes / 1e9
    whole = (sum(after) - sum(before)) / gigabytes
    print(
        f"{case.name:9} {user:6.1f} us user {system:6.1f} us system a batch, {whole:6.2f} s/GB,"
        f" {count / seconds:8.0f} batches/s"
    )


def count_calls(case: Case, seconds: float) -> None:
    """Print how many system calls a batch costs a node, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "calls"
        traced = our_node("strace", "-f", "-c", "-o", os.fspath(table))
        with traced as (address, _), connected(address) as sock:
            count = drive(sock, case, seconds)
        rows = [line.split() for line in table.read_text(encoding="ascii").splitlines()]
    often: dict[str, float] = {}
    for row in rows:
        if row and row[0][0].isdigit() and row[-1] != "total" and int(row[3]) > count / 50:
            often[row[-1]] = int(row[3]) / count
    listed = ", ".join(f"{name} {each:.2f}" for name, each in sorted(often.items()))
    print(f"{case.name:9} system calls a batch: {listed}")


def main(arguments: list[str]) -> None:
    """Measure our node, or another broker."""
    seconds = float(arguments[0]) if arguments else SECONDS
    if len(arguments) > 1:
        address, pid = arguments[1], int(arguments[2])
        for case in CASES:
            measure(address, pid, case, seconds)
        return
    with our_node() as (address, pid):
        for case in CASES:
            measure(address, pid, case, seconds)
    if shutil.which("strace"):
        for case in CASES:
            count_calls(case, seconds / 2)


if __name__ == "__main__":
    main(sys.argv[1:])
