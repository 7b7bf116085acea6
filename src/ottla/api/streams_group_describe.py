"""Showing streams groups."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32, int64, uint16


class StreamsGroupDescribeRequest(Message, key=89, versions="0-1", flexible="0+"):
    """Ask for the state, topology and members of some streams groups."""

    group_ids: list[str]
    include_authorized_operations: bool
    include_topology_description: bool = field("1+", default=False)


class KeyValue(Struct):
    key: str
    value: str


class Node(Struct):
    name: str
    node_type: int8  # 1 source, 2 processor, 3 sink.
    source_topics: list[str]
    sink_topic: str | None = field(default=None)
    stores: list[str]
    successors: list[str]


class StreamsGroupDescribeResponse(Message, key=89, versions="0-1", flexible="0+"):
    """Each group's state, topology, members and tasks."""

    class Group(Struct):
        class Topology(Struct):
            class Subtopology(Struct):
                class Topic(Struct):
                    name: str
                    partitions: int32
                    replication_factor: int16
                    topic_configs: list[KeyValue]

                subtopology_id: str
                source_topics: list[str]
                repartition_sink_topics: list[str]
                state_changelog_topics: list[Topic]
                repartition_source_topics: list[Topic]

            epoch: int32
            subtopologies: list[Subtopology] | None = field(default=None)

        class Member(Struct):
            class Endpoint(Struct):
                host: str
                port: uint16

            class TaskOffset(Struct):
                subtopology_id: str
                partition: int32
                offset: int64

            class Assignment(Struct):
                class TaskIds(Struct):
                    subtopology_id: str
                    partitions: list[int32]

                active_tasks: list[TaskIds]
                standby_tasks: list[TaskIds]
                warmup_tasks: list[TaskIds]

            member_id: str
            member_epoch: int32
            instance_id: str | None = field(default=None)
            rack_id: str | None = field(default=None)
            client_id: str
            client_host: str
            topology_epoch: int32
            process_id: str
            user_endpoint: Endpoint | None = field(default=None)
            client_tags: list[KeyValue]
            task_offsets: list[TaskOffset]
            task_end_offsets: list[TaskOffset]
            assignment: Assignment
            target_assignment: Assignment
            is_classic: bool

        class TopologyDescription(Struct):
            class Subtopology(Struct):
                subtopology_id: str
                nodes: list[Node]

            class GlobalStore(Struct):
                source: Node
                processor: Node

            subtopologies: list[Subtopology]
            global_stores: list[GlobalStore]

        error_code: int16
        error_message: str | None = field(default=None)
        group_id: str
        group_state: str
        group_epoch: int32
        assignment_epoch: int32
        topology: Topology | None = field(default=None)
        members: list[Member]
        authorized_operations: int32 = field(default=-0x8000_0000)
        topology_description: TopologyDescription | None = field("1+", default=None)
        topology_description_status: int8 = field("1+", default=0)
        assignor_name: str | None = field("1+", default=None, ignorable=True)

    throttle_time_ms: int32
    groups: list[Group]
