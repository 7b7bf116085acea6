"""Renewing a delegation token."""

from ottla.wire.fields import Message, int16, int32, int64


class RenewDelegationTokenRequest(Message, key=39, versions="0-2", flexible="2+"):
    """Move a token's expiry forward."""

    hmac: bytes
    renew_period_ms: int64


class RenewDelegationTokenResponse(Message, key=39, versions="0-2", flexible="2+"):
    """When the token expires now."""

    error_code: int16
    expiry_timestamp_ms: int64
    throttle_time_ms: int32
