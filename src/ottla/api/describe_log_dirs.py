"""Showing a broker's log directories."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class DescribeLogDirsRequest(Message, key=35, versions="0-5", flexible="2+"):
    """Ask for the directories of a broker and the partitions in them."""

    class Topic(Struct):
        topic: str
        partitions: list[int32]

    topics: list[Topic] | None


class DescribeLogDirsResponse(Message, key=35, versions="0-5", flexible="2+"):
    """Each directory's space and partitions."""

    class Directory(Struct):
        class Topic(Struct):
            class Partition(Struct):
                partition_index: int32
                partition_size: int64
                offset_lag: int64
                is_future_key: bool  # A copy that will replace the replica.

            name: str
            partitions: list[Partition]

        error_code: int16
        log_dir: str
        topics: list[Topic]
        total_bytes: int64 = field("4+", default=-1, ignorable=True)  # -1 if not known.
        usable_bytes: int64 = field("4+", default=-1, ignorable=True)
        is_cordoned: bool = field("5+", default=False, ignorable=True)

    throttle_time_ms: int32
    error_code: int16 = field("3+", default=0, ignorable=True)
    results: list[Directory]
