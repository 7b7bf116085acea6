"""Produce: append to some partitions, and answer once as many replicas have it as are asked for."""

from typing import TYPE_CHECKING, Final, cast

from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.broker import appending
from ottla.broker.appending import Outcome
from ottla.broker.connections import Request
from ottla.broker.dispatch import RequestRefused
from ottla.broker.node import Node
from ottla.broker.partitions import Partition
from ottla.core.partition.leader import ALL_IN_SYNC, why_not_acks
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

TOPIC_IDS: Final = 13
"""The version from which on topics are named by their ids."""
ADMIN_CLIENT: Final = "__admin_client"
_Answer = ProduceResponse.Topic.Partition


class Produce:
    """One request while it is answered, be it at once or once all is committed."""

    __slots__ = (
        "_asked",
        "_failed",
        "_moved",
        "_node",
        "_open",
        "_request",
        "_response",
        "deadline_ms",
        "keys",
    )

    def __init__(self, node: Node, asked: ProduceRequest, request: Request) -> None:
        self._node = node
        self._asked = asked
        self._request = request
        self._open: list[tuple[Partition, int, _Answer]] = []
        self._moved: list[Partition] = []
        self._failed = ErrorCode.NONE
        self.keys: Sequence[Partition] = ()

    def start(self) -> ProduceResponse | None:
        """Append everything; answer, unless something is not committed or no answer is wanted."""
        node, asked = self._node, self._asked
        topics: list[ProduceResponse.Topic] = []
        for topic in asked.topic_data:
            answers = [self._append(topic, one) for one in topic.partition_data]
            topics.append(
                ProduceResponse.Topic(
                    name=topic.name, topic_id=topic.topic_id, partition_responses=answers
                )
            )
        for partition in self._moved:
            node.waiting.wake(partition)
        if asked.acks == 0:
            if self._failed:
                # All that a client without an answer can be told is that something failed.
                reason = f"Produce without acks: {self._failed.name}"
                node.close(self._request.connection, reason)
            return None
        self._response = ProduceResponse(responses=topics)
        if not self._open:
            return self._response
        self.keys = [partition for partition, _, _ in self._open]
        self.deadline_ms = node.clock.now_ms + max(asked.timeout_ms, 0)
        return None

    def complete(self, *, is_expired: bool) -> bool:
        still_open = [one for one in self._open if not self._settle(*one, is_expired=is_expired)]
        if still_open:
            return False
        self._node.dispatch.answer(self._request, self._response)
        return True

    def _append(self, topic: ProduceRequest.Topic, one: ProduceRequest.Topic.Partition) -> _Answer:
        node, request, acks = self._node, self._request, self._asked.acks
        partition = _partition(node, topic, one.index, request)
        if isinstance(partition, ErrorCode):
            self._failed = partition
            return _refused(one.index, Outcome(partition))
        records = one.records
        assert not isinstance(records, bytes), "what was decoded is a view of the frame"
        outcome = appending.append(
            partition, records, node.clock, version=request.version, acks=acks
        )
        error, base_offset, end_offset, append_time, _, _, has_moved = outcome
        if error:
            self._failed = error
            return _refused(one.index, outcome)
        if has_moved and partition in node.waiting:
            self._moved.append(partition)
        if partition.must_flush or partition.has_rolled():
            node.logs.appended(partition)
        answer = _Answer(
            index=one.index,
            error_code=0,
            base_offset=base_offset,
            log_append_time_ms=append_time,
            log_start_offset=partition.log.log_start_offset,
        )
        if acks == ALL_IN_SYNC and not self._settle(partition, end_offset, answer):
            self._open.append((partition, end_offset, answer))
        return answer

    def _settle(
        self, partition: Partition, end_offset: int, answer: _Answer, *, is_expired: bool = False
    ) -> bool:
        """Say how an append came out, if that is known."""
        code = partition.leader.is_committed(end_offset)
        if code is None and partition.is_offline:
            code = ErrorCode.KAFKA_STORAGE_ERROR
        elif code is None and partition.has_left:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif code is None and is_expired:
            code = ErrorCode.REQUEST_TIMED_OUT
        if code:
            answer.error_code = code
            answer.base_offset = appending.NO_OFFSET
        return code is not None


def handle(node: Node, message: Message, request: Request) -> Message | None:
    assert isinstance(message, ProduceRequest)
    refused = why_not_acks(message.acks)
    if refused:
        raise RequestRefused(refused)
    produce = Produce(node, message, request)
    response = produce.start()
    if produce.keys:
        request.parked = produce
        node.waiting.park(produce)
    return response


def refuse(message: Message, code: ErrorCode) -> Message | None:
    """Answer every partition with one error."""
    asked = cast("ProduceRequest", message)
    return ProduceResponse(
        responses=[
            ProduceResponse.Topic(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[
                    _refused(one.index, Outcome(code)) for one in topic.partition_data
                ],
            )
            for topic in asked.topic_data
        ]
    )


def _partition(
    node: Node, topic: ProduceRequest.Topic, index: int, request: Request
) -> Partition | ErrorCode:
    """Find what is to be appended to."""
    if request.version >= TOPIC_IDS:
        partition = node.partitions.of_id(topic.topic_id, index)
        unknown = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        partition = node.partitions.get(topic.name, index)
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if partition is None:
        return unknown
    if partition.is_offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    if partition.is_internal and request.client_id != ADMIN_CLIENT:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    return partition


def _refused(index: int, outcome: Outcome) -> _Answer:
    return _Answer(
        index=index,
        error_code=outcome.error,
        base_offset=appending.NO_OFFSET,
        error_message=outcome.reason,
        record_errors=[
            _Answer.RecordError(batch_index=one.index, batch_index_error_message=one.message)
            for one in outcome.record_errors
        ],
    )
