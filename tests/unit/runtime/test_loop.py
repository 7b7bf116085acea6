"""The real loop: whatever bytes come, the others are served, and memory stays bounded."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ottla.api.api_versions import ApiVersionsRequest
from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.records.builder import write_batch
from ottla.runtime.connections import BUFFER_BYTES_MIN, QUEUED_BYTES_MAX, SocketConnection
from ottla.runtime.process import NodeOptions, NodeProcess
from ottla.sim.client import read_response, request_frame

FRAME_BYTES_MAX = 100 << 20
TIMEOUT_S = 10


@contextmanager
def running(folder: Path) -> Iterator[NodeProcess]:
    """A node that runs in a thread."""
    process = NodeProcess(NodeOptions([str(folder)], port=0, level="ERROR"))
    thread = threading.Thread(target=process.loop.run, name="node")
    thread.start()
    try:
        yield process
    finally:
        process.loop.stop()
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    with running(tmp_path_factory.mktemp("node")) as process:
        yield process


def connected(node: NodeProcess) -> socket.socket:
    return socket.create_connection(node.address, TIMEOUT_S)


def framed(frame: bytes) -> bytes:
    return len(frame).to_bytes(4, "big") + frame


def exactly(peer: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = peer.recv(count - len(data))
        assert more, "the node has closed the connection"
        data += more
    return data


def answered(peer: socket.socket, frame: bytes) -> bytes:
    peer.sendall(framed(frame))
    return exactly(peer, int.from_bytes(exactly(peer, 4), "big"))


def is_served(peer: socket.socket) -> bool:
    return answered(peer, request_frame(ApiVersionsRequest(), 0, 9))[:4] == b"\0\0\0\x09"


@pytest.mark.parametrize(
    "data",
    [
        b"\0\0\0\0",
        b"\xff\xff\xff\xff",
        (FRAME_BYTES_MAX + 1).to_bytes(4, "big"),
        b"GET / HTTP/1.1\r\nHost: kafka\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600),
        framed(b"\0\0\0\1"),
        framed(request_frame(ApiVersionsRequest(), 0) + b"more")[:-1] + b"x",
    ],
    ids=["empty", "negative", "too-large", "http", "tls", "short", "long"],
)
def test_bytes_that_are_no_requests_end_their_connection(node: NodeProcess, data: bytes) -> None:
    with connected(node) as other, connected(node) as peer:
        assert is_served(other)
        peer.sendall(data)
        assert peer.recv(1) == b""
        assert is_served(other)


def test_a_request_may_come_byte_by_byte(node: NodeProcess) -> None:
    with connected(node) as peer:
        for byte in framed(request_frame(ApiVersionsRequest(), 0, 9)):
            peer.sendall(bytes([byte]))
        assert exactly(peer, 8)[4:] == b"\0\0\0\x09"


def make_topic(peer: socket.socket) -> None:
    topic = CreateTopicsRequest.Topic(
        name="large", num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    answered(peer, request_frame(CreateTopicsRequest(topics=[topic]), 7))


def flood(peer: socket.socket, data: bytes) -> None:
    """Send much more than both ends have room for."""
    sent = 0
    while sent < 64 << 20:
        sent += peer.send(data)


def produce_frame(size_bytes: int, acks: int = 1) -> bytes:
    rows = [(0, int(time.time() * 1000), None, bytes(size_bytes), ())]
    partition = ProduceRequest.Topic.Partition(index=0, records=bytes(write_batch(rows)))
    topic = ProduceRequest.Topic(name="large", partition_data=[partition])
    return request_frame(ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic]), 9)


def fetch_frame(offset: int) -> bytes:
    asked = FetchRequest.Topic.Partition(
        partition=0, fetch_offset=offset, partition_max_bytes=8 << 20
    )
    topic = FetchRequest.Topic(topic="large", partitions=[asked])
    return request_frame(FetchRequest(max_wait_ms=0, min_bytes=0, topics=[topic]), 12)


@pytest.fixture(scope="module")
def filled(node: NodeProcess) -> NodeProcess:
    """A node with a topic of some large batches."""

    with connected(node) as peer:
        make_topic(peer)
        for _ in range(8):
            answer = read_response(answered(peer, produce_frame(1 << 20)), 0, 9)[1]
            assert isinstance(answer, ProduceResponse)
            assert answer.responses[0].partition_responses[0].error_code == 10
            answer = read_response(answered(peer, produce_frame(1_000_000)), 0, 9)[1]
            assert isinstance(answer, ProduceResponse)
            assert answer.responses[0].partition_responses[0].error_code == 0
    return node


def test_large_answers_come_whole(filled: NodeProcess) -> None:
    with connected(filled) as peer:
        answer = read_response(answered(peer, fetch_frame(0)), 1, 12)[1]
        assert isinstance(answer, FetchResponse)
        assert len(answer.responses[0].partitions[0].records or b"") > 8_000_000


def test_who_does_not_read_is_not_read_from(filled: NodeProcess) -> None:
    """Ask for eight megabytes again and again, read nothing, and see that the asking ends."""
    with connected(filled) as greedy, connected(filled) as other:
        greedy.settimeout(0.5)
        with pytest.raises(TimeoutError):
            flood(greedy, framed(fetch_frame(0)) * 200)
        assert is_served(other)
        (slow,) = [
            one for one in filled.loop._by_number.values() if one._queued_bytes > QUEUED_BYTES_MAX
        ]
        assert slow._queued_bytes < QUEUED_BYTES_MAX + (9 << 20)
        assert not slow.wants_to_read


def test_a_length_that_is_only_claimed_takes_no_memory() -> None:
    here, there = socket.socketpair()
    there.setblocking(False)
    connection = SocketConnection(1, there, FRAME_BYTES_MAX)
    here.sendall(FRAME_BYTES_MAX.to_bytes(4, "big") + bytes(100))
    connection.receive()
    assert connection.next_frame() is None
    assert len(connection._buffer) == BUFFER_BYTES_MIN
    count = 104
    for _ in range(200):
        here.sendall(bytes(4096))
        connection.receive()
        count += 4096
        assert len(connection._buffer) <= max(BUFFER_BYTES_MIN, 2 * count)
    assert connection.next_frame() is None
    here.close()
    connection.close()


def test_a_clean_stop_keeps_everything(tmp_path: Path) -> None:

    with running(tmp_path) as process, connected(process) as peer:
        make_topic(peer)
        answered(peer, produce_frame(1000))
    assert (tmp_path / ".kafka_cleanshutdown").exists()
    with running(tmp_path) as process, connected(process) as peer:
        answer = read_response(answered(peer, fetch_frame(0)), 1, 12)[1]
        assert isinstance(answer, FetchResponse)
        assert answer.responses[0].partitions[0].high_watermark == 1
