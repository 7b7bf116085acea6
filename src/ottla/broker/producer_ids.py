"""Ids for producers that have no transactions: each is given out once, from the node's blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ottla.api.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.core.controller.producer_ids import decide_producer_ids
from ottla.core.controller.state import Refusal

if TYPE_CHECKING:
    from ottla.broker.node import Node

ALLOCATED: Final = "producer ids"
"""The key of who waits for a block."""


class ProducerIds:
    """What is left of the block of this node; the next one is asked for when it is needed."""

    __slots__ = ("_end", "_is_asking", "_next", "_node")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._next = self._end = 0
        self._is_asking = False

    def draw(self) -> int | None:
        """A new id; None if a block has to come first, which wakes `ALLOCATED`.

        Raises `RequestRefused` if the controller cannot be asked.
        """
        if self._next < self._end:
            given = self._next
            self._next += 1
            return given
        if not self._is_asking:
            self._ask()
        return None

    def _ask(self) -> None:
        node = self._node
        request = AllocateProducerIdsRequest(
            broker_id=node.identity.node_id, broker_epoch=node.life.epoch
        )
        reply, offset = node.controller.append(decide_producer_ids(node.controller.state, request))
        if isinstance(reply, Refusal):
            return
        self._is_asking = True
        first, count = reply.producer_id_start, reply.producer_id_len

        def allocated() -> None:
            self._is_asking = False
            self._next, self._end = first, first + count
            node.waiting.wake(ALLOCATED)

        node.when_committed(offset, allocated)
