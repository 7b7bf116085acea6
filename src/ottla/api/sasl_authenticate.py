"""Carrying SASL tokens."""

from ottla.wire.fields import Message, field, int16, int64


class SaslAuthenticateRequest(Message, key=36, versions="0-2", flexible="2+"):
    """Bring a token of the mechanism chosen.

    Versions: 1 the session's lifetime; 2 flexible.
    """

    auth_bytes: bytes


class SaslAuthenticateResponse(Message, key=36, versions="0-2", flexible="2+"):
    """The other side's token, and how long the session lasts."""

    error_code: int16
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: int64 = field("1+", default=0, ignorable=True)
