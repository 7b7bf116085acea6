"""Showing where share groups start."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64


class DescribeShareGroupOffsetsRequest(Message, key=90, versions="0-1", flexible="0+"):
    """Ask for the start offsets of share groups."""

    class Group(Struct):
        class Topic(Struct):
            topic_name: str
            partitions: list[int32]

        group_id: str
        topics: list[Topic] | None  # Null for all.

    groups: list[Group]


class DescribeShareGroupOffsetsResponse(Message, key=90, versions="0-1", flexible="0+"):
    """The start offset and lag of each share partition."""

    class Group(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32
                start_offset: int64
                leader_epoch: int32
                lag: int64 = field("1+", default=-1, ignorable=True)
                error_code: int16
                error_message: str | None = field(default=None)

            topic_name: str
            topic_id: Uuid
            partitions: list[Partition]

        group_id: str
        topics: list[Topic]
        error_code: int16
        error_message: str | None = field(default=None)

    throttle_time_ms: int32
    groups: list[Group]
