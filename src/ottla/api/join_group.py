"""Entering a group, first half of a classic rebalance."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class JoinGroupRequest(Message, key=11, versions="0-9", flexible="6+"):
    """Enter a group with the protocols that the member speaks, and wait for the others.

    Versions: 1 rebalance time-out; 2 throttle time; 4 a first join without a member id is refused
    with one; 5 static member; 6 flexible; 7 protocol type in the answer; 8 reason; 9 the leader may
    be told to skip the assignment.
    """

    class Protocol(Struct):
        name: str
        metadata: bytes  # For consumers a ConsumerProtocolSubscription.

    group_id: str
    session_timeout_ms: int32
    rebalance_timeout_ms: int32 = field("1+", default=-1, ignorable=True)
    member_id: str  # Empty at the first join.
    group_instance_id: str | None = field("5+", default=None)  # Given by static members only.
    protocol_type: str
    protocols: list[Protocol]
    reason: str | None = field("8+", default=None, ignorable=True)


class JoinGroupResponse(Message, key=11, versions="0-9", flexible="6+"):
    """The generation joined; its leader also gets everyone's subscription."""

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = field("5+", default=None, ignorable=True)
        metadata: bytes

    throttle_time_ms: int32 = field("2+", default=0, ignorable=True)
    error_code: int16
    generation_id: int32 = field(default=-1)
    protocol_type: str | None = field("7+", default=None, ignorable=True)
    protocol_name: str | None = field(nullable="7+")
    leader: str
    skip_assignment: bool = field("9+", default=False)
    member_id: str
    members: list[Member]  # Empty unless the member leads.
