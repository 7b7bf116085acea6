"""CreateTopics: made by the controller, answered once they are committed."""

from typing import cast

from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.topic_creation import decide_creation
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("CreateTopicsRequest", message)
    decision = decide_creation(node.controller.state, asked, node.chance)
    return answer_decided(node, request, message, decision, asked.timeout_ms)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("CreateTopicsRequest", message)
    return CreateTopicsResponse(
        topics=[
            CreateTopicsResponse.Topic(name=one.name, error_code=code, error_message=None)
            for one in asked.topics
        ]
    )
