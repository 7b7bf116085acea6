"""Sockets that take connections."""

import socket
from collections.abc import Iterator
from typing import Final

_ACCEPTED_AT_ONCE: Final = 64
_BACKLOG: Final = 512


class Listener:
    """One named listener."""

    def __init__(self, name: str, host: str, port: int) -> None:
        """Listen; a host with a colon is one of IPv6, and an empty one is every address."""
        self.name = name
        if host:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            is_dual = False
        else:
            is_dual = socket.has_dualstack_ipv6()
            family = socket.AF_INET6 if is_dual else socket.AF_INET
        self._socket = socket.create_server(
            (host, port), family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual
        )
        self._socket.setblocking(False)
        self.descriptor = self._socket.fileno()
        self.port: int = self._socket.getsockname()[1]

    def accept(self) -> Iterator[tuple[socket.socket, str]]:
        """The connections that wait, with their peers' addresses; not all if there are many."""
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                accepted, address = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            accepted.setblocking(False)
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield accepted, str(address[0])

    def close(self) -> None:
        """Take no more."""
        self._socket.close()
