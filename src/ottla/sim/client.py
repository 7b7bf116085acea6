"""Clients of the simulated network: they send encoded frames, and note what they were promised."""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeVar

from ottla.api.apis import (
    APIS,
    request_header_version,
    response_class,
    response_header_version,
)
from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.sim.network import Link
from ottla.sim.node import SimulatedNode
from ottla.sim.world import World
from ottla.wire.codec import decode, decode_prefix, encode
from ottla.wire.fields import Message, Uuid
from ottla.wire.header import RequestHeader, ResponseHeader

_M = TypeVar("_M", bound=Message)

CLIENT_ID: Final = "simulated"
CREATE_VERSION: Final = 7


class _Open(NamedTuple):
    """A request that has no answer yet."""

    correlation_id: int
    key: int
    version: int
    sent_ms: int
    answered: Callable[[Message], None]


def request_frame(message: Message, version: int, correlation_id: int = 1) -> bytes:
    """A request as it is sent, without its length."""
    header = RequestHeader(
        request_api_key=message.api_key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=CLIENT_ID,
    )
    header_version = request_header_version(message.api_key, version)
    return encode(header, header_version) + encode(message, version)


def read_response(frame: bytes, key: int, version: int) -> tuple[int, Message]:
    """The correlation id and the message of an answer."""
    header, position = decode_prefix(ResponseHeader, frame, response_header_version(key, version))
    message = decode(response_class(key), memoryview(frame)[position:], version)
    return header.correlation_id, message


class SimulatedClient:
    """One client with one connection, which it makes anew when it has none.

    It fails if answers come in another order than the requests, or later than they may.
    """

    def __init__(self, world: World, name: str, node: Callable[[], SimulatedNode]) -> None:
        """`node` gives the node that runs at the moment."""
        self.world = world
        self.name = name
        self._node = node
        self._link: Link | None = None
        self._open: deque[_Open] = deque()
        self._last_id = 0

    @property
    def has_open(self) -> bool:
        """Does it wait for an answer?"""
        return bool(self._open)

    @property
    def waits_since_ms(self) -> int:
        """When the oldest request was sent that has no answer."""
        return self._open[0].sent_ms if self._open else self.world.now_ms

    def ask(self, message: Message, version: int, answered: Callable[[Message], None]) -> None:
        """Send a request; if the connection breaks there is no answer."""
        link = self._connected()
        if link is None:
            return
        self._last_id += 1
        if _wants_answer(message):
            sent = _Open(self._last_id, message.api_key, version, self.world.now_ms, answered)
            self._open.append(sent)
        self.world.say(self.name, f"ask {APIS[message.api_key].name} {self._last_id}")
        link.send(request_frame(message, version, self._last_id))

    def cut(self) -> None:
        """Break the connection, if there is one."""
        if self._link is not None:
            self._link.cut()

    def _connected(self) -> Link | None:
        if self._link is None or not self._link.is_open:
            node = self._node()
            if not node.is_serving:
                return None
            self._link = Link(self.world, node, self._received, self._closed)
        return self._link

    def _received(self, frame: bytes) -> None:
        assert self._open, f"{self.name}: an answer that nobody asked for"
        first = self._open.popleft()
        correlation_id, message = read_response(frame, first.key, first.version)
        assert correlation_id == first.correlation_id, f"{self.name}: answers out of order"
        self.world.say(self.name, f"answer {correlation_id} {len(frame)}")
        first.answered(message)

    def _closed(self) -> None:
        self.world.say(self.name, "closed")
        self._open.clear()


def _wants_answer(message: Message) -> bool:
    return getattr(message, "acks", 1) != 0


def start_serving(node: SimulatedNode) -> None:
    """Let the world of a node run until clients can connect to it."""
    deadline_ms = node.world.now_ms + 60_000
    while not node.is_serving:
        assert node.world.now_ms < deadline_ms, "it does not serve within a minute"
        node.world.run(node.world.now_ms + 1)


def create_topic(
    node: SimulatedNode, name: str, partition_count: int, configs: Mapping[str, str] | None = None
) -> Uuid:
    """Let there be a topic on a node that serves; give its id."""
    given = [CreateTopicsRequest.Topic.Config(name=n, value=v) for n, v in (configs or {}).items()]
    wanted = CreateTopicsRequest.Topic(
        name=name,
        num_partitions=partition_count,
        replication_factor=1,
        assignments=[],
        configs=given,
    )
    request = CreateTopicsRequest(topics=[wanted])
    (topic,) = ask_node(node, request, CREATE_VERSION, CreateTopicsResponse).topics
    assert not topic.error_code, topic
    return topic.topic_id


def ask_node(node: SimulatedNode, message: Message, version: int, wanted: type[_M]) -> _M:
    """Ask a node directly, and let its world run until it has answered; for tests of one API."""
    answers: list[bytes] = []
    number = node.connect(lambda data: answers.append(data or b""))
    node.receive(number, request_frame(message, version))
    deadline_ms = node.world.now_ms + 60_000
    while not answers and node.world.now_ms < deadline_ms:
        node.world.run(node.world.now_ms + 1)
    node.disconnect(number)
    assert answers, "no answer within a minute"
    _, response = read_response(answers[0][4:], message.api_key, version)
    assert isinstance(response, wanted)
    return response
