"""What becomes of a request that meets a fault."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.api.produce import ProduceRequest
from ottla.broker.connections import Request
from ottla.broker.dispatch import Handle, RequestRefused
from ottla.broker.effects import Pause
from ottla.broker.fetching import refused
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.testing.targets import Target, append_topics, name_of, split, topics_of
from ottla.wire.fields import Message


class Met(NamedTuple):
    """A request that has met a fault, and how it would have been handled."""

    node: Node
    message: Message
    request: Request
    inner: Handle
    targets: tuple[Target, ...]
    """What the fault is about; empty for the whole request."""


def drop(met: Met) -> None:
    """Let the request have never come."""
    del met


def close(met: Met) -> None:
    """End the connection."""
    met.node.close(met.request.connection, "a fault that was asked for")


def drop_answer(met: Met) -> None:
    """Do it, and let the answer be lost; a request that would wait for something is dropped."""
    node, request = met.node, met.request
    met.inner(node, _at_once(met.message), request)
    if request.parked is not None:
        node.waiting.drop(request.parked)
        request.parked = None


@dataclass(frozen=True)
class Error:
    """Answer with an error."""

    code: ErrorCode

    def __call__(self, met: Met) -> Message | None:
        """Refuse what the fault is about, and do the rest."""
        node, message, request = met.node, met.message, met.request
        if isinstance(message, ProduceRequest) and message.acks == 0:
            # All that a client without an answer can be told is that something failed.
            close(met)
            return None
        if not met.targets:
            return request.route.refuse(message, self.code)
        if isinstance(message, FetchRequest | MetadataRequest):
            response = met.inner(node, _at_once(message), request)
            assert response is not None, "what is asked at once is answered at once"
            self._mark(met, response)
            return response
        return self._refuse_some(met)

    def _refuse_some(self, met: Met) -> Message | None:
        node, request = met.node, met.request
        refused_part, rest = split(node, met.message, met.targets)
        answer = request.route.refuse(refused_part, self.code)
        if answer is None or not topics_of(rest):
            return answer
        response = met.inner(node, rest, request)
        if response is None:
            # The rest would have to wait, and there is one answer: so all of it fails.
            if request.parked is not None:
                node.waiting.drop(request.parked)
                request.parked = None
            return request.route.refuse(met.message, self.code)
        append_topics(response, answer)
        return response

    def _mark(self, met: Met, response: Message) -> None:
        if isinstance(response, FetchResponse):
            if not response.error_code:
                for target in met.targets:
                    self._mark_fetched(met, response, target)
        elif isinstance(response, MetadataResponse):
            for topic in response.topics:
                self._mark_described(met, topic)

    def _mark_described(self, met: Met, topic: MetadataResponse.Topic) -> None:
        if Target(topic.name) in met.targets:
            topic.error_code, topic.partitions = self.code, []

    def _mark_fetched(self, met: Met, response: FetchResponse, target: Target) -> None:
        """Let a partition of an answer have failed; one that was left out is put in."""
        node = met.node
        assert target.partition is not None, "a fetch names partitions"
        answer = refused(target.partition, self.code).answer
        session = node.fetch_sessions.get(response.session_id)
        for one in session.wanted.values() if session is not None else ():
            if one.asked.partition == target.partition and name_of(node, one) == target.topic:
                one.forget()
        for topic in response.responses:
            if name_of(node, topic) == target.topic:
                left = [one for one in topic.partitions if one.partition_index != target.partition]
                topic.partitions = [*left, answer]
                return
        known = node.topics.named(target.topic or "")
        if known is not None:
            topic = FetchResponse.Topic(topic=known.name, topic_id=known.id, partitions=[answer])
            response.responses.append(topic)


@dataclass(frozen=True)
class Delay:
    """Begin only after some time."""

    ms: int

    def __call__(self, met: Met) -> None:
        """Keep the request, with nothing of its frame, and read no other of its connection."""
        node, connection = met.node, met.request.connection
        if isinstance(met.message, ProduceRequest):
            for topic in met.message.topic_data:
                for one in topic.partition_data:
                    if one.records is not None:
                        one.records = memoryview(bytearray(one.records))
        held = Held(met, node.clock.now_ms + self.ms)
        met.request.parked = held
        node.waiting.park(held)
        if not connection.is_paused:
            connection.is_paused = True
            node.effects.append(Pause(connection.id))


class Held:
    """A request that has to wait before it is handled at all."""

    keys: Sequence[Hashable] = ()

    def __init__(self, met: Met, deadline_ms: int) -> None:
        self._met = met
        self.deadline_ms = deadline_ms

    def complete(self, *, is_expired: bool) -> bool:
        """Handle it now that its time has come; it may have to wait again, but as itself."""
        assert is_expired, "it waits for nothing but its time"
        node, message, request, inner, _ = self._met
        request.parked = None
        try:
            response = inner(node, message, request)
        except RequestRefused as fault:
            response = request.route.refuse(message, fault.code)
        if request.parked is None:
            # It has its place among the answers already.
            request.parked = self
            node.dispatch.answer(request, response)
        return True


def _at_once(message: Message) -> Message:
    """A request that does not wait for more to come."""
    if isinstance(message, FetchRequest):
        message.max_wait_ms = 0
    return message
