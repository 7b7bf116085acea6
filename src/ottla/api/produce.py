"""Appending batches to partitions."""

from ottla.wire.fields import (
    NO_ID,
    Message,
    Records,
    Struct,
    Uuid,
    blank,
    field,
    int16,
    int32,
    int64,
)


class ProduceRequest(Message, key=0, versions="0-13", flexible="9+"):
    """Append batches to some partitions and say how many replicas must have them.

    Versions: 3 transactional id, only magic 2 and one batch per partition; 7 zstd; 9 flexible; 12
    the broker itself adds the partition to the transaction; 13 topic id instead of name.
    """

    class Topic(Struct):
        class Partition(Struct):
            index: int32  # The partition.
            records: Records | None

        name: str = field("0-12", default="", ignorable=True)
        topic_id: Uuid = field("13+", default=NO_ID, ignorable=True)
        partition_data: list[Partition]

    transactional_id: str | None = field("3+", default=None)
    acks: int16  # 0 none, 1 the leader, -1 all in-sync replicas.
    timeout_ms: int32
    topic_data: list[Topic]


class ProduceResponse(Message, key=0, versions="0-13", flexible="9+"):
    """Where each batch went, or why it was refused.

    Versions: 1 throttle time; 2 log-append time; 4 storage error; 5 log start offset; 8 errors of
    single records; 10 current leader and endpoints; 11 TRANSACTION_ABORTABLE.
    """

    class Topic(Struct):
        class Partition(Struct):
            class RecordError(Struct):
                batch_index: int32  # The record's place in its batch.
                batch_index_error_message: str | None = field(default=None)

            class CurrentLeader(Struct):
                leader_id: int32 = field(default=-1)
                leader_epoch: int32 = field(default=-1)

            index: int32
            error_code: int16
            base_offset: int64
            # -1 unless the topic stamps on append.
            log_append_time_ms: int64 = field("2+", default=-1, ignorable=True)
            log_start_offset: int64 = field("5+", default=-1, ignorable=True)
            record_errors: list[RecordError] = field("8+", default_factory=list, ignorable=True)
            error_message: str | None = field("8+", default=None, ignorable=True)
            # Said with errors about leadership.
            current_leader: CurrentLeader = field("10+", tag=0, default=blank(CurrentLeader))

        name: str = field("0-12", default="", ignorable=True)
        topic_id: Uuid = field("13+", default=NO_ID, ignorable=True)
        partition_responses: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: int32
        rack: str | None = field(default=None)

    responses: list[Topic]
    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    node_endpoints: list[NodeEndpoint] = field("10+", tag=0, default_factory=list)
