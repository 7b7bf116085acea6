"""Electing the leader of the metadata quorum."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64, uint16


class VoteRequest(Message, key=52, versions="0-2", flexible="0+"):
    """Ask for a voter's vote, or whether it would give it."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            replica_epoch: int32
            replica_id: int32  # Who asks.
            replica_directory_id: Uuid = field("1+", default=NO_ID, ignorable=True)
            voter_directory_id: Uuid = field("1+", default=NO_ID, ignorable=True)
            last_offset_epoch: int32
            last_offset: int64
            pre_vote: bool = field("2+", default=False)  # Only ask whether the vote would be given.

        topic_name: str
        partitions: list[Partition]

    cluster_id: str | None = field(default=None)
    voter_id: int32 = field("1+", default=-1, ignorable=True)  # Who is asked.
    topics: list[Topic]


class VoteResponse(Message, key=52, versions="0-2", flexible="0+"):
    """Whether the vote was given, and who leads if someone does."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32
            vote_granted: bool

        topic_name: str
        partitions: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: uint16

    error_code: int16
    topics: list[Topic]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0, default_factory=list)
