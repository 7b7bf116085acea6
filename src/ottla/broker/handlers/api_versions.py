"""ApiVersions: which versions of which APIs are answered here."""

import re
from typing import Final, cast

from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.core.metadata.features import SUPPORTED, with_kraft
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_NAMED: Final = 3
"""The version from which on clients say what they are."""
_ANY_MINIMUM: Final = 4
"""The version from which on a feature's lowest level may be 0."""
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
    response = ApiVersionsResponse(error_code=0, api_keys=_served(node))
    _add_features(node, response, request.version)
    return response


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


def _add_features(node: Node, response: ApiVersionsResponse, version: int) -> None:
    """Say which levels of features are possible, and which are in force."""
    response.supported_features = [
        ApiVersionsResponse.SupportedFeature(name=name, min_version=low, max_version=high)
        for name, (low, high) in SUPPORTED.items()
        if low or version >= _ANY_MINIMUM
    ]
    finalized = with_kraft(node.committed.image.features.finalized(), node.quorum.kraft_version)
    response.finalized_features = [
        ApiVersionsResponse.FinalizedFeature(
            name=name, max_version_level=level, min_version_level=level
        )
        for name, level in finalized.items()
    ]
    response.finalized_features_epoch = node.committed.end.end_offset - 1


def _means_another(node: Node, asked: ApiVersionsRequest) -> bool:
    """Does the client think that it has reached another cluster or node?"""
    identity = node.identity
    is_other_cluster = asked.cluster_id is not None and asked.cluster_id != identity.cluster_id
    return is_other_cluster or asked.node_id not in (_ANY_NODE, identity.node_id)
