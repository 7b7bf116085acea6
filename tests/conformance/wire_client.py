"""Asks a broker by any API, in frames that our own codec makes; one request after the other."""

import socket
from itertools import count
from types import TracebackType
from typing import Final, Self, TypeVar

from ottla.api.apis import request_header_version, response_class, response_header_version
from ottla.wire.codec import decode, decode_prefix, encode_frame
from ottla.wire.fields import Message
from ottla.wire.frame import SIZE_BYTES
from ottla.wire.header import RequestHeader, ResponseHeader

_SECONDS_MAX: Final = 30
_M = TypeVar("_M", bound=Message)


class WireClient:
    """A connection; usable as a context manager."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), _SECONDS_MAX)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = self._socket.makefile("rb")
        self._ids = count(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._stream.close()
        self._socket.close()

    def ask(self, request: Message, version: int, response: type[_M]) -> _M:
        """Send a request at a version, and read the answer to it."""
        key, correlation_id = request.api_key, next(self._ids)
        header = RequestHeader(
            request_api_key=key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id="ottla",
        )
        frame = encode_frame(header, request_header_version(key, version), request, version)
        self._socket.sendall(b"".join(frame))
        data = self._read(int.from_bytes(self._read(SIZE_BYTES), "big"))
        found, position = decode_prefix(ResponseHeader, data, response_header_version(key, version))
        assert found.correlation_id == correlation_id, "an answer to another request"
        assert response is response_class(key), "the answer to another API"
        return decode(response, memoryview(data)[position:], version)

    def _read(self, size_bytes: int) -> bytes:
        data = self._stream.read(size_bytes)
        if len(data) != size_bytes:
            raise ConnectionError("the broker closed the connection")
        return data
