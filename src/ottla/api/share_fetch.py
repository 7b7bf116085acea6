"""Acquiring records for a share group's member."""

from ottla.wire.fields import Message, Records, Struct, Uuid, field, int8, int16, int32, int64


class ShareFetchRequest(Message, key=78, versions="1-2", flexible="0+"):
    """Acquire records of some partitions, and acknowledge earlier ones on the way."""

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

    class ForgottenTopic(Struct):
        topic_id: Uuid
        partitions: list[int32]

    group_id: str | None = field(default=None)
    member_id: str | None
    share_session_epoch: int32  # 0 opens a session, -1 closes it.
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = field(default=0x7FFFFFFF)
    max_records: int32
    batch_size: int32
    share_acquire_mode: int8 = field("2+", default=0, ignorable=True)
    is_renew_ack: bool = field("2+", default=False)
    topics: list[Topic]
    forgotten_topics_data: list[ForgottenTopic]


class ShareFetchResponse(Message, key=78, versions="1-2", flexible="0+"):
    """Batches, and which of their records are acquired."""

    class Topic(Struct):
        class Partition(Struct):
            class CurrentLeader(Struct):
                leader_id: int32
                leader_epoch: int32

            class AcquiredBatch(Struct):
                first_offset: int64
                last_offset: int64
                delivery_count: int16

            partition_index: int32
            error_code: int16
            error_message: str | None = field(default=None)
            acknowledge_error_code: int16
            acknowledge_error_message: str | None = field(default=None)
            current_leader: CurrentLeader
            records: Records
            acquired_records: list[AcquiredBatch]  # Only these records are the member's.

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
    acquisition_lock_timeout_ms: int32
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint]
