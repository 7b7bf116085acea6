"""Joining, keeping and leaving a share group."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32


class ShareGroupHeartbeatRequest(Message, key=76, versions="1", flexible="0+"):
    """Tell the coordinator what a member wants; only what changed is said."""

    group_id: str
    member_id: str
    member_epoch: int32  # 0 joins, -1 leaves.
    rack_id: str | None = field(default=None)
    subscribed_topic_names: list[str] | None = field(default=None)  # Null if unchanged.


class ShareGroupHeartbeatResponse(Message, key=76, versions="1", flexible="0+"):
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
    assignment: Assignment | None = field(default=None)
