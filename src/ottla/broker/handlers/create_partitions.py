"""CreatePartitions: topics grow by the controller's decision."""

from typing import cast

from ottla.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.topics import decide_growth
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("CreatePartitionsRequest", message)
    decision = decide_growth(node.controller.state, asked, node.chance)
    return answer_decided(node, request, message, decision, asked.timeout_ms)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("CreatePartitionsRequest", message)
    return CreatePartitionsResponse(
        throttle_time_ms=0,
        results=[
            CreatePartitionsResponse.Topic(name=one.name, error_code=code) for one in asked.topics
        ],
    )
