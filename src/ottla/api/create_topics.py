"""Creating topics."""

from ottla.wire.fields import NO_ID, Message, Struct, Uuid, field, int8, int16, int32


class CreateTopicsRequest(Message, key=19, versions="0-7", flexible="5+"):
    """Create topics, or only check whether they could be.

    Versions: 1 only validate, error text; 2 throttle time; 4 the broker's default of partitions and
    replicas; 5 flexible, settings in the answer; 6 quota error; 7 topic id.
    """

    class Topic(Struct):
        class Assignment(Struct):
            partition_index: int32
            broker_ids: list[int32]

        class Config(Struct):
            name: str
            value: str | None

        name: str
        num_partitions: int32  # -1 for the default, or if assignments say it.
        replication_factor: int16  # -1 for the default, or if assignments say it.
        assignments: list[Assignment]
        configs: list[Config]

    topics: list[Topic]
    timeout_ms: int32 = field(default=60000)
    validate_only: bool = field("1+", default=False)


class CreateTopicsResponse(Message, key=19, versions="0-7", flexible="5+"):
    """Whether each topic was created, and with which settings."""

    class Topic(Struct):
        class Config(Struct):
            name: str
            value: str | None
            read_only: bool
            config_source: int8 = field(default=-1, ignorable=True)
            is_sensitive: bool

        name: str
        topic_id: Uuid = field("7+", default=NO_ID, ignorable=True)
        error_code: int16
        error_message: str | None = field("1+", default="", ignorable=True)
        # Set if the settings may not be seen.
        topic_config_error_code: int16 = field("5+", tag=0, default=0, ignorable=True)
        num_partitions: int32 = field("5+", default=-1, ignorable=True)
        replication_factor: int16 = field("5+", default=-1, ignorable=True)
        configs: list[Config] | None = field("5+", default_factory=list, ignorable=True)

    throttle_time_ms: int32 = field("2+", default=0, ignorable=True)
    topics: list[Topic]
