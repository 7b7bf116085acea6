"""Acknowledging records of a share group."""

from ottla.wire.fields import Message, Struct, Uuid, field, int8, int16, int32, int64


class ShareAcknowledgeRequest(Message, key=79, versions="1-2", flexible="0+"):
    """Say what became of acquired records."""

    class Topic(Struct):
        class Partition(Struct):
            class AcknowledgementBatch(Struct):
                first_offset: int64
                last_offset: int64
                # One for all offsets, or one each: 0 gap, 1 accept, 2 release, 3 reject, 4 renew.
                acknowledge_types: list[int8]

            partition_index: int32
            acknowledgement_batches: list[AcknowledgementBatch]

        topic_id: Uuid
        partitions: list[Partition]

    group_id: str | None = field(default=None)
    member_id: str | None
    share_session_epoch: int32  # -1 closes the session.
    is_renew_ack: bool = field("2+", default=False)
    topics: list[Topic]


class ShareAcknowledgeResponse(Message, key=79, versions="1-2", flexible="0+"):
    """Whether each partition took the acknowledgements."""

    class Topic(Struct):
        class Partition(Struct):
            class CurrentLeader(Struct):
                leader_id: int32
                leader_epoch: int32

            partition_index: int32
            error_code: int16
            error_message: str | None = field(default=None)
            current_leader: CurrentLeader

        topic_id: Uuid
        partitions: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: int32
        rack: str | None = field(default=None)

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    acquisition_lock_timeout_ms: int32 = field("2+", default=0, ignorable=True)
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint]
