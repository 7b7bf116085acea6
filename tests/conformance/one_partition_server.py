"""A thread that lets real clients talk to `OnePartition` over a socket."""

import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from ottla.wire.frame import SIZE_BYTES, frame_end
from tests.conformance.one_partition import Log, OnePartition

_FRAME_BYTES_MAX: Final = 1 << 26
_TIMEOUT_S: Final = 30


@dataclass(eq=False, slots=True)
class _Connection:
    socket: socket.socket
    received: bytearray = field(default_factory=bytearray)


class OnePartitionServer:
    """Serves in a thread of its own between entering and leaving."""

    def __init__(self, log: Log | None = None, newest: Mapping[str, int] | None = None) -> None:
        self.partition = OnePartition(log or Log(), newest or {})
        self._failure = ""
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._wake, self._woken = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, name="one partition server")

    def __enter__(self) -> Self:
        self.partition.port = self._listener.getsockname()[1]
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wake.send(b"!")
        self._thread.join()
        self._wake.close()

    @property
    def address(self) -> str:
        """What clients are told as their bootstrap server."""
        return f"127.0.0.1:{self.partition.port}"

    def report(self) -> str:
        """What went on, for the text of a test that failed."""
        seen = ", ".join(self.partition.last_requests) or "nothing"
        return f"{self._failure or 'the server is well'}; the client sent last: {seen}"

    def assert_well(self) -> None:
        """No request was such that the server could not read it or answer."""
        assert not self._failure, self.report()

    def wait_for(self, came: Callable[[], bool]) -> None:
        """Wait until something has come; it is the thread's to add to what has."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not came():
            assert time.monotonic() < deadline, self.report()
            self.assert_well()
            time.sleep(0.005)

    def _serve(self) -> None:
        is_asked_to_end = False
        while not is_asked_to_end:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    connection = _Connection(self._listener.accept()[0])
                    connection.socket.settimeout(_TIMEOUT_S)
                    connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    self._selector.register(connection.socket, selectors.EVENT_READ, connection)
                elif key.fileobj is self._woken:
                    is_asked_to_end = True
                else:
                    self._receive(key.data)
        for key in list(self._selector.get_map().values()):
            assert isinstance(key.fileobj, socket.socket)
            key.fileobj.close()
        self._selector.close()

    def _receive(self, connection: _Connection) -> None:
        """Take what has come and answer it; the reason why that fails is kept for the report."""
        try:
            came = connection.socket.recv(1 << 20)
            connection.received += came
            while came and (frame := self._next_frame(connection)) is not None:
                answer = self.partition.answer(frame)
                connection.socket.sendall(answer or b"")
        except ConnectionError:
            came = b""
        except Exception as fault:  # noqa: BLE001  Any fault at all is to be the test's failure.
            self._failure = self._failure or f"{type(fault).__name__}: {fault}"
            came = b""
        if not came:
            self._selector.unregister(connection.socket)
            connection.socket.close()

    def _next_frame(self, connection: _Connection) -> bytes | None:
        received = connection.received
        end = frame_end(received, 0, len(received), _FRAME_BYTES_MAX)
        if end is None or end > len(received):
            return None
        frame = bytes(received[SIZE_BYTES:end])
        del received[:end]
        return frame
