"""Removing a controller's registration."""

from ottla.wire.fields import Message, int16, int32


class UnregisterControllerRequest(Message, key=94, versions="0", flexible="0+"):
    """Remove a controller that will not come back."""

    controller_id: int32


class UnregisterControllerResponse(Message, key=94, versions="0", flexible="0+"):
    """Whether it was removed."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
