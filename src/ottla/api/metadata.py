"""Learning brokers, topics and the leaders of partitions."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32


class MetadataRequest(Message, key=3, versions="0-13", flexible="9+"):
    """Ask for some or all topics, and create those that are missing if allowed.

    Versions: 0 an empty list means all topics; 1 null does, and an empty list means none; 4 whether
    to create topics; 8 authorized operations; 9 flexible; 10 topic ids; 12 asks by topic id.
    """

    class Topic(Struct):
        topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
        name: str | None = field(nullable="10+")

    topics: list[Topic] | None = field(nullable="1+")
    allow_auto_topic_creation: bool = field("4+", default=True)
    include_cluster_authorized_operations: bool = field("8-10", default=False)
    include_topic_authorized_operations: bool = field("8+", default=False)


class MetadataResponse(Message, key=3, versions="0-13", flexible="9+"):
    """The brokers, and for each topic its partitions with their leaders and replicas.

    Versions: 1 racks, controller, internal topics; 2 cluster id; 3 throttle time; 5 offline
    replicas; 7 leader epoch; 8 authorized operations; 10 topic ids; 13 an error of the whole
    answer.
    """

    class Broker(Struct):
        node_id: int32
        host: str
        port: int32
        rack: str | None = field("1+", default=None, ignorable=True)

    class Topic(Struct):
        class Partition(Struct):
            error_code: int16
            partition_index: int32
            leader_id: int32
            leader_epoch: int32 = field("7+", default=-1, ignorable=True)
            replica_nodes: list[int32]
            isr_nodes: list[int32]
            # Replicas on dead brokers or directories.
            offline_replicas: list[int32] = field("5+", default_factory=list, ignorable=True)

        error_code: int16
        name: str | None = field(nullable="12+")
        topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
        is_internal: bool = field("1+", default=False, ignorable=True)
        partitions: list[Partition]
        # Bits by operation; the default says it was not asked.
        topic_authorized_operations: int32 = field("8+", default=-0x8000_0000)

    throttle_time_ms: int32 = field("3+", default=0, ignorable=True)
    brokers: list[Broker]
    cluster_id: str | None = field("2+", default=None, ignorable=True)
    controller_id: int32 = field("1+", default=-1, ignorable=True)
    topics: list[Topic]
    # Bits by operation; the default says it was not asked.
    cluster_authorized_operations: int32 = field("8-10", default=-0x8000_0000)
    error_code: int16 = field("13+", default=0, ignorable=True)
