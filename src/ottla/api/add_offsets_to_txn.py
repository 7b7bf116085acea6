"""Adding a group's offsets to a transaction."""

from ottla.wire.fields import Message, int16, int32, int64


class AddOffsetsToTxnRequest(Message, key=25, versions="0-4", flexible="3+"):
    """Add the offsets partition of a group to a transaction.

    Versions: 3 flexible; 4 TRANSACTION_ABORTABLE.
    """

    transactional_id: str
    producer_id: int64
    producer_epoch: int16
    group_id: str


class AddOffsetsToTxnResponse(Message, key=25, versions="0-4", flexible="3+"):
    """Whether it was added."""

    throttle_time_ms: int32
    error_code: int16
