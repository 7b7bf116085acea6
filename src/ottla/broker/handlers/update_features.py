"""UpdateFeatures: the levels that the cluster works at."""

from typing import cast

from ottla.api.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ottla.broker.connections import Request
from ottla.broker.deciding import answer_decided
from ottla.broker.node import Node
from ottla.core.controller.features import decide_features
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.wire.fields import Message


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("UpdateFeaturesRequest", message)
    decision = decide_features(
        node.controller.state,
        asked,
        version=request.version,
        kraft_version=node.quorum.kraft_version,
    )
    if decision.reply.kraft_version is not None:
        # A directory keeps the level of the quorum's protocol that it was formatted with.
        return _refused(ErrorCode.INVALID_UPDATE_VERSION, "kraft.version cannot be raised here.")
    answered = Decision(decision.records, decision.reply.response, decision.is_atomic)
    return answer_decided(node, request, message, answered, asked.timeout_ms)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return _refused(code, None)


def _refused(code: ErrorCode, reason: str | None) -> UpdateFeaturesResponse:
    return UpdateFeaturesResponse(throttle_time_ms=0, error_code=code, error_message=reason)
