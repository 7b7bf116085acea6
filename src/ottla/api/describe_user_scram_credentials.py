"""Showing which SCRAM credentials users have."""

from ottla.wire.fields import Message, Struct, int8, int16, int32


class DescribeUserScramCredentialsRequest(Message, key=50, versions="0", flexible="0+"):
    """Ask for the credentials of some users, without their secrets."""

    class User(Struct):
        name: str

    users: list[User] | None  # Null or empty for all.


class DescribeUserScramCredentialsResponse(Message, key=50, versions="0", flexible="0+"):
    """Each user's mechanisms and iterations."""

    class User(Struct):
        class Credential(Struct):
            mechanism: int8
            iterations: int32

        user: str
        error_code: int16
        error_message: str | None
        credential_infos: list[Credential]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
    results: list[User]
