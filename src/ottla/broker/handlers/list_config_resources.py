"""ListConfigResources: the names of what settings can be for."""

from typing import Final, cast

from ottla.api.list_config_resources import ListConfigResourcesRequest, ListConfigResourcesResponse
from ottla.broker.connections import Request
from ottla.broker.node import Node
from ottla.core.metadata.configs import ResourceType
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

LISTED: Final = (
    ResourceType.TOPIC,
    ResourceType.BROKER,
    ResourceType.BROKER_LOGGER,
    ResourceType.CLIENT_METRICS,
    ResourceType.GROUP,
)
_Told = ListConfigResourcesResponse.Resource


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("ListConfigResourcesRequest", message)
    types = asked.resource_types or [*LISTED]
    if request.version == 0:
        types = [ResourceType.CLIENT_METRICS]
    if not set(types) <= set(LISTED):
        return refuse(message, ErrorCode.UNSUPPORTED_VERSION)
    found = [
        _Told(resource_name=name, resource_type=kind)
        for kind in dict.fromkeys(types)
        for name in _names(node, kind)
    ]
    return ListConfigResourcesResponse(throttle_time_ms=0, error_code=0, config_resources=found)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    del message
    return ListConfigResourcesResponse(throttle_time_ms=0, error_code=code, config_resources=[])


def _names(node: Node, kind: int) -> list[str]:
    image = node.committed.image
    if kind == ResourceType.TOPIC:
        return sorted(image.topics.by_name)
    if kind in (ResourceType.BROKER, ResourceType.BROKER_LOGGER):
        return [str(id_) for id_ in sorted(image.cluster.brokers)]
    return sorted(one.name for one in image.configs.by_resource if one.type == kind)
