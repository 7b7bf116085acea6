"""Learning which metrics a client should push."""

from ottla.wire.fields import Message, Uuid, int8, int16, int32


class GetTelemetrySubscriptionsRequest(Message, key=71, versions="0", flexible="0+"):
    """Ask which metrics to push, and how often."""

    client_instance_id: Uuid  # All zero at the first time.


class GetTelemetrySubscriptionsResponse(Message, key=71, versions="0", flexible="0+"):
    """The metrics wanted and how to send them."""

    throttle_time_ms: int32
    error_code: int16
    client_instance_id: Uuid
    subscription_id: int32
    accepted_compression_types: list[int8]
    push_interval_ms: int32
    telemetry_max_bytes: int32
    delta_temporality: bool  # Counters as change since the last push.
    requested_metrics: list[str]  # Prefixes of names; one empty name for all.
