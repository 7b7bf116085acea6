"""DescribeConfigs: what is set for topics, brokers and groups, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from ottla.api.describe_configs import DescribeConfigsRequest, DescribeConfigsResponse
from ottla.config.settings import Source
from ottla.core.metadata.configs import ResourceType
from ottla.errors import ErrorCode

if TYPE_CHECKING:
    from ottla.broker.connections import Request
    from ottla.broker.node import Node
    from ottla.config.settings import Description, Settings
    from ottla.wire.fields import Message

_Asked = DescribeConfigsRequest.Resource
_Told = DescribeConfigsResponse.Resource
# What can be asked for, and what is said of one without a name, where it needs one.
_NAMELESS: Final[dict[int, str | None]] = {
    ResourceType.TOPIC: None,
    ResourceType.BROKER: None,
    ResourceType.GROUP: "Group name must not be empty",
    ResourceType.CLIENT_METRICS: "Client metrics subscription name must not be empty",
}


def handle(node: Node, message: Message, request: Request) -> Message | None:
    asked = cast("DescribeConfigsRequest", message)
    results = [_described(node, one, asked) for one in asked.resources]
    if request.version == 0:
        # Where a value comes from was said by this alone.
        for config in (config for one in results for config in one.configs):
            config.is_default = config.config_source == Source.DEFAULT
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


def refuse(message: Message, code: ErrorCode) -> Message | None:
    asked = cast("DescribeConfigsRequest", message)
    results = [_refused(one, code, None) for one in asked.resources]
    return DescribeConfigsResponse(throttle_time_ms=0, results=results)


def _described(node: Node, one: _Asked, asked: DescribeConfigsRequest) -> _Told:
    if one.resource_type not in _NAMELESS:
        reason = f"Unsupported resource type: {one.resource_type}"
        return _refused(one, ErrorCode.INVALID_REQUEST, reason)
    nameless = _NAMELESS[one.resource_type]
    if nameless is not None and not one.resource_name:
        return _refused(one, ErrorCode.INVALID_REQUEST, nameless)
    match one.resource_type:
        case ResourceType.TOPIC:
            return _topic(node, one, asked)
        case ResourceType.GROUP:
            return _told(one, asked, node.settings.group(_given(node, one)))
        case ResourceType.CLIENT_METRICS:
            return _subscription(node, one)
        case _:
            return _broker(node, one, asked)


def _topic(node: Node, one: _Asked, asked: DescribeConfigsRequest) -> _Told:
    if one.resource_name not in node.committed.image.topics.by_name:
        return _refused(one, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, None)
    return _told(one, asked, node.settings.topic(_given(node, one)))


def _given(node: Node, one: _Asked) -> dict[str, str]:
    return dict(node.committed.image.configs.of(one.resource_type, one.resource_name))


def _broker(node: Node, one: _Asked, asked: DescribeConfigsRequest) -> _Told:
    """This broker, or what is set for all of them."""
    if not one.resource_name:
        given = _given(node, one)
        told = _told(one, asked, node.settings)
        told.configs = [config for config in told.configs if config.name in given]
        for config in told.configs:
            config.config_source = Source.DYNAMIC_DEFAULT_BROKER
            if not config.is_sensitive:
                config.value = given[config.name]
        return told
    own = str(node.identity.node_id)
    if not one.resource_name.lstrip("-").isdigit():
        reason = f"Broker id must be an integer, but it is: {one.resource_name}"
        return _refused(one, ErrorCode.INVALID_REQUEST, reason)
    if str(int(one.resource_name)) != own:
        reason = f"Unexpected broker id, expected {own} or empty string, but received"
        return _refused(one, ErrorCode.INVALID_REQUEST, f"{reason} {one.resource_name}")
    return _told(one, asked, node.settings)


def _subscription(node: Node, one: _Asked) -> _Told:
    """What is set for a subscription of client metrics, which no table of options knows."""
    keys = one.configuration_keys
    told = _refused(one, ErrorCode.NONE, None)
    told.configs = [
        _Told.Config(
            name=name,
            value=value,
            read_only=False,
            config_source=Source.DYNAMIC_CLIENT_METRICS,
            is_sensitive=False,
        )
        for name, value in sorted(_given(node, one).items())
        if keys is None or name in keys
    ]
    return told


def _told(one: _Asked, asked: DescribeConfigsRequest, settings: Settings) -> _Told:
    keys = one.configuration_keys
    found = settings.describe_all()
    told = _refused(one, ErrorCode.NONE, None)
    told.configs = [_config(each, asked) for each in found if keys is None or each.name in keys]
    return told


def _config(one: Description, asked: DescribeConfigsRequest) -> _Told.Config:
    synonyms = [
        _Told.Config.Synonym(name=each.name, value=each.value, source=each.source)
        for each in (one.synonyms if asked.include_synonyms else ())
    ]
    return _Told.Config(
        name=one.name,
        value=one.value,
        read_only=one.read_only,
        config_source=one.source,
        is_sensitive=one.sensitive,
        synonyms=synonyms,
        config_type=one.kind,
        documentation=one.doc if asked.include_documentation else None,
    )


def _refused(one: _Asked, code: ErrorCode, reason: str | None) -> _Told:
    return _Told(
        error_code=code,
        error_message=reason,
        resource_type=one.resource_type,
        resource_name=one.resource_name,
        configs=[],
    )
