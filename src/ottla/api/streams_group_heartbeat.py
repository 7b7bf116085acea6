"""Joining, keeping and leaving a streams group."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64, uint16


class KeyValue(Struct):
    key: str
    value: str


class StreamsGroupHeartbeatRequest(Message, key=88, versions="0-1", flexible="0+"):
    """Tell the coordinator a member's tasks and topology; only what changed is said."""

    class Topology(Struct):
        class Subtopology(Struct):
            class Topic(Struct):
                name: str
                partitions: int32
                replication_factor: int16
                topic_configs: list[KeyValue]

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

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[int32]

    class Endpoint(Struct):
        host: str
        port: uint16

    class TaskOffset(Struct):
        subtopology_id: str
        partition: int32
        offset: int64

    group_id: str
    member_id: str
    member_epoch: int32  # 0 joins, -1 leaves, -2 leaves for a while as static member.
    endpoint_information_epoch: int32
    instance_id: str | None = field(default=None)
    rack_id: str | None = field(default=None)
    rebalance_timeout_ms: int32 = field(default=-1)
    topology: Topology | None = field(default=None)  # Sent only on joining.
    active_tasks: list[TaskIds] | None = field(default=None)
    standby_tasks: list[TaskIds] | None = field(default=None)
    warmup_tasks: list[TaskIds] | None = field(default=None)
    process_id: str | None = field(default=None)
    user_endpoint: Endpoint | None = field(default=None)
    client_tags: list[KeyValue] | None = field(default=None)
    task_offsets: list[TaskOffset] | None = field(default=None)
    task_end_offsets: list[TaskOffset] | None = field(default=None)
    shutdown_application: bool = field(default=False)  # Ask every member to stop.


class StreamsGroupHeartbeatResponse(Message, key=88, versions="0-1", flexible="0+"):
    """The tasks that the member should run."""

    class Status(Struct):
        status_code: int8
        status_detail: str

    class TaskIds(Struct):
        subtopology_id: str
        partitions: list[int32]

    class EndpointPartitions(Struct):
        class Endpoint(Struct):
            host: str
            port: uint16

        class TopicPartitions(Struct):
            topic: str
            partitions: list[int32]

        user_endpoint: Endpoint
        active_partitions: list[TopicPartitions]
        standby_partitions: list[TopicPartitions]

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    member_id: str
    member_epoch: int32
    heartbeat_interval_ms: int32
    acceptable_recovery_lag_legacy: int32 = field("0", default=0)
    task_offset_interval_ms: int32
    acceptable_recovery_lag: int64 = field("1+", default=-1, ignorable=True)
    status: list[Status] | None
    active_tasks: list[TaskIds] | None = field(default=None)
    standby_tasks: list[TaskIds] | None = field(default=None)
    warmup_tasks: list[TaskIds] | None = field(default=None)
    topology_description_required: bool = field("1+", default=False)
    endpoint_information_epoch: int32
    partitions_by_user_endpoint: list[EndpointPartitions] | None = field(default=None)
