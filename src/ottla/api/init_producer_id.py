"""Getting a producer id, and fencing whoever used a transactional id before."""

from ottla.wire.fields import Message, field, int16, int32, int64


class InitProducerIdRequest(Message, key=22, versions="0-6", flexible="2+"):
    """Ask for a producer id and epoch.

    Versions: 2 flexible; 3 the current id and epoch; 4 PRODUCER_FENCED; 5 TRANSACTION_ABORTABLE; 6
    two-phase commit.
    """

    transactional_id: str | None  # Null for a producer without transactions.
    transaction_timeout_ms: int32
    producer_id: int64 = field("3+", default=-1)  # The current one, to raise its epoch; else -1.
    producer_epoch: int16 = field("3+", default=-1)
    enable2_pc: bool = field("6+", default=False)  # Commit in two phases, without a time-out.
    keep_prepared_txn: bool = field("6+", default=False)  # Do not abort a prepared transaction.


class InitProducerIdResponse(Message, key=22, versions="0-6", flexible="2+"):
    """The id and epoch to produce with."""

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16
    producer_id: int64 = field(default=-1)
    producer_epoch: int16
    ongoing_txn_producer_id: int64 = field("6+", default=-1)
    ongoing_txn_producer_epoch: int16 = field("6+", default=-1)
