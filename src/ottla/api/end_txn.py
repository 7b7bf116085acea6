"""Ending a transaction."""

from ottla.wire.fields import Message, field, int16, int32, int64


class EndTxnRequest(Message, key=26, versions="0-5", flexible="3+"):
    """Commit or abort a transaction.

    Versions: 3 flexible; 4 TRANSACTION_ABORTABLE; 5 the answer has the next producer id and epoch.
    """

    transactional_id: str
    producer_id: int64
    producer_epoch: int16
    committed: bool  # False aborts.


class EndTxnResponse(Message, key=26, versions="0-5", flexible="3+"):
    """Whether the end was decided, and from version 5 the next id and epoch."""

    throttle_time_ms: int32
    error_code: int16
    producer_id: int64 = field("5+", default=-1, ignorable=True)
    producer_epoch: int16 = field("5+", default=-1, ignorable=True)
