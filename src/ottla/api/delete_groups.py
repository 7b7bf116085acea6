"""Deleting empty groups."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class DeleteGroupsRequest(Message, key=42, versions="0-3", flexible="2+"):
    """Delete groups and their offsets."""

    groups_names: list[str]


class DeleteGroupsResponse(Message, key=42, versions="0-3", flexible="2+"):
    """Whether each group was deleted."""

    class Group(Struct):
        group_id: str
        error_code: int16
        error_message: str | None = field("3+", default=None, ignorable=True)

    throttle_time_ms: int32
    results: list[Group]
