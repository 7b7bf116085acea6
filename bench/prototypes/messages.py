"""A Fetch request for the benches of the codec, with the fields of versions 4 to 17."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int8, int32, int64


class FetchRequest(Message, key=1, versions="4-17", flexible="12+"):
    """Read batches from some partitions."""

    class Topic(Struct):
        class Partition(Struct):
            partition: int32
            current_leader_epoch: int32 = field("9+", default=-1)
            fetch_offset: int64
            last_fetched_epoch: int32 = field("12+", default=-1)
            log_start_offset: int64 = field("5+", default=-1)
            partition_max_bytes: int32

        topic: str = field("0-12", default="")
        topic_id: Uuid = field("13+", default=NO_ID)
        partitions: list[Partition]

    class ForgottenTopic(Struct):
        topic: str = field("7-12", default="")
        topic_id: Uuid = field("13+", default=NO_ID)
        partitions: list[int32]

    cluster_id: str | None = field("12+", tag=0, default=None, ignorable=True)
    replica_id: int32 = field("0-14", default=-1)
    max_wait_ms: int32
    min_bytes: int32
    max_bytes: int32 = field(default=0x7FFFFFFF)
    isolation_level: int8 = field(default=0)
    session_id: int32 = field("7+", default=0, ignorable=True)
    session_epoch: int32 = field("7+", default=-1, ignorable=True)
    topics: list[Topic]
    forgotten_topics: list[ForgottenTopic] = field("7+", default_factory=list)
    rack_id: str = field("11+", default="", ignorable=True)


def fetch_request(topics: int, partitions: int) -> FetchRequest:
    """A consumer's request for so many topics with so many partitions each."""
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=52428800,
        topics=[
            FetchRequest.Topic(
                topic=f"orders-{topic}",
                partitions=[
                    FetchRequest.Topic.Partition(
                        partition=partition, fetch_offset=1000, partition_max_bytes=1048576
                    )
                    for partition in range(partitions)
                ],
            )
            for topic in range(topics)
        ],
    )
