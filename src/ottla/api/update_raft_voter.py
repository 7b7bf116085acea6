"""Updating a voter of the metadata quorum."""

from ottla.wire.fields import Message, Struct, Uuid, blank, field, int16, int32, uint16


class UpdateRaftVoterRequest(Message, key=82, versions="0", flexible="0+"):
    """Tell the leader a voter's endpoints and supported protocol."""

    class Listener(Struct):
        name: str
        host: str
        port: uint16

    class KRaftVersionFeature(Struct):
        min_supported_version: int16
        max_supported_version: int16

    cluster_id: str | None
    current_leader_epoch: int32
    voter_id: int32
    voter_directory_id: Uuid
    listeners: list[Listener]
    kraft_version_feature: KRaftVersionFeature


class UpdateRaftVoterResponse(Message, key=82, versions="0", flexible="0+"):
    """Whether they were recorded, and who leads."""

    class CurrentLeader(Struct):
        leader_id: int32 = field(default=-1)
        leader_epoch: int32 = field(default=-1)
        host: str
        port: int32

    throttle_time_ms: int32
    error_code: int16
    current_leader: CurrentLeader = field(tag=0, default=blank(CurrentLeader))
