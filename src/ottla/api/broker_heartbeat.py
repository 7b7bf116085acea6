"""Keeping a broker alive at the controller."""

from ottla.wire.fields import Message, Uuid, field, int16, int32, int64


class BrokerHeartbeatRequest(Message, key=63, versions="0-2", flexible="0+"):
    """Tell the controller how far a broker is and what it wants."""

    broker_id: int32
    broker_epoch: int64 = field(default=-1)
    current_metadata_offset: int64
    want_fence: bool  # Keep the broker fenced.
    want_shut_down: bool
    offline_log_dirs: list[Uuid] = field("1+", tag=0, default_factory=list)
    cordoned_log_dirs: list[Uuid] | None = field("2+", tag=1, default=None)


class BrokerHeartbeatResponse(Message, key=63, versions="0-2", flexible="0+"):
    """What the controller makes of the broker."""

    throttle_time_ms: int32
    error_code: int16
    is_caught_up: bool = field(default=False)  # Close enough to the end of the metadata log.
    is_fenced: bool = field(default=True)
    should_shut_down: bool  # All its leaderships are moved.
