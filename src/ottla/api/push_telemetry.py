"""Pushing a client's metrics."""

from ottla.wire.fields import Message, Uuid, int8, int16, int32


class PushTelemetryRequest(Message, key=72, versions="0", flexible="0+"):
    """Push metrics in OpenTelemetry's form."""

    client_instance_id: Uuid
    subscription_id: int32
    terminating: bool  # The last push of this client.
    compression_type: int8
    metrics: bytes


class PushTelemetryResponse(Message, key=72, versions="0", flexible="0+"):
    """Whether they were taken."""

    throttle_time_ms: int32
    error_code: int16
