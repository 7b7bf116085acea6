"""Replacing the settings of resources as a whole."""

from ottla.wire.fields import Message, Struct, int8, int16, int32


class AlterConfigsRequest(Message, key=33, versions="0-2", flexible="2+"):
    """Give resources exactly these settings; what is not named returns to its default."""

    class Resource(Struct):
        class Config(Struct):
            name: str
            value: str | None

        resource_type: int8
        resource_name: str
        configs: list[Config]

    resources: list[Resource]
    validate_only: bool


class AlterConfigsResponse(Message, key=33, versions="0-2", flexible="2+"):
    """Whether each resource was changed."""

    class Resource(Struct):
        error_code: int16
        error_message: str | None
        resource_type: int8
        resource_name: str

    throttle_time_ms: int32
    responses: list[Resource]
