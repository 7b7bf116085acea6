"""Adding partitions to topics."""

from ottla.wire.fields import Message, Struct, field, int16, int32


class CreatePartitionsRequest(Message, key=37, versions="0-3", flexible="2+"):
    """Raise the number of partitions of some topics."""

    class Topic(Struct):
        class Assignment(Struct):
            broker_ids: list[int32]

        name: str
        count: int32  # The number wanted in all.
        # One for each new partition; null to let the broker choose.
        assignments: list[Assignment] | None

    topics: list[Topic]
    timeout_ms: int32
    validate_only: bool


class CreatePartitionsResponse(Message, key=37, versions="0-3", flexible="2+"):
    """Whether each topic was changed."""

    class Topic(Struct):
        name: str
        error_code: int16
        error_message: str | None = field(default=None)

    throttle_time_ms: int32
    results: list[Topic]
