"""Adding partitions to transactions."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class Topic(Struct):
    name: str
    partitions: list[int32]


class AddPartitionsToTxnRequest(Message, key=24, versions="0-5", flexible="3+"):
    """Add partitions to transactions, or only verify that they are in.

    Versions: 0-3 come from clients, one transaction each; 3 flexible; 4-5 pass between brokers:
    many transactions, and only to verify.
    """

    class Transaction(Struct):
        transactional_id: str
        producer_id: int64
        producer_epoch: int16
        verify_only: bool = field(default=False)  # Add nothing.
        topics: list[Topic]

    transactions: list[Transaction] = field("4+", default_factory=list)
    v3_and_below_transactional_id: str = field("0-3", default="")
    v3_and_below_producer_id: int64 = field("0-3", default=0)
    v3_and_below_producer_epoch: int16 = field("0-3", default=0)
    v3_and_below_topics: list[Topic] = field("0-3", default_factory=list)


class TopicResult(Struct):
    class PartitionResult(Struct):
        partition_index: int32
        partition_error_code: int16

    name: str
    results_by_partition: list[PartitionResult]


class AddPartitionsToTxnResponse(Message, key=24, versions="0-5", flexible="3+"):
    """Whether each partition is in its transaction."""

    class TransactionResult(Struct):
        transactional_id: str
        topic_results: list[TopicResult]

    throttle_time_ms: int32
    error_code: int16 = field("4+", default=0, ignorable=True)
    results_by_transaction: list[TransactionResult] = field("4+", default_factory=list)
    results_by_topic_v3_and_below: list[TopicResult] = field("0-3", default_factory=list)
