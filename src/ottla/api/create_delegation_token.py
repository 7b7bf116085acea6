"""Creating a delegation token."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class CreateDelegationTokenRequest(Message, key=38, versions="0-3", flexible="2+"):
    """Create a token that lets others act as its owner."""

    class Renewer(Struct):
        principal_type: str
        principal_name: str

    owner_principal_type: str | None = field("3+", default="")  # Null for whoever asks.
    owner_principal_name: str | None = field("3+", default="")
    renewers: list[Renewer]
    max_lifetime_ms: int64  # -1 for the broker's own.


class CreateDelegationTokenResponse(Message, key=38, versions="0-3", flexible="2+"):
    """The token and its secret."""

    error_code: int16
    principal_type: str
    principal_name: str
    token_requester_principal_type: str = field("3+", default="")
    token_requester_principal_name: str = field("3+", default="")
    issue_timestamp_ms: int64
    expiry_timestamp_ms: int64
    max_timestamp_ms: int64
    token_id: str
    hmac: bytes
    throttle_time_ms: int32
