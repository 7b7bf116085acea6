"""Requests for the controller: decided at once, answered when what was decided is committed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ottla.broker.dispatch import RequestRefused
from ottla.core.controller.state import Refusal
from ottla.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ottla.broker.connections import Request
    from ottla.broker.node import Node
    from ottla.core.recorded import Decision
    from ottla.wire.fields import Message

TIMEOUT_MS: Final = 30_000
"""How long a request may take that does not say it itself."""
METADATA: Final = "metadata"
"""The key of what waits for the metadata log."""


class Decided:
    """A request that waits until its decision is committed."""

    __slots__ = ("_expired", "_node", "_offset", "_reply", "_request", "deadline_ms")

    keys: Sequence[str] = (METADATA,)

    def __init__(
        self, node: Node, request: Request, reply: Message | None, expired: Message | None
    ) -> None:
        """`expired` is the answer if it takes too long."""
        self._node = node
        self._request = request
        self._reply = reply
        self._expired = expired
        self._offset = 0
        self.deadline_ms = 0

    def wait(self, offset: int, timeout_ms: int) -> None:
        """Wait until all below an offset is committed."""
        self._offset = offset
        self.deadline_ms = self._node.clock.now_ms + max(timeout_ms, 0)
        self._request.parked = self
        self._node.waiting.park(self)

    def complete(self, *, is_expired: bool) -> bool:
        is_committed = self._node.committed.end.end_offset >= self._offset
        if not is_committed and not is_expired:
            return False
        reply = self._reply if is_committed else self._expired
        self._node.dispatch.answer(self._request, reply)
        return True


def answer_decided(
    node: Node,
    request: Request,
    message: Message,
    decision: Decision[Any, Any],
    timeout_ms: int = TIMEOUT_MS,
) -> Message | None:
    """Append what was decided; answer, unless that is not committed yet.

    Raises `RequestRefused` where the whole request is refused.
    """
    reply, offset = node.controller.append(decision)
    if isinstance(reply, Refusal):
        raise RequestRefused(reply.error)
    assert reply is not None, "a decision has a reply"
    if node.committed.end.end_offset >= offset:
        answer: Message = reply
        return answer
    decided = Decided(
        node, request, reply, request.route.refuse(message, ErrorCode.REQUEST_TIMED_OUT)
    )
    decided.wait(offset, timeout_ms)
    return None
