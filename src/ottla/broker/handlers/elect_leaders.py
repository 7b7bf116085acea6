"""ElectLeaders: preferred leaders, or any at all, by the controller's decision."""

from typing import cast

from ottla.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.elections import decide_elections
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("ElectLeadersRequest", message)
    decision = decide_elections(node.controller.state, asked)
    return answer_decided(node, request, message, decision, asked.timeout_ms)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return ElectLeadersResponse(throttle_time_ms=0, error_code=code, replica_election_results=[])
