"""Resigning as leader of the metadata quorum."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, uint16


class EndQuorumEpochRequest(Message, key=54, versions="0-1", flexible="1+"):
    """Tell a voter that the sender no longer leads, and who should."""

    class Topic(Struct):
        class Partition(Struct):
            class Candidate(Struct):
                candidate_id: int32
                candidate_directory_id: Uuid

            partition_index: int32
            leader_id: int32
            leader_epoch: int32
            # Voters by how far they have come, best first.
            preferred_successors: list[int32] = field("0", default_factory=list, ignorable=True)
            preferred_candidates: list[Candidate] = field(
                "1+", default_factory=list, ignorable=True
            )

        topic_name: str
        partitions: list[Partition]

    class LeaderEndpoint(Struct):
        name: str
        host: str
        port: uint16

    cluster_id: str | None = field(default=None)
    topics: list[Topic]
    leader_endpoints: list[LeaderEndpoint] = field("1+", default_factory=list, ignorable=True)


class EndQuorumEpochResponse(Message, key=54, versions="0-1", flexible="1+"):
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
