"""ApiVersions: which versions of which APIs are answered here."""

import re
from typing import Final, cast

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_NAMED: Final = 3
"""The version from which on clients say what they are."""
_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
_ANY_NODE: Final = -1


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("ApiVersionsRequest", message)
    if request.version >= _NAMED:
        software = (asked.client_software_name, asked.client_software_version)
        if not all(map(_SOFTWARE.fullmatch, software)):
            return refuse(message, ErrorCode.INVALID_REQUEST)
        request.connection.client_software = software
    if _means_another(node, asked):
        return refuse(message, ErrorCode.REBOOTSTRAP_REQUIRED)
    return ApiVersionsResponse(error_code=0, api_keys=_served(node))


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return ApiVersionsResponse(error_code=code, api_keys=[])


def unsupported(node: Node) -> ApiVersionsResponse:
    """The answer to a version that is not known here, from which the client sees which are."""
    return ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=_served(node))


def _served(node: Node) -> list[ApiVersionsResponse.ApiVersion]:
    return [
        ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=newest)
        for key, newest in node.dispatch.newest.items()
    ]


def _means_another(node: Node, asked: ApiVersionsRequest) -> bool:
    """Does the client think that it has reached another cluster or node?"""
    identity = node.identity
    is_other_cluster = asked.cluster_id is not None and asked.cluster_id != identity.cluster_id
    return is_other_cluster or asked.node_id not in (_ANY_NODE, identity.node_id)
