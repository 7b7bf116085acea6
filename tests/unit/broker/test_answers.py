"""Answers leave in order, what waits is bounded, and what is no request ends its connection."""

import pytest

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.fetch import FetchRequest
from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.broker.connections import WAITING_MAX
from ottla.broker.effects import Close, Effect, Pause, Resume, Send
from ottla.broker.events import Connected, Disconnected, Received, Ticked
from ottla.errors import ErrorCode
from ottla.sim.client import read_response, request_frame
from tests.unit.broker.one_node import OneNode, fetch_of


class Asking:
    """One connection, and what the node answers on it."""

    def __init__(self) -> None:
        self.one = OneNode()
        self.node = self.one.node
        self.node.step(Connected(7, "PLAINTEXT", "test"))

    def receive(self, frame: bytes) -> list[Effect]:
        return self.node.step(Received(7, memoryview(bytearray(frame))))

    def wait(self, number: int) -> list[Effect]:
        request = FetchRequest(max_wait_ms=1000, min_bytes=1, topics=[fetch_of(0)])
        return self.receive(request_frame(request, 12, number))

    def later(self, passed_ms: int) -> list[Effect]:
        clock = self.node.clock
        return self.node.step(Ticked(clock.now_ms + passed_ms, clock.wall_ms + passed_ms))


def numbers(effects: list[Effect]) -> list[int]:
    """The correlation ids of the answers."""
    sent = [b"".join(map(bytes, one.parts)) for one in effects if isinstance(one, Send)]
    return [int.from_bytes(data[4:8], "big") for data in sent]


def test_answers_leave_in_the_order_of_requests() -> None:
    asking = Asking()
    assert asking.wait(1) == []
    assert asking.receive(request_frame(ApiVersionsRequest(), 0, 2)) == []
    assert asking.wait(3) == []
    assert numbers(asking.later(1000)) == [1, 2, 3]


def test_a_connection_may_let_only_so_many_wait() -> None:
    asking = Asking()
    effects: list[Effect] = []
    for number in range(WAITING_MAX):
        effects += asking.wait(number)
    assert effects == [Pause(7)]
    done = asking.later(1000)
    assert numbers(done) == list(range(WAITING_MAX))
    assert [one for one in done if isinstance(one, Resume)] == [Resume(7)]


def test_nothing_of_a_connection_waits_after_its_end() -> None:
    asking = Asking()
    asking.wait(1)
    assert len(asking.node.waiting) == 1
    asking.node.step(Disconnected(7))
    assert len(asking.node.waiting) == 0


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        b"\0\1",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        request_frame(MetadataRequest(topics=[]), 9)[:-1],
        b"\0\3\0\x63" + bytes(20),
        b"\x7f\xff\0\0" + bytes(20),
    ],
    ids=["nothing", "short", "http", "tls", "cut", "version", "api"],
)
def test_what_is_no_request_ends_its_connection(frame: bytes) -> None:
    asking = Asking()
    (effect,) = asking.receive(frame)
    assert isinstance(effect, Close)
    assert asking.wait(1) == []
    assert len(asking.node.waiting) == 0


def test_a_client_that_is_too_new_learns_what_is_spoken() -> None:
    asking = Asking()
    (sent,) = asking.receive(b"\0\x12\0\x63" + (5).to_bytes(4, "big") + bytes(8))
    assert isinstance(sent, Send)
    number, answer = read_response(b"".join(map(bytes, sent.parts))[4:], 18, 0)
    assert isinstance(answer, ApiVersionsResponse)
    assert (number, answer.error_code) == (5, ErrorCode.UNSUPPORTED_VERSION)
    assert {one.api_key for one in answer.api_keys} >= {0, 1, 2, 3, 18}


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_api_versions_is_answered(version: int) -> None:
    one = OneNode()
    request = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    if version >= 3:
        assert one.ask(request, version, ApiVersionsResponse).error_code == 0
        request = ApiVersionsRequest(client_software_name="-x", client_software_version="1")
        refused = one.ask(request, version, ApiVersionsResponse)
        assert refused.error_code == ErrorCode.INVALID_REQUEST
    else:
        assert one.ask(ApiVersionsRequest(), version, ApiVersionsResponse).error_code == 0


def test_a_client_that_means_another_cluster_is_told() -> None:
    one = OneNode()
    request = ApiVersionsRequest(
        client_software_name="x", client_software_version="1", cluster_id="another"
    )
    answer = one.ask(request, 5, ApiVersionsResponse)
    assert answer.error_code == ErrorCode.REBOOTSTRAP_REQUIRED


@pytest.mark.parametrize("version", range(14))
def test_topics_are_described_and_made(version: int) -> None:
    one = OneNode()
    asked = [MetadataRequest.Topic(name="new")]
    answer = one.ask(MetadataRequest(topics=asked), version, MetadataResponse)
    # As Kafka says it: who asks again finds the topic.
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("new", unknown)]
    one.world.run(one.world.now_ms + 100)
    answer = one.ask(MetadataRequest(topics=asked), version, MetadataResponse)
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("new", 0)]
    everything = MetadataRequest(topics=None if version else [])
    names = [topic.name for topic in one.ask(everything, version, MetadataResponse).topics]
    assert names == ["new", "orders"]
    bad = MetadataRequest(topics=[MetadataRequest.Topic(name="a b")])
    code = one.ask(bad, version, MetadataResponse).topics[0].error_code
    assert code == ErrorCode.INVALID_TOPIC_EXCEPTION


@pytest.mark.parametrize("version", range(6))
def test_each_producer_gets_an_id_of_its_own(version: int) -> None:
    one = OneNode()
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    ids = {one.ask(request, version, InitProducerIdResponse).producer_id for _ in range(3)}
    assert len(ids) == 3
