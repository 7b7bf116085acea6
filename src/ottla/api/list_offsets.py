"""Finding an offset by a timestamp, or one of a log's ends."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64


class ListOffsetsRequest(Message, key=2, versions="0-11", flexible="6+"):
    """Ask which offset of a partition belongs to a timestamp or to a named position.

    Versions: 0 a list of offsets, 1 a single one; 2 isolation level; 4 leader epoch; 5
    OFFSET_NOT_AVAILABLE; 6 flexible; 7 the largest timestamp (-3); 8 earliest local (-4); 9 latest
    tiered (-5); 10 time-out of remote lookups; 11 earliest pending upload (-6).
    """

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            current_leader_epoch: int32 = field("4+", default=-1, ignorable=True)
            timestamp: int64  # Negative values name positions, as -2 the earliest.
            max_num_offsets: int32 = field("0", default=1)  # How long the list of version 0 may be.

        name: str
        partitions: list[Partition]

    replica_id: int32  # -1 for a consumer.
    isolation_level: int8 = field("2+", default=0)
    topics: list[Topic]
    timeout_ms: int32 = field("10+", default=0, ignorable=True)


class ListOffsetsResponse(Message, key=2, versions="0-11", flexible="6+"):
    """The offset found for each partition."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            # Starts of segments, newest first.
            old_style_offsets: list[int64] = field("0", default_factory=list)
            timestamp: int64 = field("1+", default=-1)
            offset: int64 = field("1+", default=-1)
            leader_epoch: int32 = field("4+", default=-1)

        name: str
        partitions: list[Partition]

    throttle_time_ms: int32 = field("2+", default=0, ignorable=True)
    topics: list[Topic]
