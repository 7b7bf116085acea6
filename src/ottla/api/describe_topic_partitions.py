"""Showing topics a page at a time."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class DescribeTopicPartitionsRequest(Message, key=75, versions="0", flexible="0+"):
    """Ask for the partitions of topics, from a cursor on."""

    class Topic(Struct):
        name: str

    class Cursor(Struct):
        topic_name: str
        partition_index: int32

    topics: list[Topic]
    response_partition_limit: int32 = field(default=2000)
    cursor: Cursor | None = field(default=None)


class DescribeTopicPartitionsResponse(Message, key=75, versions="0", flexible="0+"):
    """A page of partitions, and where the next begins."""

    class Topic(Struct):
        class Partition(Struct):
            error_code: int16
            partition_index: int32
            leader_id: int32
            leader_epoch: int32 = field(default=-1, ignorable=True)
            replica_nodes: list[int32]
            isr_nodes: list[int32]
            eligible_leader_replicas: list[int32] | None = field(default=None)
            last_known_elr: list[int32] | None = field(default=None)
            offline_replicas: list[int32] = field(ignorable=True)

        error_code: int16
        name: str | None
        topic_id: Uuid = field(ignorable=True)
        is_internal: bool = field(default=False, ignorable=True)
        partitions: list[Partition]
        topic_authorized_operations: int32 = field(default=-0x8000_0000)

    class NextCursor(Struct):
        topic_name: str
        partition_index: int32

    throttle_time_ms: int32 = field(ignorable=True)
    topics: list[Topic]
    next_cursor: NextCursor | None = field(default=None)  # Null on the last page.
