"""InitProducerId: an id for a producer that wants its retries to be known."""

from typing import cast

from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("InitProducerIdRequest", message)
    if asked.transactional_id is not None:
        # There is no coordinator of transactions that could fence who used it before.
        code = ErrorCode.COORDINATOR_NOT_AVAILABLE if asked.transactional_id else None
        return refuse(message, code or ErrorCode.INVALID_REQUEST)
    return InitProducerIdResponse(
        throttle_time_ms=0, error_code=0, producer_id=node.producer_ids.draw(), producer_epoch=0
    )


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return InitProducerIdResponse(throttle_time_ms=0, error_code=code, producer_epoch=-1)
