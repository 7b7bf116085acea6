"""A connection to one broker: a request goes out, then its answer comes.

Both sides say which versions they speak, and each request goes in the newest that both do. A broker
that is older than this exchange (0.10) closes the connection, which is said as such.
"""

import socket
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from ssl import SSLContext, SSLError
from types import TracebackType
from typing import Final, Self, TypeVar

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.apis import APIS, request_header_version, response_header_version
from ottla.cli import Refused
from ottla.cli.client.address import Address
from ottla.errors import ErrorCode
from ottla.kernels.faults import Malformed
from ottla.wire.codec import decode, decode_prefix, encode_frame
from ottla.wire.fields import Message
from ottla.wire.frame import SIZE_BYTES, frame_end
from ottla.wire.header import RequestHeader, ResponseHeader
from ottla.wire.versions import VersionRange

CLIENT_ID: Final = "ottla"
ANSWER_BYTES_MAX: Final = 256 << 20
_OLDEST_WITH_NAMES: Final = 3
_RECEIVE_BYTES: Final = 1 << 16

_M = TypeVar("_M", bound=Message)


class ConnectionLost(Refused):
    """A broker cannot be reached, or is there no more; another one might be."""


class Connection:
    """One broker; questions are asked one after the other."""

    def __init__(
        self, address: Address, timeout_seconds: float, secured: SSLContext | None = None
    ) -> None:
        """Connect, and learn what the broker speaks."""
        self.address = address
        self._correlation_id = 0
        self._versions: dict[int, VersionRange] = {}
        self._socket = _connected(address, timeout_seconds, secured)
        with ExitStack() as until_agreed:
            until_agreed.callback(self.close)
            self._agree()
            until_agreed.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def versions(self) -> dict[int, VersionRange]:
        """What the broker speaks, by API key; APIs that we do not know are among them."""
        return self._versions

    def close(self) -> None:
        """Give the connection back."""
        self._socket.close()

    def version_for(self, request: type[Message], at_least: int = 0) -> int:
        """The newest version of an API that both sides speak."""
        api = APIS[request.api_key]
        both = api.versions & self._versions.get(request.api_key, VersionRange(0, -1))
        if api.latest_is_unstable:
            both = VersionRange(both.first, min(both.last, api.versions.last - 1))
        if not both or both.last < at_least:
            raise Refused(f"the broker at {self.address} is too old: it has no {api.name} for this")
        return both.last

    def ask(
        self,
        request: Message,
        response: type[_M],
        *,
        version: int | None = None,
        wait_seconds: float | None = None,
    ) -> _M:
        """Send a request and give its answer, for which it may be waited longer than usual."""
        if version is None:
            version = self.version_for(type(request))
        data = self._exchange(request, version, wait_seconds)
        try:
            return decode(response, data, version, slack_bytes=len(data) * 8 + (1 << 20))
        except Malformed as fault:
            raise Refused(f"{self.address} sent an answer that cannot be read: {fault}") from None

    def send(self, request: Message, version: int) -> None:
        """Send a request that has no answer."""
        self._send(request, version)

    def _agree(self) -> None:
        asked = ApiVersionsRequest(client_software_name="ottla", client_software_version="1")
        version = _OLDEST_WITH_NAMES
        data = self._exchange(asked, version, None)
        error = ErrorCode.of(int.from_bytes(data[:2], "big", signed=True))
        if error is ErrorCode.UNSUPPORTED_VERSION:
            # Such an answer comes in version 0, whatever was asked.
            version = 0
            data = self._exchange(asked, version, None)
        try:
            answer = decode(ApiVersionsResponse, data, version)
        except Malformed as fault:
            raise Refused(f"what answers at {self.address} is no Kafka broker: {fault}") from None
        if answer.error_code:
            raise Refused(f"{self.address}: {said_error(answer.error_code)}")
        self._versions = {
            row.api_key: VersionRange(row.min_version, row.max_version) for row in answer.api_keys
        }

    def _exchange(self, request: Message, version: int, wait_seconds: float | None) -> memoryview:
        before = self._socket.gettimeout()
        if wait_seconds is not None and before is not None:
            self._socket.settimeout(before + wait_seconds)
        try:
            correlation_id = self._send(request, version)
            frame = self._receive()
        finally:
            with suppress(OSError):
                self._socket.settimeout(before)
        key = request.api_key
        header, end = _header(frame, response_header_version(key, version), self.address)
        if header.correlation_id != correlation_id:
            raise Refused(f"{self.address} answered another question than was asked")
        return frame[end:]

    def _send(self, request: Message, version: int) -> int:
        key = request.api_key
        self._correlation_id += 1
        header = RequestHeader(
            request_api_key=key,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=CLIENT_ID,
        )
        parts = encode_frame(header, request_header_version(key, version), request, version)
        try:
            self._socket.sendall(b"".join(parts))
        except OSError as fault:
            raise _lost(self.address, fault) from None
        return self._correlation_id

    def _receive(self) -> memoryview:
        data = bytearray()
        wanted = SIZE_BYTES
        while len(data) < wanted:
            try:
                some = self._socket.recv(min(max(wanted - len(data), _RECEIVE_BYTES), 1 << 22))
            except OSError as fault:
                raise _lost(self.address, fault) from None
            if not some:
                raise ConnectionLost(
                    f"{self.address} closed the connection: it is no Kafka broker, expects TLS or"
                    " another listener, is older than 0.10, or stops"
                )
            data += some
            if wanted == SIZE_BYTES and len(data) >= SIZE_BYTES:
                wanted = self._end_of(data)
        return memoryview(data)[SIZE_BYTES:wanted]

    def _end_of(self, data: bytearray) -> int:
        try:
            end = frame_end(data, 0, len(data), ANSWER_BYTES_MAX)
        except Malformed as fault:
            raise Refused(f"what answers at {self.address} is no Kafka broker: {fault}") from None
        assert end is not None, "the length is there"
        return end


def said_error(number: int, message: str | None = None) -> str:
    """An error as a sentence: the broker's own words if it said any, and always the name."""
    error = ErrorCode.of(number)
    return f"{(message or error.sentence).rstrip('.')} ({error.name})"


def check(number: int, what: str, message: str | None = None, *, fine: Iterable[int] = ()) -> None:
    """Refuse to go on after an error."""
    if number and number not in fine:
        raise Refused(f"{what}: {said_error(number, message)}")


def _header(frame: memoryview, version: int, address: Address) -> tuple[ResponseHeader, int]:
    try:
        return decode_prefix(ResponseHeader, frame, version)
    except Malformed as fault:
        raise Refused(f"what answers at {address} is no Kafka broker: {fault}") from None


def _connected(address: Address, seconds: float, secured: SSLContext | None) -> socket.socket:
    try:
        plain = socket.create_connection(address, timeout=seconds)
    except OSError as fault:
        raise _lost(address, fault) from None
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if secured is None:
        return plain
    try:
        return secured.wrap_socket(plain, server_hostname=address.host)
    except OSError as fault:
        plain.close()
        raise _lost(address, fault) from None


def _lost(address: Address, fault: OSError) -> ConnectionLost:
    if isinstance(fault, ConnectionRefusedError):
        return ConnectionLost(
            f"no broker listens at {address}; name another with --bootstrap,"
            " or start one: ottla dev"
        )
    if isinstance(fault, TimeoutError):
        return ConnectionLost(f"{address} did not answer in time; --timeout gives it longer")
    if isinstance(fault, SSLError):
        return ConnectionLost(f"{address} and we could not agree on TLS: {fault.reason or fault}")
    return ConnectionLost(f"{address}: {fault.strerror or fault}")
