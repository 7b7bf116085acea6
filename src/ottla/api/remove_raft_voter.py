"""Removing a voter from the metadata quorum."""

from ottla.wire.fields import Message, Uuid, field, int16, int32


class RemoveRaftVoterRequest(Message, key=81, versions="0", flexible="0+"):
    """Take a controller's vote away."""

    cluster_id: str | None
    voter_id: int32
    voter_directory_id: Uuid


class RemoveRaftVoterResponse(Message, key=81, versions="0", flexible="0+"):
    """Whether it was taken."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(ignorable=True)
