"""Staying in a classic group."""

from ottla.wire.fields import Message, field, int16, int32


class HeartbeatRequest(Message, key=12, versions="0-4", flexible="4+"):
    """Say that a member is alive, and learn of a rebalance.

    Versions: 1 throttle time; 3 static member; 4 flexible.
    """

    group_id: str
    generation_id: int32
    member_id: str
    group_instance_id: str | None = field("3+", default=None)


class HeartbeatResponse(Message, key=12, versions="0-4", flexible="4+"):
    """Whether the member may go on."""

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16
