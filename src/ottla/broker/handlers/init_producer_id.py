"""InitProducerId: an id for a producer that wants its retries to be known."""

from typing import cast

from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.broker.producer_ids import ALLOCATED
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

WAIT_MS = 1000
"""How long to wait for a block of ids before the client is told to ask again."""


class InitProducerId:
    """A request that waits for a block of ids."""

    keys = (ALLOCATED,)

    def __init__(self, node: Node, message: Message, request: Request) -> None:
        self._node = node
        self._message = message
        self._request = request
        self.deadline_ms = node.clock.now_ms + WAIT_MS

    def complete(self, *, is_expired: bool) -> bool:
        drawn = None if is_expired else self._node.producer_ids.draw()
        if drawn is None and not is_expired:
            return False
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        answer = refuse(self._message, code) if drawn is None else _given(drawn)
        self._node.dispatch.answer(self._request, answer)
        return True


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("InitProducerIdRequest", message)
    if asked.transactional_id is not None:
        # There is no coordinator of transactions that could fence who used it before.
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE if asked.transactional_id else None
        return refuse(message, code or ErrorCode.INVALID_REQUEST)
    drawn = node.producer_ids.draw()
    if drawn is not None:
        return _given(drawn)
    parked = InitProducerId(node, message, request)
    request.parked = parked
    node.waiting.park(parked)
    return None


def _given(producer_id: int) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        throttle_time_ms=0, error_code=0, producer_id=producer_id, producer_epoch=0
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return InitProducerIdResponse(throttle_time_ms=0, error_code=code, producer_epoch=-1)
