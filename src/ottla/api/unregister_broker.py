"""Removing a broker's registration."""

from ottla.wire.fields import Message, int16, int32


class UnregisterBrokerRequest(Message, key=64, versions="0", flexible="0+"):
    """Remove a broker that will not come back."""

    broker_id: int32


class UnregisterBrokerResponse(Message, key=64, versions="0", flexible="0+"):
    """Whether it was removed."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
