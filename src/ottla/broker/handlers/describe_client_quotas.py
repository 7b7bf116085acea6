"""DescribeClientQuotas: what clients may use, as far as it is committed."""

from typing import cast

from ottla.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.core.controller.quotas import describe_quotas
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    del request
    asked = cast("DescribeClientQuotasRequest", message)
    return describe_quotas(node.committed.image.quotas, asked)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return DescribeClientQuotasResponse(
        throttle_time_ms=0, error_code=code, error_message=None, entries=None
    )
