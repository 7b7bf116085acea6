"""Storing how far a group has consumed."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64


class OffsetCommitRequest(Message, key=8, versions="0-10", flexible="8+"):
    """Store offsets of a group.

    Versions: 0 no membership; 1 member and commit time; 2 retention time instead of commit time; 3
    throttle time; 5 no retention time; 6 leader epoch; 7 static member; 8 flexible; 9 members of
    consumer groups; 10 topic id instead of name.
    """

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = field("6+", default=-1, ignorable=True)
            commit_timestamp: int64 = field("1", default=-1)  # -1 for the time of arrival.
            committed_metadata: str | None

        name: str = field("0-9", default="", ignorable=True)
        topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    group_id: str
    # -1 from a consumer that is in no group.
    generation_id_or_member_epoch: int32 = field("1+", default=-1, ignorable=True)
    member_id: str = field("1+", default="", ignorable=True)
    group_instance_id: str | None = field("7+", default=None)
    retention_time_ms: int64 = field("2-4", default=-1, ignorable=True)  # -1 for the broker's own.
    topics: list[Topic]


class OffsetCommitResponse(Message, key=8, versions="0-10", flexible="8+"):
    """Whether each offset was stored."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16

        name: str = field("0-9", default="", ignorable=True)
        topic_id: Uuid = field("10+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    throttle_time_ms: int32 = field("3+", default=0, ignorable=True)
    topics: list[Topic]
