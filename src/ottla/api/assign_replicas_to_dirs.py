"""Telling the controller which directory holds a replica."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64


class AssignReplicasToDirsRequest(Message, key=73, versions="0", flexible="0+"):
    """Tell the controller in which directories of a broker replicas lie."""

    class Directory(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32

            topic_id: Uuid
            partitions: list[Partition]

        id: Uuid
        topics: list[Topic]

    broker_id: int32
    broker_epoch: int64 = field(default=-1)
    directories: list[Directory]


class AssignReplicasToDirsResponse(Message, key=73, versions="0", flexible="0+"):
    """Whether each replica's place was recorded."""

    class Directory(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32
                error_code: int16

            topic_id: Uuid
            partitions: list[Partition]

        id: Uuid
        topics: list[Topic]

    throttle_time_ms: int32
    error_code: int16
    directories: list[Directory]
