"""DeleteTopics: gone by the controller's decision, answered once that is committed."""

from typing import Final, cast

from ottla.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.dispatch import RequestRefused
from ottla.broker.node import Node
from ottla.config.topics import DELETE_TOPIC_ENABLE
from ottla.core.controller.topics import decide_deletion
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_KNOWS_DISABLED: Final = 3


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("DeleteTopicsRequest", message)
    if not node.settings[DELETE_TOPIC_ENABLE]:
        is_known = request.version >= _KNOWS_DISABLED
        raise RequestRefused(
            ErrorCode.TOPIC_DELETION_DISABLED if is_known else ErrorCode.INVALID_REQUEST
        )
    decision = decide_deletion(node.controller.state, asked)
    return answer_decided(node, request, message, decision, asked.timeout_ms)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DeleteTopicsRequest", message)
    told = DeleteTopicsResponse.Topic
    by_name = [told(name=name, error_code=code) for name in asked.topic_names]
    others = [told(name=one.name, topic_id=one.topic_id, error_code=code) for one in asked.topics]
    return DeleteTopicsResponse(responses=[*by_name, *others])
