"""Adding a voter to the metadata quorum."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, uint16


class AddRaftVoterRequest(Message, key=80, versions="0-1", flexible="0+"):
    """Make a controller a voter."""

    class Listener(Struct):
        name: str
        host: str
        port: uint16

    cluster_id: str | None
    timeout_ms: int32
    voter_id: int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    # Answer once the new voters are committed, or at once.
    ack_when_committed: bool = field("1+", default=True)


class AddRaftVoterResponse(Message, key=80, versions="0-1", flexible="0+"):
    """Whether it became one."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(ignorable=True)
