"""Showing the metadata quorum."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64, uint16


class DescribeQuorumRequest(Message, key=55, versions="0-2", flexible="0+"):
    """Ask for the state of the metadata quorum."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32

        topic_name: str
        partitions: list[Partition]

    topics: list[Topic]


class DescribeQuorumResponse(Message, key=55, versions="0-2", flexible="0+"):
    """The quorum's leader, and how far each replica has come."""

    class Topic(Struct):
        class Partition(Struct):
            class ReplicaState(Struct):
                replica_id: int32
                replica_directory_id: Uuid = field("2+", default=NO_ID)
                log_end_offset: int64
                last_fetch_timestamp: int64 = field("1+", default=-1, ignorable=True)
                last_caught_up_timestamp: int64 = field("1+", default=-1, ignorable=True)

            partition_index: int32
            error_code: int16
            error_message: str | None = field("2+", default="", ignorable=True)
            leader_id: int32
            leader_epoch: int32
            high_watermark: int64
            current_voters: list[ReplicaState]
            observers: list[ReplicaState]

        topic_name: str
        partitions: list[Partition]

    class Node(Struct):
        class Listener(Struct):
            name: str
            host: str
            port: uint16

        node_id: int32
        listeners: list[Listener]

    error_code: int16
    error_message: str | None = field("2+", default="", ignorable=True)
    topics: list[Topic]
    nodes: list[Node] = field("2+", default_factory=list)
