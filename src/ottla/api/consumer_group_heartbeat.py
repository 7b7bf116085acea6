"""Joining, keeping and leaving a consumer group."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class ConsumerGroupHeartbeatRequest(Message, key=68, versions="0-1", flexible="0+"):
    """Tell the coordinator what a member owns and wants; only what changed is said.

    Versions: 1 a pattern of topics that the broker matches, member ids made by members.
    """

    class TopicPartitions(Struct):
        topic_id: Uuid
        partitions: list[int32]

    group_id: str
    member_id: str
    member_epoch: int32  # 0 joins, -1 leaves, -2 leaves for a while as static member.
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    rebalance_timeout_ms: int32 = field(default=-1)  # -1 if unchanged.
    subscribed_topic_names: list[str] | None = field(default=None)  # Null if unchanged.
    subscribed_topic_regex: str | None = field("1+", default=None)
    server_assignor: str | None = field(default=None)
    # What the member owns; null if unchanged.
    topic_partitions: list[TopicPartitions] | None = field(default=None)


class ConsumerGroupHeartbeatResponse(Message, key=68, versions="0-1", flexible="0+"):
    """What the member should consume."""

    class Assignment(Struct):
        class TopicPartitions(Struct):
            topic_id: Uuid
            partitions: list[int32]

        topic_partitions: list[TopicPartitions]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    member_id: str | None = field(default=None)
    member_epoch: int32
    heartbeat_interval_ms: int32
    assignment: Assignment | None = field(default=None)  # Null if unchanged.
