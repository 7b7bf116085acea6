"""Changing users' SCRAM credentials."""

from ottla.wire.fields import Message, Struct, int8, int16, int32


class AlterUserScramCredentialsRequest(Message, key=51, versions="0", flexible="0+"):
    """Delete, create or replace credentials of users."""

    class Deletion(Struct):
        name: str
        mechanism: int8

    class Upsertion(Struct):
        name: str
        mechanism: int8
        iterations: int32
        salt: bytes
        salted_password: bytes

    deletions: list[Deletion]
    upsertions: list[Upsertion]


class AlterUserScramCredentialsResponse(Message, key=51, versions="0", flexible="0+"):
    """Whether each user was changed."""

    class User(Struct):
        user: str
        error_code: int16
        error_message: str | None

    throttle_time_ms: int32
    results: list[User]
