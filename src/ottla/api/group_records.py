"""Records of __consumer_offsets that speak of offsets, classic and consumer groups."""

from typing import Final

from ottla.api.coordinator_records import Pairs
from ottla.api.share_group_records import SHARE_GROUP_RECORDS
from ottla.api.streams_group_records import STREAMS_GROUP_RECORDS
from ottla.wire.fields import NO_ID, Message, Struct, Uuid, blank, field, int8, int32, int64


class LegacyOffsetCommitKey(Message, key=0, versions="0"):
    """Whose offset, in the oldest form."""

    group: str
    topic: str
    partition: int32


class LegacyOffsetCommitValue(Message, key=0, versions="0"):
    """How far a group has consumed a partition, in the oldest form."""

    offset: int64
    metadata: str
    commit_timestamp: int64


class OffsetCommitKey(Message, key=1, versions="0"):
    """Whose offset."""

    group: str
    topic: str
    partition: int32


class OffsetCommitValue(Message, key=1, versions="0-4", flexible="4+"):
    """How far a group has consumed a partition.

    Versions: 1 a time to expire; 2 none; 3 leader epoch; 4 flexible, topic id.
    """

    offset: int64
    leader_epoch: int32 = field("3+", default=-1, ignorable=True)
    metadata: str
    commit_timestamp: int64
    # -1 for the broker's own rule.
    expire_timestamp: int64 = field("1", default=-1, ignorable=True)
    topic_id: Uuid = field("4+", tag=0, default=NO_ID, ignorable=True)


class GroupMetadataKey(Message, key=2, versions="0"):
    """Which classic group."""

    group: str


class GroupMetadataValue(Message, key=2, versions="0-4", flexible="4+"):
    """A classic group's generation and its members.

    Versions: 1 rebalance time-out; 2 time of the last change; 3 static members; 4 flexible.
    """

    class Member(Struct):
        member_id: str
        group_instance_id: str | None = field("3+", default=None, ignorable=True)
        client_id: str
        client_host: str
        rebalance_timeout: int32 = field("1+", default=-1, ignorable=True)
        session_timeout: int32
        subscription: bytes
        assignment: bytes

    protocol_type: str  # Empty if nobody ever joined.
    generation: int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: int64 = field("2+", default=-1, ignorable=True)  # -1 if not known.
    members: list[Member]


class ConsumerGroupMetadataKey(Message, key=3, versions="0"):
    """Which consumer group."""

    group_id: str


class ConsumerGroupMetadataValue(Message, key=3, versions="0", flexible="0+"):
    """A consumer group's epoch."""

    epoch: int32
    metadata_hash: int64 = field(tag=0, default=0)


class ConsumerGroupPartitionMetadataKey(Message, key=4, versions="0"):
    """Which consumer group."""

    group_id: str


class ConsumerGroupPartitionMetadataValue(Message, key=4, versions="0", flexible="0+"):
    """The topics a group saw; a hash in its metadata says it now."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            racks: list[str]

        topic_id: Uuid
        topic_name: str
        num_partitions: int32
        partition_metadata: list[Partition]

    topics: list[Topic]


class ConsumerGroupMemberMetadataKey(Message, key=5, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ConsumerGroupMemberMetadataValue(Message, key=5, versions="0", flexible="0+"):
    """What a consumer group's member is and wants."""

    class ClassicMemberMetadata(Struct):
        class SupportedProtocol(Struct):
            name: str
            metadata: bytes

        session_timeout_ms: int32
        supported_protocols: list[SupportedProtocol]

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: int32 = field(default=-1)
    server_assignor: str | None
    # Kafka's default is a blank one, so that a null is written.
    classic_member_metadata: ClassicMemberMetadata | None = field(
        tag=0, default=blank(ClassicMemberMetadata)
    )


class ConsumerGroupTargetAssignmentMetadataKey(Message, key=6, versions="0"):
    """Which consumer group."""

    group_id: str


class ConsumerGroupTargetAssignmentMetadataValue(Message, key=6, versions="0", flexible="0+"):
    """The epoch of a consumer group's target assignment."""

    assignment_epoch: int32
    assignment_timestamp: int64 = field(tag=0, default=0, ignorable=True)


class ConsumerGroupTargetAssignmentMemberKey(Message, key=7, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ConsumerGroupTargetAssignmentMemberValue(Message, key=7, versions="0", flexible="0+"):
    """What a consumer group's member should come to own."""

    class TopicPartitions(Struct):
        topic_id: Uuid
        partitions: list[int32]

    topic_partitions: list[TopicPartitions]


class ConsumerGroupCurrentMemberAssignmentKey(Message, key=8, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class ConsumerGroupCurrentMemberAssignmentValue(Message, key=8, versions="0", flexible="0+"):
    """What a consumer group's member owns now."""

    class TopicPartitions(Struct):
        topic_id: Uuid
        partitions: list[int32]
        assignment_epochs: list[int32] | None = field(tag=0, default_factory=list)

    member_epoch: int32
    previous_member_epoch: int32
    state: int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]


class ConsumerGroupRegularExpressionKey(Message, key=16, versions="0"):
    """Which pattern of which consumer group."""

    group_id: str
    regular_expression: str


class ConsumerGroupRegularExpressionValue(Message, key=16, versions="0", flexible="0+"):
    """The topics that a pattern matched."""

    topics: list[str]
    version: int64
    timestamp: int64


GROUP_RECORDS: Final[Pairs] = {
    0: (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    16: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
    **SHARE_GROUP_RECORDS,
    **STREAMS_GROUP_RECORDS,
}
"""All that __consumer_offsets holds: the classes of key and value, by type."""
