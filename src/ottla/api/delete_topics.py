"""Deleting topics."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32


class DeleteTopicsRequest(Message, key=20, versions="0-6", flexible="4+"):
    """Delete topics by name or by id.

    Versions: 1 throttle time; 3 TOPIC_DELETION_DISABLED; 4 flexible; 5 error text, quota error; 6
    by topic id.
    """

    class Topic(Struct):
        name: str | None = field(default=None)
        topic_id: Uuid

    topics: list[Topic] = field("6+", default_factory=list)
    # Used below version 6.
    topic_names: list[str] = field("0-5", default_factory=list, ignorable=True)
    timeout_ms: int32


class DeleteTopicsResponse(Message, key=20, versions="0-6", flexible="4+"):
    """Whether each topic was deleted."""

    class Topic(Struct):
        name: str | None = field(nullable="6+")
        topic_id: Uuid = field("6+", default=NO_ID, ignorable=True)
        error_code: int16
        error_message: str | None = field("5+", default=None, ignorable=True)

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    responses: list[Topic]
