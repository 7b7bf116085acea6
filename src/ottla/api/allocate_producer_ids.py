"""Reserving producer ids, by a broker."""

from ottla.wire.fields import Message, field, int16, int32, int64


class AllocateProducerIdsRequest(Message, key=67, versions="0", flexible="0+"):
    """Ask the controller for a block of producer ids."""

    broker_id: int32
    broker_epoch: int64 = field(default=-1)


class AllocateProducerIdsResponse(Message, key=67, versions="0", flexible="0+"):
    """The first id of the block and its length."""

    throttle_time_ms: int32
    error_code: int16
    producer_id_start: int64
    producer_id_len: int32
