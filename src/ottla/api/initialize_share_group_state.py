"""Beginning the stored state of share partitions."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64


class InitializeShareGroupStateRequest(Message, key=83, versions="0", flexible="0+"):
    """Begin the state of some share partitions."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            state_epoch: int32
            start_offset: int64

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class InitializeShareGroupStateResponse(Message, key=83, versions="0", flexible="0+"):
    """Whether each state was begun."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            error_code: int16
            error_message: str | None = field(default=None)

        topic_id: Uuid
        partitions: list[Partition]

    results: list[Topic]
