"""Storing a readable description of a streams topology."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class Node(Struct):
    name: str
    node_type: int8  # 1 source, 2 processor, 3 sink.
    source_topics: list[str]
    sink_topic: str | None = field(default=None)
    stores: list[str]
    successors: list[str]


class StreamsGroupTopologyDescriptionUpdateRequest(Message, key=93, versions="0", flexible="0+"):
    """Bring the description of a group's topology."""

    class TopologyDescription(Struct):
        class Subtopology(Struct):
            subtopology_id: str
            nodes: list[Node]

        class GlobalStore(Struct):
            source: Node
            processor: Node

        subtopologies: list[Subtopology]
        global_stores: list[GlobalStore]

    group_id: str
    member_id: str
    topology_epoch: int32
    topology_description: TopologyDescription


class StreamsGroupTopologyDescriptionUpdateResponse(Message, key=93, versions="0", flexible="0+"):
    """Whether it was stored."""

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
