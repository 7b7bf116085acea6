"""Reading the stored state of share partitions."""

from ottla.wire.fields import Message, Struct, Uuid, field, int8, int16, int32, int64


class ReadShareGroupStateRequest(Message, key=84, versions="0", flexible="0+"):
    """Read the state of some share partitions, as their new leader."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            leader_epoch: int32

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class ReadShareGroupStateResponse(Message, key=84, versions="0", flexible="0+"):
    """Each partition's state."""

    class Topic(Struct):
        class Partition(Struct):
            class StateBatch(Struct):
                first_offset: int64
                last_offset: int64
                delivery_state: int8  # 0 available, 2 acknowledged, 4 archived.
                delivery_count: int16

            partition: int32
            error_code: int16
            error_message: str | None = field(default=None)
            state_epoch: int32
            start_offset: int64
            state_batches: list[StateBatch]

        topic_id: Uuid
        partitions: list[Partition]

    results: list[Topic]
