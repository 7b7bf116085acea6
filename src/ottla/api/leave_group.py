"""Leaving a classic group."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class LeaveGroupRequest(Message, key=13, versions="0-5", flexible="4+"):
    """Take members out of a group.

    Versions: 1 throttle time; 3 many members; 4 flexible; 5 reason.
    """

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = field(default=None)
        reason: str | None = field("5+", default=None, ignorable=True)

    group_id: str
    member_id: str = field("0-2", default="")
    members: list[Member] = field("3+", default_factory=list)


class LeaveGroupResponse(Message, key=13, versions="0-5", flexible="4+"):
    """Whether each member has left."""

    class Member(Struct):
        member_id: str
        group_instance_id: str | None
        error_code: int16

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16
    members: list[Member] = field("3+", default_factory=list)
