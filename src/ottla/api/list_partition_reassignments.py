"""Listing partitions that are on the move."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class ListPartitionReassignmentsRequest(Message, key=46, versions="0", flexible="0+"):
    """Ask which partitions are being moved."""

    class Topic(Struct):
        name: str
        partition_indexes: list[int32]

    timeout_ms: int32 = field(default=60000)
    topics: list[Topic] | None = field(default=None)  # Null for all.


class ListPartitionReassignmentsResponse(Message, key=46, versions="0", flexible="0+"):
    """The moves under way, with what they add and remove."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            replicas: list[int32]
            adding_replicas: list[int32]
            removing_replicas: list[int32]

        name: str
        partitions: list[Partition]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
    topics: list[Topic]
