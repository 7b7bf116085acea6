"""Showing delegation tokens."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class DescribeDelegationTokenRequest(Message, key=41, versions="0-3", flexible="2+"):
    """Ask for the tokens of some owners."""

    class Owner(Struct):
        principal_type: str
        principal_name: str

    owners: list[Owner] | None  # Null for all.


class DescribeDelegationTokenResponse(Message, key=41, versions="0-3", flexible="2+"):
    """The tokens found."""

    class Token(Struct):
        class Renewer(Struct):
            principal_type: str
            principal_name: str

        principal_type: str
        principal_name: str
        token_requester_principal_type: str = field("3+", default="")
        token_requester_principal_name: str = field("3+", default="")
        issue_timestamp: int64
        expiry_timestamp: int64
        max_timestamp: int64
        token_id: str
        hmac: bytes
        renewers: list[Renewer]

    error_code: int16
    tokens: list[Token]
    throttle_time_ms: int32
