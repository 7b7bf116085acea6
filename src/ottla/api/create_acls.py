"""Creating access rules."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class CreateAclsRequest(Message, key=30, versions="0-3", flexible="2+"):
    """Create access rules."""

    class Creation(Struct):
        resource_type: int8
        resource_name: str
        resource_pattern_type: int8 = field("1+", default=3)  # 3 is a literal name.
        principal: str
        host: str
        operation: int8
        permission_type: int8

    creations: list[Creation]


class CreateAclsResponse(Message, key=30, versions="0-3", flexible="2+"):
    """Whether each rule was created, in the order asked."""

    class Result(Struct):
        error_code: int16
        error_message: str | None

    throttle_time_ms: int32
    results: list[Result]
