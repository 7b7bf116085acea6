"""What consumers of a classic group tell each other in the group's opaque bytes.

Both have their version in front; a newer one adds fields at the end, so that it may be read as the
newest that is known.
"""

from ottla.wire.fields import Message, Struct, field, int32


class ConsumerProtocolSubscription(Message, versions="0-3"):
    """What a consumer wants, as metadata of a classic member.

    Versions: 1 owned partitions; 2 generation; 3 rack.
    """

    class TopicPartitions(Struct):
        topic: str
        partitions: list[int32]

    topics: list[str]
    user_data: bytes | None = field(default=None)
    owned_partitions: list[TopicPartitions] = field("1+", default_factory=list, ignorable=True)
    # The generation in which the partitions were owned.
    generation_id: int32 = field("2+", default=-1, ignorable=True)
    rack_id: str | None = field("3+", default=None, ignorable=True)


class ConsumerProtocolAssignment(Message, versions="0-3"):
    """What a consumer gets, as assignment of a classic member."""

    class TopicPartitions(Struct):
        topic: str
        partitions: list[int32]

    assigned_partitions: list[TopicPartitions]
    user_data: bytes | None = field(default=None)
