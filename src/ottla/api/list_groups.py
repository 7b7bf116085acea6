"""Listing the groups that a broker coordinates."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class ListGroupsRequest(Message, key=16, versions="0-5", flexible="3+"):
    """Ask for a coordinator's groups, of some states and types."""

    states_filter: list[str] = field("4+", default_factory=list)  # Empty for all states.
    types_filter: list[str] = field("5+", default_factory=list)  # Empty for all types.


class ListGroupsResponse(Message, key=16, versions="0-5", flexible="3+"):
    """The groups of this coordinator."""

    class Group(Struct):
        group_id: str
        protocol_type: str
        group_state: str = field("4+", default="", ignorable=True)
        group_type: str = field("5+", default="", ignorable=True)

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16
    groups: list[Group]
