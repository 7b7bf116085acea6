"""Handing out the assignment, second half of a classic rebalance."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class SyncGroupRequest(Message, key=14, versions="0-5", flexible="4+"):
    """Ask for one's assignment; the leader brings everyone's.

    Versions: 1 throttle time; 3 static member; 4 flexible; 5 protocol type and name.
    """

    class Assignment(Struct):
        member_id: str
        assignment: bytes

    group_id: str
    generation_id: int32
    member_id: str
    group_instance_id: str | None = field("3+", default=None)
    protocol_type: str | None = field("5+", default=None, ignorable=True)
    protocol_name: str | None = field("5+", default=None, ignorable=True)
    assignments: list[Assignment]  # Empty unless the member leads.


class SyncGroupResponse(Message, key=14, versions="0-5", flexible="4+"):
    """What the member has to consume."""

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16
    protocol_type: str | None = field("5+", default=None, ignorable=True)
    protocol_name: str | None = field("5+", default=None, ignorable=True)
    assignment: bytes  # For consumers a ConsumerProtocolAssignment.
