"""Records of __consumer_offsets that speak of share groups."""

from typing import Final

from ottla.api.coordinator_records import Pairs
from ottla.wire.fields import Message, Struct, Uuid, field, int8, int32, int64


class ShareGroupMemberMetadataKey(Message, key=10, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ShareGroupMemberMetadataValue(Message, key=10, versions="0", flexible="0+"):
    """What a share group's member is and wants."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]


class ShareGroupMetadataKey(Message, key=11, versions="0"):
    """Which share group."""

    group_id: str


class ShareGroupMetadataValue(Message, key=11, versions="0", flexible="0+"):
    """A share group's epoch."""

    epoch: int32
    metadata_hash: int64


class ShareGroupTargetAssignmentMetadataKey(Message, key=12, versions="0"):
    """Which share group."""

    group_id: str


class ShareGroupTargetAssignmentMetadataValue(Message, key=12, versions="0", flexible="0+"):
    """The epoch of a share group's target assignment."""

    assignment_epoch: int32
    assignment_timestamp: int64 = field(tag=0, default=0, ignorable=True)


class ShareGroupTargetAssignmentMemberKey(Message, key=13, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ShareGroupTargetAssignmentMemberValue(Message, key=13, versions="0", flexible="0+"):
    """What a share group's member should consume."""

    class TopicPartitions(Struct):
        topic_id: Uuid
        partitions: list[int32]

    topic_partitions: list[TopicPartitions]


class ShareGroupCurrentMemberAssignmentKey(Message, key=14, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ShareGroupCurrentMemberAssignmentValue(Message, key=14, versions="0", flexible="0+"):
    """What a share group's member consumes now."""

    class TopicPartitions(Struct):
        topic_id: Uuid
        partitions: list[int32]

    member_epoch: int32
    previous_member_epoch: int32
    state: int8
    assigned_partitions: list[TopicPartitions]


class ShareGroupStatePartitionMetadataKey(Message, key=15, versions="0"):
    """Which share group."""

    group_id: str


class ShareGroupStatePartitionMetadataValue(Message, key=15, versions="0", flexible="0+"):
    """Which partitions of a share group have stored state."""

    class TopicPartitions(Struct):
        topic_id: Uuid
        topic_name: str
        partitions: list[int32]

    class Topic(Struct):
        topic_id: Uuid
        topic_name: str

    initializing_topics: list[TopicPartitions]
    initialized_topics: list[TopicPartitions]
    deleting_topics: list[Topic]


SHARE_GROUP_RECORDS: Final[Pairs] = {
    10: (ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue),
    11: (ShareGroupMetadataKey, ShareGroupMetadataValue),
    12: (ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue),
    13: (ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue),
    14: (ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue),
    15: (ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue),
}
