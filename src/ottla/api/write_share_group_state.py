"""Writing the stored state of share partitions."""

from ottla.wire.fields import Message, Struct, Uuid, field, int8, int16, int32, int64


class WriteShareGroupStateRequest(Message, key=85, versions="0-1", flexible="0+"):
    """Write what changed in the state of some share partitions."""

    class Topic(Struct):
        class Partition(Struct):
            class StateBatch(Struct):
                first_offset: int64
                last_offset: int64
                delivery_state: int8  # 0 available, 2 acknowledged, 4 archived.
                delivery_count: int16

            partition: int32
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64  # -1 if unchanged.
            delivery_complete_count: int32 = field("1+", default=-1, ignorable=True)
            state_batches: list[StateBatch]

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class WriteShareGroupStateResponse(Message, key=85, versions="0-1", flexible="0+"):
    """Whether each change was written."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            error_code: int16
            error_message: str | None = field(default=None)

        topic_id: Uuid
        partitions: list[Partition]

    results: list[Topic]
