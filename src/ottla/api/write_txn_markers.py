"""Writing the end of transactions into partitions."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64


class WriteTxnMarkersRequest(Message, key=27, versions="0-2", flexible="1+"):
    """Write markers that end transactions into the partitions of one leader."""

    class Marker(Struct):
        class Topic(Struct):
            name: str
            partition_indexes: list[int32]

        producer_id: int64
        producer_epoch: int16
        transaction_result: bool  # True commits, false aborts.
        topics: list[Topic]
        coordinator_epoch: int32
        # The level of transaction.version it was decided at.
        transaction_version: int8 = field("2+", default=0, ignorable=True)

    markers: list[Marker]


class WriteTxnMarkersResponse(Message, key=27, versions="0-2", flexible="1+"):
    """Whether each marker was written."""

    class Marker(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32
                error_code: int16

            name: str
            partitions: list[Partition]

        producer_id: int64
        topics: list[Topic]

    markers: list[Marker]
