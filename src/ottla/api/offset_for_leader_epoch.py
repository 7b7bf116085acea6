"""Finding where a leader epoch ended, to see whether logs diverge."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class OffsetForLeaderEpochRequest(Message, key=23, versions="0-4", flexible="4+"):
    """Ask where epochs of some partitions end.

    Versions: 1 the epoch in the answer; 2 current leader epoch, throttle time; 3 replica id; 4
    flexible.
    """

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            current_leader_epoch: int32 = field("2+", default=-1, ignorable=True)
            leader_epoch: int32

        topic: str
        partitions: list[Partition]

    # -1 for a consumer, -2 for a debugging tool.
    replica_id: int32 = field("3+", default=-2, ignorable=True)
    topics: list[Topic]


class OffsetForLeaderEpochResponse(Message, key=23, versions="0-4", flexible="4+"):
    """The last epoch not above the one asked, and its end offset."""

    class Topic(Struct):
        class Partition(Struct):
            error_code: int16
            partition: int32
            leader_epoch: int32 = field("1+", default=-1, ignorable=True)
            end_offset: int64 = field(default=-1)

        topic: str
        partitions: list[Partition]

    throttle_time_ms: int32 = field("2+", default=0, ignorable=True)
    topics: list[Topic]
