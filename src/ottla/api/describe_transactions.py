"""Showing transactions."""

from ottla.wire.fields import Message, Struct, int16, int32, int64


class DescribeTransactionsRequest(Message, key=65, versions="0", flexible="0+"):
    """Ask for the state of some transactions."""

    transactional_ids: list[str]


class DescribeTransactionsResponse(Message, key=65, versions="0", flexible="0+"):
    """Each transaction's state and partitions."""

    class Transaction(Struct):
        class Topic(Struct):
            topic: str
            partitions: list[int32]

        error_code: int16
        transactional_id: str
        transaction_state: str
        transaction_timeout_ms: int32
        transaction_start_time_ms: int64
        producer_id: int64
        producer_epoch: int16
        topics: list[Topic]

    throttle_time_ms: int32
    transaction_states: list[Transaction]
