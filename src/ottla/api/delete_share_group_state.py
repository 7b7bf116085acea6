"""Deleting the stored state of share partitions."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class DeleteShareGroupStateRequest(Message, key=86, versions="0", flexible="0+"):
    """Delete the state of some share partitions."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class DeleteShareGroupStateResponse(Message, key=86, versions="0", flexible="0+"):
    """Whether each state was deleted."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            error_code: int16
            error_message: str | None = field(default=None)

        topic_id: Uuid
        partitions: list[Partition]

    results: list[Topic]
