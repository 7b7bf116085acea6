"""Reading how far groups have consumed."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64


class OffsetFetchRequest(Message, key=9, versions="0-10", flexible="6+"):
    """Ask for the offsets that groups have stored.

    Versions: 0 offsets kept in ZooKeeper; 1 kept in Kafka; 2 null means all topics, and an error of
    the whole answer; 3 throttle time; 5 leader epoch; 6 flexible; 7 only stable offsets; 8 many
    groups; 9 member and epoch; 10 topic id instead of name.
    """

    class Topic(Struct):
        name: str
        partition_indexes: list[int32]

    class Group(Struct):
        class Topic(Struct):
            name: str = field("8-9", default="", ignorable=True)
            topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
            partition_indexes: list[int32]

        group_id: str
        member_id: str | None = field("9+", default=None, ignorable=True)
        member_epoch: int32 = field("9+", default=-1, ignorable=True)
        topics: list[Topic] | None

    group_id: str = field("0-7", default="")
    topics: list[Topic] | None = field("0-7", default_factory=list, nullable="2-7")
    groups: list[Group] = field("8+", default_factory=list)
    # Refuse offsets that an open transaction may change.
    require_stable: bool = field("7+", default=False)


class OffsetFetchResponse(Message, key=9, versions="0-10", flexible="6+"):
    """The stored offsets, or -1 where there is none."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = field("5-7", default=-1, ignorable=True)
            metadata: str | None
            error_code: int16

        name: str
        partitions: list[Partition]

    class Group(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32
                committed_offset: int64
                committed_leader_epoch: int32 = field(default=-1, ignorable=True)
                metadata: str | None
                error_code: int16

            name: str = field("8-9", default="", ignorable=True)
            topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
            partitions: list[Partition]

        group_id: str
        topics: list[Topic]
        error_code: int16 = field(default=0)

    throttle_time_ms: int32 = field("3+", default=0, ignorable=True)
    topics: list[Topic] = field("0-7", default_factory=list)
    error_code: int16 = field("2-7", default=0, ignorable=True)
    groups: list[Group] = field("8+", default_factory=list)
