"""IncrementalAlterConfigs: single settings of topics, brokers and groups."""

from typing import cast

from ottla.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.configs import decide_incremental_alteration
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("IncrementalAlterConfigsRequest", message)
    decision = decide_incremental_alteration(node.controller.state, asked)
    return answer_decided(node, request, message, decision)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("IncrementalAlterConfigsRequest", message)
    return IncrementalAlterConfigsResponse(
        throttle_time_ms=0,
        responses=[
            IncrementalAlterConfigsResponse.Resource(
                error_code=code,
                error_message=None,
                resource_type=one.resource_type,
                resource_name=one.resource_name,
            )
            for one in asked.resources
        ],
    )
