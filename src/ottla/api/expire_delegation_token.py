"""Letting a delegation token expire."""

from ottla.wire.fields import Message, int16, int32, int64


class ExpireDelegationTokenRequest(Message, key=40, versions="0-2", flexible="2+"):
    """Change when a token expires; a negative period ends it at once."""

    hmac: bytes
    expiry_time_period_ms: int64  # From now on; negative ends the token.


class ExpireDelegationTokenResponse(Message, key=40, versions="0-2", flexible="2+"):
    """When the token expires now."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32
