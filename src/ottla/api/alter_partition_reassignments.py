"""Moving partitions to other replicas."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class AlterPartitionReassignmentsRequest(Message, key=45, versions="0-1", flexible="0+"):
    """Begin to move partitions to other replicas, or cancel such moves."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            replicas: list[int32] | None = field(default=None)  # Null cancels.

        name: str
        partitions: list[Partition]

    timeout_ms: int32 = field(default=60000)
    # Whether the number of replicas may change.
    allow_replication_factor_change: bool = field("1+", default=True)
    topics: list[Topic]


class AlterPartitionReassignmentsResponse(Message, key=45, versions="0-1", flexible="0+"):
    """Whether each move was begun or cancelled."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            error_message: str | None

        name: str
        partitions: list[Partition]

    throttle_time_ms: int32
    allow_replication_factor_change: bool = field("1+", default=True, ignorable=True)
    error_code: int16
    error_message: str | None
    responses: list[Topic]
