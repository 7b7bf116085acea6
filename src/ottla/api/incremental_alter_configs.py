"""Changing single settings of resources."""

from ottla.wire.fields import Message, Struct, int8, int16, int32


class IncrementalAlterConfigsRequest(Message, key=44, versions="0-1", flexible="1+"):
    """Set, unset, append to or subtract from single settings."""

    class Resource(Struct):
        class Config(Struct):
            name: str
            config_operation: int8  # 0 set, 1 delete, 2 append, 3 subtract.
            value: str | None

        resource_type: int8
        resource_name: str
        configs: list[Config]

    resources: list[Resource]
    validate_only: bool


class IncrementalAlterConfigsResponse(Message, key=44, versions="0-1", flexible="1+"):
    """Whether each resource was changed."""

    class Resource(Struct):
        error_code: int16
        error_message: str | None
        resource_type: int8
        resource_name: str

    throttle_time_ms: int32
    responses: list[Resource]
