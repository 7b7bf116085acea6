"""Listing access rules."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class DescribeAclsRequest(Message, key=29, versions="0-3", flexible="2+"):
    """Ask for the access rules that match a filter."""

    resource_type_filter: int8
    resource_name_filter: str | None  # Null for any name.
    pattern_type_filter: int8 = field("1+", default=3)  # 3 is a literal name.
    principal_filter: str | None  # Null for any principal.
    host_filter: str | None  # Null for any host.
    operation: int8
    permission_type: int8


class DescribeAclsResponse(Message, key=29, versions="0-3", flexible="2+"):
    """The rules found, by resource."""

    class Resource(Struct):
        class Acl(Struct):
            principal: str
            host: str
            operation: int8
            permission_type: int8

        resource_type: int8
        resource_name: str
        pattern_type: int8 = field("1+", default=3)
        acls: list[Acl]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
    resources: list[Resource]
