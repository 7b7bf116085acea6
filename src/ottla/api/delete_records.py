"""Deleting a partition's records up to an offset."""

from ottla.wire.fields import Message, Struct, int16, int32, int64


class DeleteRecordsRequest(Message, key=21, versions="0-2", flexible="2+"):
    """Raise the first offset of some partitions."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            offset: int64  # -1 for the high watermark.

        name: str
        partitions: list[Partition]

    topics: list[Topic]
    timeout_ms: int32


class DeleteRecordsResponse(Message, key=21, versions="0-2", flexible="2+"):
    """The first offset that each partition has now."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            low_watermark: int64  # The first offset that may be read.
            error_code: int16

        name: str
        partitions: list[Partition]

    throttle_time_ms: int32
    topics: list[Topic]
