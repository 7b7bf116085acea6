"""Storing how far a group has consumed, as part of a transaction."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int16, int32, int64


class TxnOffsetCommitRequest(Message, key=28, versions="0-6", flexible="3+"):
    """Store offsets that become valid when the transaction commits.

    Versions: 2 leader epoch; 3 member and generation, flexible; 4 TRANSACTION_ABORTABLE; 5 the
    broker itself adds the partition to the transaction; 6 topic id instead of name.
    """

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            committed_offset: int64
            committed_leader_epoch: int32 = field("2+", default=-1, ignorable=True)
            committed_metadata: str | None

        name: str = field("0-5", default="", ignorable=True)
        topic_id: Uuid = field("6+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    transactional_id: str
    group_id: str
    producer_id: int64
    producer_epoch: int16
    generation_id_or_member_epoch: int32 = field("3+", default=-1)
    member_id: str = field("3+", default="")
    group_instance_id: str | None = field("3+", default=None)
    topics: list[Topic]


class TxnOffsetCommitResponse(Message, key=28, versions="0-6", flexible="3+"):
    """Whether each offset was stored."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16

        name: str = field("0-5", default="", ignorable=True)
        topic_id: Uuid = field("6+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    throttle_time_ms: int32
    topics: list[Topic]
