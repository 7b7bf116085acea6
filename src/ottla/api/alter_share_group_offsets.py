"""Moving where a share group starts."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64


class AlterShareGroupOffsetsRequest(Message, key=91, versions="0", flexible="0+"):
    """Set the start offsets of a share group."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            start_offset: int64

        topic_name: str
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class AlterShareGroupOffsetsResponse(Message, key=91, versions="0", flexible="0+"):
    """Whether each offset was set."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            error_message: str | None = field(default=None)

        topic_name: str
        topic_id: Uuid
        partitions: list[Partition]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    responses: list[Topic]
