"""Deleting a group's offsets."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class OffsetDeleteRequest(Message, key=47, versions="0"):
    """Delete the offsets of a group for some partitions."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32

        name: str
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class OffsetDeleteResponse(Message, key=47, versions="0"):
    """Whether each offset was deleted."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16

        name: str
        partitions: list[Partition]

    error_code: int16
    throttle_time_ms: int32 = field(ignorable=True)
    topics: list[Topic]
