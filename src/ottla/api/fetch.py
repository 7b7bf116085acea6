"""Reading batches of partitions, by consumers and by followers."""

from ottla.wire.fields import (
    NO_ID,
    Message,
    Records,
    Struct,
    Uuid,
    blank,
    field,
    int8,
    int16,
    int32,
    int64,
)


class FetchRequest(Message, key=1, versions="0-18", flexible="12+"):
    """Read batches from some partitions, waiting until min_bytes or max_wait_ms.

    Versions: 2 may get magic 1; 3 bytes of the whole answer, and the order of partitions counts; 4
    isolation level, magic 2; 5 log start offset; 7 sessions; 9 current leader epoch; 10 zstd; 11
    rack id; 12 flexible, last fetched epoch; 13 topic id; 15 replica state; 17 directory id; 18
    high watermark of the replica.
    """

    class ReplicaState(Struct):
        replica_id: int32 = field(default=-1)
        replica_epoch: int64 = field(default=-1)  # The broker's epoch.

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            current_leader_epoch: int32 = field("9+", default=-1, ignorable=True)
            fetch_offset: int64
            last_fetched_epoch: int32 = field("12+", default=-1)
            # Only followers send it.
            log_start_offset: int64 = field("5+", default=-1, ignorable=True)
            partition_max_bytes: int32
            replica_directory_id: Uuid = field("17+", tag=0, default=NO_ID, ignorable=True)
            # The default says that the follower does not tell.
            high_watermark: int64 = field(
                "18+", tag=1, default=0x7FFF_FFFF_FFFF_FFFF, ignorable=True
            )

        topic: str = field("0-12", default="", ignorable=True)
        topic_id: Uuid = field("13+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    class ForgottenTopic(Struct):
        topic: str = field("7-12", default="", ignorable=True)
        topic_id: Uuid = field("13+", default=NO_ID, ignorable=True)
        partitions: list[int32]

    # Given by replicas of the metadata log only.
    cluster_id: str | None = field("12+", tag=0, default=None, ignorable=True)
    replica_id: int32 = field("0-14", default=-1)  # -1 for a consumer.
    replica_state: ReplicaState = field("15+", tag=1, default=blank(ReplicaState))
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = field("3+", default=0x7FFFFFFF, ignorable=True)
    # 0 everything, 1 only what is committed.
    isolation_level: int8 = field("4+", default=0, ignorable=True)
    session_id: int32 = field("7+", default=0, ignorable=True)
    # 0 opens a session, -1 wants none.
    session_epoch: int32 = field("7+", default=-1, ignorable=True)
    topics: list[Topic]
    # What the session should no longer hold.
    forgotten_topics_data: list[ForgottenTopic] = field("7+", default_factory=list)
    rack_id: str = field("11+", default="", ignorable=True)


class FetchResponse(Message, key=1, versions="0-18", flexible="12+"):
    """Batches of each partition, and how far it may be read.

    Versions: 1 throttle time; 4 last stable offset and aborted transactions; 5 log start offset; 6
    storage error; 7 sessions; 8 answers before throttling; 11 preferred replica; 12 diverging
    epoch; 13 topic id; 14 OFFSET_MOVED_TO_TIERED_STORAGE; 16 endpoints of the leaders.
    """

    class Topic(Struct):
        class Partition(Struct):
            class DivergingEpoch(Struct):
                epoch: int32 = field(default=-1)
                end_offset: int64 = field(default=-1)

            class CurrentLeader(Struct):
                leader_id: int32 = field(default=-1)
                leader_epoch: int32 = field(default=-1)

            class SnapshotId(Struct):
                end_offset: int64 = field(default=-1)
                epoch: int32 = field(default=-1)

            class AbortedTransaction(Struct):
                producer_id: int64
                first_offset: int64

            partition_index: int32
            error_code: int16
            high_watermark: int64
            last_stable_offset: int64 = field("4+", default=-1, ignorable=True)
            log_start_offset: int64 = field("5+", default=-1, ignorable=True)
            # Where to truncate; -1 if the logs agree.
            diverging_epoch: DivergingEpoch = field("12+", tag=0, default=blank(DivergingEpoch))
            current_leader: CurrentLeader = field("12+", tag=1, default=blank(CurrentLeader))
            # What to fetch instead, if the offset is gone.
            snapshot_id: SnapshotId = field("12+", tag=2, default=blank(SnapshotId))
            aborted_transactions: list[AbortedTransaction] | None = field(
                "4+", default_factory=list, ignorable=True
            )
            # Where a consumer should read instead.
            preferred_read_replica: int32 = field("11+", default=-1)
            records: Records | None

        topic: str = field("0-12", default="", ignorable=True)
        topic_id: Uuid = field("13+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    class NodeEndpoint(Struct):
        node_id: int32
        host: str
        port: int32
        rack: str | None = field(default=None)

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16 = field("7+", default=0, ignorable=True)
    session_id: int32 = field("7+", default=0)  # 0 if there is no session.
    responses: list[Topic]
    node_endpoints: list[NodeEndpoint] = field("16+", tag=0, default_factory=list)
