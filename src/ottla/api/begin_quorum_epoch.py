"""Announcing the leader of the metadata quorum."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, uint16


class BeginQuorumEpochRequest(Message, key=53, versions="0-1", flexible="1+"):
    """Tell a voter that the sender leads this epoch."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            voter_directory_id: Uuid = field("1+", default=NO_ID, ignorable=True)
            leader_id: int32
            leader_epoch: int32

        topic_name: str
        partitions: list[Partition]

    class LeaderEndpoint(Struct):
        name: str
        host: str
        port: uint16

    cluster_id: str | None = field(default=None)
    voter_id: int32 = field("1+", default=-1, ignorable=True)
    topics: list[Topic]
    leader_endpoints: list[LeaderEndpoint] = field("1+", default_factory=list, ignorable=True)


class BeginQuorumEpochResponse(Message, key=53, versions="0-1", flexible="1+"):
    """Whether the voter accepts that, and whom it knows as leader."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32

        topic_name: str
        partitions: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: uint16

    error_code: int16
    topics: list[Topic]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0, default_factory=list)
