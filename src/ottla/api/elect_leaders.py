"""Electing leaders by hand."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class ElectLeadersRequest(Message, key=43, versions="0-2", flexible="2+"):
    """Make the preferred replica, or any at all, the leader of some partitions."""

    class TopicPartitions(Struct):
        topic: str
        partitions: list[int32]

    election_type: int8 = field("1+", default=0)  # 0 preferred, 1 unclean.
    topic_partitions: list[TopicPartitions] | None  # Null for all.
    timeout_ms: int32 = field(default=60000)


class ElectLeadersResponse(Message, key=43, versions="0-2", flexible="2+"):
    """Whether each election was held."""

    class Topic(Struct):
        class Partition(Struct):
            partition_id: int32
            error_code: int16
            error_message: str | None

        topic: str
        partition_result: list[Partition]

    throttle_time_ms: int32
    error_code: int16 = field("1+", default=0)
    replica_election_results: list[Topic]
