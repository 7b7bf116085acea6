"""Records of __consumer_offsets that speak of streams groups."""

from typing import Final

from ottla.api.coordinator_records import Pairs
from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64, uint16


class StreamsGroupMetadataKey(Message, key=17, versions="0"):
    """Which streams group."""

    group_id: str


class StreamsGroupMetadataValue(Message, key=17, versions="0", flexible="0+"):
    """A streams group's epoch, and which topology it is of."""

    class LastAssignmentConfig(Struct):
        key: str
        value: str

    epoch: int32
    metadata_hash: int64
    validated_topology_epoch: int32 = field(tag=0, default=-1)
    last_assignment_configs: list[LastAssignmentConfig] | None = field(tag=1, default_factory=list)
    stored_description_topology_epoch: int32 = field(tag=2, default=-1)
    failed_description_topology_epoch: int32 = field(tag=3, default=-1)


class StreamsGroupMemberMetadataKey(Message, key=19, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class StreamsGroupMemberMetadataValue(Message, key=19, versions="0", flexible="0+"):
    """What a streams group's member is."""

    class Endpoint(Struct):
        host: str
        port: uint16

    class KeyValue(Struct):
        key: str
        value: str

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int32 = field(default=-1)
    topology_epoch: int32
    process_id: str
    user_endpoint: Endpoint | None = field(default=None)
    client_tags: list[KeyValue]


class StreamsGroupTargetAssignmentMetadataKey(Message, key=20, versions="0"):
    """Which streams group."""

    group_id: str


class StreamsGroupTargetAssignmentMetadataValue(Message, key=20, versions="0", flexible="0+"):
    """The epoch of a streams group's target assignment."""

    assignment_epoch: int32
    assignment_timestamp: int64 = field(tag=0, default=0, ignorable=True)


class StreamsGroupTargetAssignmentMemberKey(Message, key=21, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class StreamsGroupTargetAssignmentMemberValue(Message, key=21, versions="0", flexible="0+"):
    """The tasks that a streams group's member should come to run."""

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[int32]

    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]


class StreamsGroupCurrentMemberAssignmentKey(Message, key=22, versions="0"):
    """Which member."""

    group_id: str
    member_id: str


class StreamsGroupCurrentMemberAssignmentValue(Message, key=22, versions="0", flexible="0+"):
    """The tasks that a streams group's member runs now."""

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[int32]
        assignment_epochs: list[int32] | None = field(tag=0, default_factory=list)

    member_epoch: int32
    previous_member_epoch: int32
    state: int8
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]
    active_tasks_pending_revocation: list[TaskIds]
    standby_tasks_pending_revocation: list[TaskIds]
    warmup_tasks_pending_revocation: list[TaskIds]


class StreamsGroupTopologyKey(Message, key=23, versions="0"):
    """Which streams group."""

    group_id: str


class StreamsGroupTopologyValue(Message, key=23, versions="0", flexible="0+"):
    """The topics that a streams application reads, writes and keeps."""

    class Subtopology(Struct):
        class Topic(Struct):
            class TopicConfig(Struct):
                key: str
                value: str

            name: str
            partitions: int32
            replication_factor: int16
            topic_configs: list[TopicConfig]

        class CopartitionGroup(Struct):
            source_topics: list[int16]
            source_topic_regex: list[int16]
            repartition_source_topics: list[int16]

        subtopology_id: str
        source_topics: list[str]
        source_topic_regex: list[str]
        state_changelog_topics: list[Topic]
        repartition_sink_topics: list[str]
        repartition_source_topics: list[Topic]
        copartition_groups: list[CopartitionGroup]

    epoch: int32
    subtopologies: list[Subtopology]


STREAMS_GROUP_RECORDS: Final[Pairs] = {
    17: (StreamsGroupMetadataKey, StreamsGroupMetadataValue),
    19: (StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue),
    20: (StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (StreamsGroupTopologyKey, StreamsGroupTopologyValue),
}
