"""Listing resources that have settings."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class ListConfigResourcesRequest(Message, key=74, versions="0-1", flexible="0+"):
    """Ask for the names of resources of some types."""

    # Empty for all types that can be listed.
    resource_types: list[int8] = field("1+", default_factory=list)


class ListConfigResourcesResponse(Message, key=74, versions="0-1", flexible="0+"):
    """The resources found."""

    class Resource(Struct):
        resource_name: str
        resource_type: int8 = field("1+", default=16, ignorable=True)

    throttle_time_ms: int32
    error_code: int16
    config_resources: list[Resource]
