"""A peer of a broker that sends single requests, so that a test knows which is which."""

import socket
import time
from types import TracebackType
from typing import Self, TypeVar

from ottla.api.apis import APIS
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.errors import ErrorCode
from ottla.records.builder import write_batch
from ottla.sim.client import read_response, request_frame
from ottla.testing import Broker
from ottla.wire.fields import Message

_M = TypeVar("_M", bound=Message)
TIMEOUT_S = 10


class Peer:
    """One connection."""

    def __init__(self, broker: Broker) -> None:
        host, _, port = broker.bootstrap.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        self._last_id = 0
        self._versions: dict[int, tuple[int, int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()

    def send(self, message: Message, version: int) -> int:
        self._last_id += 1
        frame = request_frame(message, version, self._last_id)
        self._versions[self._last_id] = (message.api_key, version)
        self._socket.sendall(len(frame).to_bytes(4, "big") + frame)
        return self._last_id

    def receive(self, wanted: type[_M]) -> tuple[int, _M]:
        """The next answer, and which request it is of."""
        frame = self._exactly(int.from_bytes(self._exactly(4), "big"))
        number = int.from_bytes(frame[:4], "big")
        _, message = read_response(frame, *self._versions[number])
        assert isinstance(message, wanted), APIS[self._versions[number][0]].name
        return number, message

    def ask(self, message: Message, version: int, wanted: type[_M]) -> _M:
        number, answer = self.send(message, version), self.receive(wanted)
        assert answer[0] == number
        return answer[1]

    def is_closed(self) -> bool:
        """Has the broker closed it? Waits for that, or for an answer."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def hears_nothing(self, seconds: float = 0.2) -> bool:
        self._socket.settimeout(seconds)
        try:
            self._socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self._socket.settimeout(TIMEOUT_S)
        return False

    def describe(self, *names: str) -> list[MetadataResponse.Topic]:
        """Ask for topics until they are made, if there are none; for all without any."""
        topics = [MetadataRequest.Topic(name=name) for name in names]
        deadline_s = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline_s:
            found = self.ask(MetadataRequest(topics=topics or None), 12, MetadataResponse).topics
            if all(one.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION for one in found):
                return found
        raise AssertionError(f"{names} are not made")

    def produce(self, topic: str, *indexes: int, values: int = 1) -> list[tuple[int, int]]:
        """The error and the offset of each partition."""
        return outcomes(self.ask(produce_request(topic, *indexes, values=values), 9, _Produced))

    def fetch(self, topic: str, *indexes: int, offset: int = 0) -> list[tuple[int, int]]:
        """The error and the bytes of each partition."""
        return fetched(self.ask(fetch_request(topic, *indexes, offset=offset), 12, FetchResponse))

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            assert more, "the broker has closed the connection"
            data += more
        return data


_Produced = ProduceResponse


def produce_request(topic: str, *indexes: int, values: int = 1, acks: int = -1) -> ProduceRequest:
    wall_ms = int(time.time() * 1000)
    records = bytes(write_batch([(n, wall_ms, None, b"value", ()) for n in range(values)]))
    partitions = [
        ProduceRequest.Topic.Partition(index=index, records=records) for index in indexes or (0,)
    ]
    asked = ProduceRequest.Topic(name=topic, partition_data=partitions)
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[asked])


def outcomes(response: ProduceResponse) -> list[tuple[int, int]]:
    found = [one for topic in response.responses for one in topic.partition_responses]
    return [(one.error_code, one.base_offset) for one in sorted(found, key=lambda one: one.index)]


def fetch_request(
    topic: str,
    *indexes: int,
    offset: int = 0,
    max_wait_ms: int = 0,
    session: tuple[int, int] = (0, -1),
) -> FetchRequest:
    partitions = [
        FetchRequest.Topic.Partition(partition=index, fetch_offset=offset, partition_max_bytes=9999)
        for index in indexes
    ]
    topics = [FetchRequest.Topic(topic=topic, partitions=partitions)] if partitions else []
    return FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        topics=topics,
        session_id=session[0],
        session_epoch=session[1],
    )


def fetched(response: FetchResponse) -> list[tuple[int, int]]:
    assert response.error_code == 0
    found = [one for topic in response.responses for one in topic.partitions]
    found.sort(key=lambda one: one.partition_index)
    return [(one.error_code, len(one.records or b"")) for one in found]
