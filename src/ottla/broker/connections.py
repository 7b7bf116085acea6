"""The connections of a node: their requests in order, and their answers in the same order.

Invariants
  I-CONN-1  Answers leave in the order of the requests of their connection.
  I-CONN-2  A request has one answer, or none if it wants none.
  I-CONN-3  At most so many requests of a connection wait; beyond that it is not read from.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ottla.broker.dispatch import Route
    from ottla.broker.effects import Part
    from ottla.broker.waiting import Parked

WAITING_MAX: Final = 64
"""How many requests of a connection may wait: a client that has more in flight must slow down."""


class Connection:
    """One connection as the node sees it."""

    __slots__ = ("address", "client_software", "id", "is_paused", "listener", "slots")

    def __init__(self, number: int, listener: str, address: str) -> None:
        self.id = number
        self.listener = listener
        self.address = address
        self.client_software: tuple[str, str] = ("", "")
        self.is_paused = False
        self.slots: deque[Request] = deque()


class Request:
    """One request on its way: whose it is, and its place among the answers."""

    __slots__ = (
        "client_id",
        "connection",
        "correlation_id",
        "is_done",
        "parked",
        "parts",
        "route",
        "version",
    )

    def __init__(
        self, connection: Connection, route: Route, correlation_id: int, client_id: str | None
    ) -> None:
        self.connection = connection
        self.route = route
        self.version = route.version
        """The version in which it came, and in which it is answered."""
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.parked: Parked | None = None
        self.is_done = False
        self.parts: Sequence[Part] | None = None
