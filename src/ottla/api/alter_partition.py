"""Changing a partition's in-sync replicas, by its leader."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int8, int16, int32, int64


class AlterPartitionRequest(Message, key=56, versions="0-3", flexible="0+"):
    """Ask the controller to record new in-sync replicas."""

    class Topic(Struct):
        class Partition(Struct):
            class BrokerState(Struct):
                broker_id: int32
                broker_epoch: int64 = field(default=-1)

            partition_index: int32
            leader_epoch: int32
            new_isr: list[int32] = field("0-2", default_factory=list)  # Used below version 3.
            new_isr_with_epochs: list[BrokerState] = field("3+", default_factory=list)
            # 1 while recovering from an unclean election.
            leader_recovery_state: int8 = field("1+", default=0)
            partition_epoch: int32  # The epoch that the change builds on.

        topic_name: str = field("0-1", default="", ignorable=True)
        topic_id: Uuid = field("2+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    broker_id: int32
    broker_epoch: int64 = field(default=-1)
    topics: list[Topic]


class AlterPartitionResponse(Message, key=56, versions="0-3", flexible="0+"):
    """The state of each partition after the change."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16
            leader_id: int32
            leader_epoch: int32
            isr: list[int32]
            leader_recovery_state: int8 = field("1+", default=0, ignorable=True)
            partition_epoch: int32

        topic_name: str = field("0-1", default="", ignorable=True)
        topic_id: Uuid = field("2+", default=NO_ID, ignorable=True)
        partitions: list[Partition]

    throttle_time_ms: int32
    error_code: int16
    topics: list[Topic]
