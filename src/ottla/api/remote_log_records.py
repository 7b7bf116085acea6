"""Records of __remote_log_metadata: which segments are in the remote tier."""

from typing import Final

from ottla.wire.fields import Message, Struct, Uuid, field, int8, int32, int64


class RemoteLogSegmentMetadataRecord(Message, key=0, versions="0", flexible="0+"):
    """A segment is on its way to the remote tier."""

    class RemoteLogSegmentId(Struct):
        class TopicIdPartition(Struct):
            name: str
            id: Uuid
            partition: int32

        topic_id_partition: TopicIdPartition
        id: Uuid

    class SegmentLeaderEpoch(Struct):
        leader_epoch: int32
        offset: int64

    remote_log_segment_id: RemoteLogSegmentId
    start_offset: int64
    end_offset: int64
    broker_id: int32
    max_timestamp_ms: int64  # -1 if the segment has none.
    event_timestamp_ms: int64
    segment_leader_epochs: list[SegmentLeaderEpoch]
    segment_size_in_bytes: int32
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: int8  # 0 copy started, 1 copied, 2 delete started, 3 deleted.
    txn_index_empty: bool = field(tag=0, default=False)


class RemoteLogSegmentMetadataUpdateRecord(Message, key=1, versions="0", flexible="0+"):
    """A remote segment changed its state."""

    class RemoteLogSegmentId(Struct):
        class TopicIdPartition(Struct):
            name: str
            id: Uuid
            partition: int32

        topic_id_partition: TopicIdPartition
        id: Uuid

    remote_log_segment_id: RemoteLogSegmentId
    broker_id: int32
    event_timestamp_ms: int64
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: int8  # 0 copy started, 1 copied, 2 delete started, 3 deleted.


class RemotePartitionDeleteMetadataRecord(Message, key=2, versions="0", flexible="0+"):
    """A partition's remote segments are being deleted."""

    class TopicIdPartition(Struct):
        name: str
        id: Uuid
        partition: int32

    topic_id_partition: TopicIdPartition
    broker_id: int32
    event_timestamp_ms: int64
    remote_partition_delete_state: int8  # 0 marked, 1 started, 2 finished.


class RemoteLogSegmentMetadataSnapshotRecord(Message, key=3, versions="0", flexible="0+"):
    """All of a remote segment's metadata, as a snapshot holds it."""

    class SegmentLeaderEpoch(Struct):
        leader_epoch: int32
        offset: int64

    segment_id: Uuid
    start_offset: int64
    end_offset: int64
    broker_id: int32
    max_timestamp_ms: int64
    event_timestamp_ms: int64
    segment_leader_epochs: list[SegmentLeaderEpoch]
    segment_size_in_bytes: int32
    custom_metadata: bytes | None = field(default=None)
    remote_log_segment_state: int8  # 0 copy started, 1 copied, 2 delete started, 3 deleted.
    txn_index_empty: bool = field(tag=0, default=False)


REMOTE_LOG_RECORDS: Final[dict[int, type[Message]]] = {
    0: RemoteLogSegmentMetadataRecord,
    1: RemoteLogSegmentMetadataUpdateRecord,
    2: RemotePartitionDeleteMetadataRecord,
    3: RemoteLogSegmentMetadataSnapshotRecord,
}
"""The classes of the records, by id."""
