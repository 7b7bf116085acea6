"""Deleting access rules."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class DeleteAclsRequest(Message, key=31, versions="0-3", flexible="2+"):
    """Delete the access rules that match some filters."""

    class Filter(Struct):
        resource_type_filter: int8
        resource_name_filter: str | None
        pattern_type_filter: int8 = field("1+", default=3)  # 3 is a literal name.
        principal_filter: str | None
        host_filter: str | None
        operation: int8
        permission_type: int8

    filters: list[Filter]


class DeleteAclsResponse(Message, key=31, versions="0-3", flexible="2+"):
    """The rules that each filter deleted."""

    class FilterResult(Struct):
        class MatchingAcl(Struct):
            error_code: int16
            error_message: str | None
            resource_type: int8
            resource_name: str
            pattern_type: int8 = field("1+", default=3)
            principal: str
            host: str
            operation: int8
            permission_type: int8

        error_code: int16
        error_message: str | None
        matching_acls: list[MatchingAcl]

    throttle_time_ms: int32
    filter_results: list[FilterResult]
