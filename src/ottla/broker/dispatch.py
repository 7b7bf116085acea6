"""From a frame to its handler, and from the answer to what is sent.

There is a route for each API and version, made when it is first asked for, so that what no client
uses is never loaded. Which APIs there are is said by `HANDLED`: a module of `broker.handlers` has
the name of the API's own, and these functions:

    handle(node, message, request) -> the response, or None if there is none, or none yet
    refuse(message, code) -> the response that says nothing but this error
"""

from __future__ import annotations

from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ottla.api.apis import (
    API_VERSIONS,
    APIS,
    request_class,
    request_header_version,
    response_class,
    response_header_version,
)
from ottla.broker.connections import WAITING_MAX, Connection, Request
from ottla.broker.effects import Pause, Resume, Send
from ottla.kernels.faults import Malformed
from ottla.wire.codec import decode_prefix, decoder_of, encode_frame
from ottla.wire.header import RequestHeader, ResponseHeader

if TYPE_CHECKING:
    from collections.abc import Callable

    from ottla.broker.node import Node
    from ottla.errors import ErrorCode
    from ottla.wire.fields import Message

HANDLED: Final = {
    "Produce": 13,
    "Fetch": 18,
    "ListOffsets": 11,
    "Metadata": 13,
    "ApiVersions": 5,
    "InitProducerId": 5,
    "OffsetForLeaderEpoch": 4,
    "CreateTopics": 7,
    "DeleteTopics": 6,
    "CreatePartitions": 3,
    "ElectLeaders": 2,
    "IncrementalAlterConfigs": 1,
    "AlterConfigs": 2,
    "AlterClientQuotas": 1,
    "DescribeClientQuotas": 1,
    "UpdateFeatures": 2,
    "DescribeCluster": 2,
    "DescribeConfigs": 4,
    "DescribeTopicPartitions": 0,
    "DescribeQuorum": 2,
    "DeleteRecords": 2,
    "DescribeLogDirs": 5,
    "ListConfigResources": 1,
    "DescribeProducers": 0,
}
"""The APIs that are answered, and the newest version of each."""

_IDENTITY: Final = Struct(">hhi")


Handle: TypeAlias = "Callable[[Node, Message, Request], Message | None]"


class RequestRefused(Exception):
    """Cuts a handler short: the whole request is answered with one error."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


class Route:
    """How one version of one API is read, answered and written."""

    __slots__ = (
        "decode",
        "handle",
        "header_version",
        "key",
        "refuse",
        "response_header",
        "response_header_version",
        "version",
    )

    def __init__(self, key: int, version: int) -> None:
        """Load what it needs."""
        module: Any = import_module(f"ottla.broker.handlers.{APIS[key].module}")
        self.key = key
        self.version = version
        self.header_version = request_header_version(key, version)
        self.response_header = ResponseHeader(correlation_id=0)
        self.response_header_version = response_header_version(key, version)
        self.decode = decoder_of(request_class(key), version)
        self.handle: Handle = module.handle
        self.refuse: Callable[[Message, ErrorCode], Message | None] = module.refuse
        assert version in response_class(key).versions


class Dispatch:
    """The routes of a node."""

    __slots__ = ("_node", "_routes", "_wrap", "newest")

    def __init__(self, node: Node) -> None:
        self._node = node
        self.newest = {
            key: HANDLED[api.name] for key, api in sorted(APIS.items()) if api.name in HANDLED
        }
        self._routes: dict[tuple[int, int], Route] = {}
        self._wrap: Callable[[Route], Handle] | None = None

    def wrap_handlers(self, wrap: Callable[[Route], Handle] | None) -> None:
        """Reach handlers by what this gives for their routes; None takes that back.

        It is asked when a route is made, so a request costs nothing more while there is none.
        """
        self._wrap = wrap
        self._routes.clear()

    def receive(self, connection: Connection, frame: memoryview) -> None:
        """Answer a frame, or let it wait, or end a connection that sends what is no request."""
        node = self._node
        if len(frame) < _IDENTITY.size:
            node.close(connection, f"a request of {len(frame)} bytes")
            return
        key, version, correlation_id = _IDENTITY.unpack_from(frame)
        route = self._routes.get((key, version)) or self._new_route(key, version)
        if route is None:
            self._refuse_version(connection, key, version, correlation_id)
            return
        try:
            header, position = decode_prefix(RequestHeader, frame, route.header_version)
            message = route.decode(frame[position:])
        except Malformed as fault:
            node.close(connection, f"{APIS[key].name} v{version}: {fault}")
            return
        request = Request(connection, route, correlation_id, header.client_id)
        try:
            response = route.handle(node, message, request)
        except RequestRefused as refused:
            response = route.refuse(message, refused.code)
        if request.parked is None:
            self.answer(request, response)
        else:
            self._keep_place(request)

    def answer(self, request: Request, response: Message | None) -> None:
        """Send an answer as soon as those before it are sent; None if the client wants none."""
        connection = request.connection
        if response is not None:
            route = request.route
            header = route.response_header
            header.correlation_id = request.correlation_id
            request.parts = encode_frame(
                header, route.response_header_version, response, route.version
            )
        request.is_done = True
        slots = connection.slots
        if not slots:
            if request.parts is not None:
                self._node.effects.append(Send(connection.id, request.parts))
            return
        if request.parked is None:
            self._keep_place(request)
        while slots and slots[0].is_done:
            parts = slots.popleft().parts
            if parts is not None:
                self._node.effects.append(Send(connection.id, parts))
        if connection.is_paused and len(slots) <= WAITING_MAX // 2:
            connection.is_paused = False
            self._node.effects.append(Resume(connection.id))

    def _keep_place(self, request: Request) -> None:
        connection = request.connection
        connection.slots.append(request)
        if len(connection.slots) >= WAITING_MAX and not connection.is_paused:
            connection.is_paused = True
            self._node.effects.append(Pause(connection.id))

    def _new_route(self, key: int, version: int) -> Route | None:
        if not 0 <= version <= self.newest.get(key, -1):
            return None
        if version not in APIS[key].versions:
            return None
        route = self._routes[key, version] = Route(key, version)
        if self._wrap is not None:
            route.handle = self._wrap(route)
        return route

    def _refuse_version(
        self, connection: Connection, key: int, version: int, correlation_id: int
    ) -> None:
        """Tell a client that asks what we speak; who sends something else unasked is left."""
        if key != API_VERSIONS:
            name = APIS[key].name if key in APIS else f"API {key}"
            self._node.close(connection, f"{name} v{version} is not served here")
            return
        route = self._routes.get((key, 0)) or self._new_route(key, 0)
        assert route is not None
        module: Any = import_module("ottla.broker.handlers.api_versions")
        self.answer(
            Request(connection, route, correlation_id, None), module.unsupported(self._node)
        )
