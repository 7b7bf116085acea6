"""What the server says when a client goes wrong: which requests came, and what was wrong."""

import socket

import pytest

from ottla.api.metadata import MetadataRequest
from ottla.api.produce import ProduceRequest
from ottla.wire.codec import encode_frame
from ottla.wire.fields import Message
from ottla.wire.header import RequestHeader
from tests.conformance.one_partition_server import OnePartitionServer


def ask(server: OnePartitionServer, request: Message, version: int) -> bytes:
    """Send a request with a header of version 1; give what comes first, nothing at a hang-up."""
    header = RequestHeader(
        request_api_key=request.api_key,
        request_api_version=version,
        correlation_id=7,
        client_id="test",
    )
    with socket.create_connection(("127.0.0.1", server.partition.port), timeout=5) as client:
        client.sendall(b"".join(encode_frame(header, 1, request, version)))
        return client.recv(8)


def test_it_answers() -> None:
    with OnePartitionServer() as server:
        answer = ask(server, MetadataRequest(topics=None), 1)
        server.assert_well()
    assert answer[4:] == (7).to_bytes(4, "big")
    assert "Metadata v1" in server.report()


def test_a_version_that_was_not_offered_is_a_failure() -> None:
    request = ProduceRequest(acks=1, timeout_ms=1, topic_data=[])
    with OnePartitionServer(newest={"Produce": 3}) as server:
        assert ask(server, request, 4) == b""
        with pytest.raises(AssertionError, match=r"Produce v4 was not offered.*last: Produce v4"):
            server.assert_well()


def test_a_request_that_cannot_be_answered_is_a_failure() -> None:
    with OnePartitionServer() as server:
        assert ask(server, ProduceRequest(acks=1, timeout_ms=1, topic_data=[]), 3) == b""
        with pytest.raises(AssertionError, match=r"IndexError.*last: Produce v3"):
            server.assert_well()


def test_what_does_not_come_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conformance.one_partition_server._TIMEOUT_S", 0.05)
    with OnePartitionServer() as server, pytest.raises(AssertionError, match="last: nothing"):
        server.wait_for(lambda: False)
