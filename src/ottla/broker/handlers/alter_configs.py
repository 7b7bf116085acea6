"""AlterConfigs: all settings of topics, brokers and groups at once."""

from typing import cast

from ottla.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.configs import decide_alteration
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("AlterConfigsRequest", message)
    decision = decide_alteration(node.controller.state, asked)
    return answer_decided(node, request, message, decision)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("AlterConfigsRequest", message)
    return AlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            AlterConfigsResponse.Resource(
                error_code=code,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in asked.resources
        ],
    )
