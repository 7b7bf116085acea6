"""Showing classic groups."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class DescribeGroupsRequest(Message, key=15, versions="0-6", flexible="5+"):
    """Ask for the state and members of some classic groups."""

    groups: list[str]
    include_authorized_operations: bool = field("3+", default=False)


class DescribeGroupsResponse(Message, key=15, versions="0-6", flexible="5+"):
    """Each group's state and members."""

    class Group(Struct):
        class Member(Struct):
            member_id: str
            group_instance_id: str | None = field("4+", default=None, ignorable=True)
            client_id: str
            client_host: str
            member_metadata: bytes
            member_assignment: bytes

        error_code: int16
        error_message: str | None = field("6+", default=None)
        group_id: str
        group_state: str
        protocol_type: str
        protocol_data: str
        members: list[Member]
        authorized_operations: int32 = field("3+", default=-0x8000_0000)

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    groups: list[Group]
