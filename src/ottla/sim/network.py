"""Connections of a simulated network: frames arrive in order, after a while, or no more."""

from collections import deque
from collections.abc import Callable
from typing import Final

from ottla.sim.node import SimulatedNode
from ottla.sim.world import World
from ottla.wire.frame import SIZE_BYTES

DELAY_MS_MAX: Final = 5


class Link:
    """One connection from a client to a node; what is under way when it breaks is lost."""

    def __init__(
        self,
        world: World,
        node: SimulatedNode,
        received: Callable[[bytes], None],
        closed: Callable[[], None],
    ) -> None:
        """Connect; `received` is told each frame without its length."""
        self._world = world
        self._node = node
        self._received = received
        self._closed = closed
        self._to_node: deque[bytes] = deque()
        self._to_client: deque[bytes | None] = deque()
        self._buffer = b""
        self.is_open = True
        self._number = node.connect(self._deliver)

    def send(self, frame: bytes) -> None:
        """Send a frame without its length; it arrives behind those sent before."""
        if self.is_open:
            self._to_node.append(frame)
            self._world.soon(DELAY_MS_MAX, self._arrive)

    def cut(self) -> None:
        """Break the connection: nothing arrives any more, and both ends hear of it."""
        if self.is_open:
            self._end()
            self._node.disconnect(self._number)

    def _arrive(self) -> None:
        if self.is_open:
            self._node.receive(self._number, self._to_node.popleft())

    def _deliver(self, data: bytes | None) -> None:
        if self.is_open:
            self._to_client.append(data)
            self._world.soon(DELAY_MS_MAX, self._come_back)

    def _come_back(self) -> None:
        if not self.is_open:
            return
        data = self._to_client.popleft()
        if data is None:
            self._end()
            return
        self._buffer += data
        while len(self._buffer) >= SIZE_BYTES:
            end = SIZE_BYTES + int.from_bytes(self._buffer[:SIZE_BYTES], "big")
            if len(self._buffer) < end:
                return
            frame, self._buffer = self._buffer[SIZE_BYTES:end], self._buffer[end:]
            self._received(frame)

    def _end(self) -> None:
        self.is_open = False
        self._closed()
