"""Records of __transaction_state."""

from typing import Final

from ottla.api.coordinator_records import Pairs
from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64


class TransactionLogKey(Message, key=0, versions="0"):
    """Which transactional id."""

    transactional_id: str


class TransactionLogValue(Message, key=0, versions="0-1", flexible="1+"):
    """A transaction's producer, state and partitions.

    Versions: 1 flexible, further producer ids and epochs, the level that the client speaks.
    """

    class Topic(Struct):
        topic: str
        partition_ids: list[int32]

    producer_id: int64
    previous_producer_id: int64 = field("1+", tag=0, default=-1)
    next_producer_id: int64 = field("1+", tag=1, default=-1)
    producer_epoch: int16
    next_producer_epoch: int16 = field("1+", tag=3, default=-1)
    transaction_timeout_ms: int32
    # The number of the state: 0 empty, 1 ongoing, 2 and 3 preparing, 4 and 5 complete, 6 dead.
    transaction_status: int8
    transaction_partitions: list[Topic] | None
    transaction_last_update_timestamp_ms: int64
    transaction_start_timestamp_ms: int64
    # The level of transaction.version that its producer speaks.
    client_transaction_version: int16 = field("1+", tag=2, default=0)


TRANSACTION_RECORDS: Final[Pairs] = {
    0: (TransactionLogKey, TransactionLogValue),
}
"""The classes of key and value, by type."""
