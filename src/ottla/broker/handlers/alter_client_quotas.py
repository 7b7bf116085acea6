"""AlterClientQuotas: what clients may use, by the controller's decision."""

from typing import cast

from ottla.api.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.quotas import decide_quotas
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("AlterClientQuotasRequest", message)
    decision = decide_quotas(node.controller.state, asked)
    return answer_decided(node, request, message, decision)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("AlterClientQuotasRequest", message)
    told = AlterClientQuotasResponse.Entry
    return AlterClientQuotasResponse(
        throttle_time_ms=0,
        entries=[
            told(
                error_code=code,
                error_message=None,
                entity=[
                    told.Entity(entity_type=one.entity_type, entity_name=one.entity_name)
                    for one in entry.entity
                ],
            )
            for entry in asked.entries
        ],
    )
