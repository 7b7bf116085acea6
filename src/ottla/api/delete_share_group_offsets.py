"""Deleting where a share group starts."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class DeleteShareGroupOffsetsRequest(Message, key=92, versions="0", flexible="0+"):
    """Delete a share group's offsets for whole topics."""

    class Topic(Struct):
        topic_name: str

    group_id: str
    topics: list[Topic]


class DeleteShareGroupOffsetsResponse(Message, key=92, versions="0", flexible="0+"):
    """Whether each topic's offsets were deleted."""

    class Topic(Struct):
        topic_name: str
        topic_id: Uuid
        error_code: int16
        error_message: str | None = field(default=None)

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    responses: list[Topic]
