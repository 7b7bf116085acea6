"""Copying a snapshot of the metadata log."""

from ottla.wire.fields import (
    NO_ID,
    Message,
    Records,
    Struct,
    Uuid,
    blank,
    field,
    int16,
    int32,
    int64,
    uint16,
)


class FetchSnapshotRequest(Message, key=59, versions="0-1", flexible="0+"):
    """Read a piece of a snapshot."""

    class Topic(Struct):
        class Partition(Struct):
            class SnapshotId(Struct):
                end_offset: int64
                epoch: int32

            partition: int32
            current_leader_epoch: int32
            snapshot_id: SnapshotId
            position: int64
            replica_directory_id: Uuid = field("1+", tag=0, default=NO_ID, ignorable=True)

        name: str
        partitions: list[Partition]

    cluster_id: str | None = field(tag=0, default=None)
    replica_id: int32 = field(default=-1)
    max_bytes: int32 = field(default=0x7FFFFFFF)
    topics: list[Topic]


class FetchSnapshotResponse(Message, key=59, versions="0-1", flexible="0+"):
    """The piece, and how long the snapshot is."""

    class Topic(Struct):
        class Partition(Struct):
            class SnapshotId(Struct):
                end_offset: int64
                epoch: int32

            class CurrentLeader(Struct):
                leader_id: int32
                leader_epoch: int32

            index: int32
            error_code: int16
            snapshot_id: SnapshotId
            current_leader: CurrentLeader = field(tag=0, default=blank(CurrentLeader))
            size: int64  # Of the whole snapshot.
            position: int64  # Where in the snapshot the bytes begin.
            unaligned_records: Records

        name: str
        partitions: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: uint16

    throttle_time_ms: int32 = field(ignorable=True)
    error_code: int16
    topics: list[Topic]
    node_endpoints: list[NodeEndpoint] = field("1+", tag=0, default_factory=list)
