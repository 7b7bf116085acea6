"""Moving replicas between a broker's log directories."""

from ottla.wire.fields import Message, Struct, int16, int32


class AlterReplicaLogDirsRequest(Message, key=34, versions="0-2", flexible="2+"):
    """Move replicas to other directories of the broker asked."""

    class Directory(Struct):
        class Topic(Struct):
            name: str
            partitions: list[int32]

        path: str
        topics: list[Topic]

    dirs: list[Directory]


class AlterReplicaLogDirsResponse(Message, key=34, versions="0-2", flexible="2+"):
    """Whether each move was begun."""

    class Topic(Struct):
        class Partition(Struct):
            partition_index: int32
            error_code: int16

        topic_name: str
        partitions: list[Partition]

    throttle_time_ms: int32
    results: list[Topic]
