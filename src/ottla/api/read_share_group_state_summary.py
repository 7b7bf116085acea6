"""Reading where share partitions start."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64


class ReadShareGroupStateSummaryRequest(Message, key=87, versions="0-1", flexible="0+"):
    """Read the start of some share partitions, without their batches."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            leader_epoch: int32

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str
    topics: list[Topic]


class ReadShareGroupStateSummaryResponse(Message, key=87, versions="0-1", flexible="0+"):
    """Each partition's start and epochs."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            error_code: int16
            error_message: str | None = field(default=None)
            state_epoch: int32
            leader_epoch: int32
            start_offset: int64
            delivery_complete_count: int32 = field("1+", default=-1, ignorable=True)

        topic_id: Uuid
        partitions: list[Partition]

    results: list[Topic]
