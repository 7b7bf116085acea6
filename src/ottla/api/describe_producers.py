"""Showing who produces to partitions."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class DescribeProducersRequest(Message, key=61, versions="0", flexible="0+"):
    """Ask for the producers that some partitions remember."""

    class Topic(Struct):
        name: str
        partition_indexes: list[int32]

    topics: list[Topic]


class DescribeProducersResponse(Message, key=61, versions="0", flexible="0+"):
    """Each partition's producers with their open transactions."""

    class Topic(Struct):
        class Partition(Struct):
            class Producer(Struct):
                producer_id: int64
                producer_epoch: int32
                last_sequence: int32 = field(default=-1)
                last_timestamp: int64 = field(default=-1)
                coordinator_epoch: int32
                current_txn_start_offset: int64 = field(default=-1)  # -1 if none is open.

            partition_index: int32
            error_code: int16
            error_message: str | None = field(default=None)
            active_producers: list[Producer]

        name: str
        partitions: list[Partition]

    throttle_time_ms: int32
    topics: list[Topic]
