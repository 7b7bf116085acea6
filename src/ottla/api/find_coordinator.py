"""Finding the broker that coordinates a group, a transaction or a share partition."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class FindCoordinatorRequest(Message, key=10, versions="0-6", flexible="3+"):
    """Ask which broker coordinates some keys.

    Versions: 1 key type, error text, throttle time; 3 flexible; 4 many keys; 5
    TRANSACTION_ABORTABLE; 6 share partitions.
    """

    key: str = field("0-3", default="")
    key_type: int8 = field("1+", default=0)  # 0 group, 1 transaction, 2 share partition.
    coordinator_keys: list[str] = field("4+", default_factory=list)


class FindCoordinatorResponse(Message, key=10, versions="0-6", flexible="3+"):
    """The coordinator of each key."""

    class Coordinator(Struct):
        key: str
        node_id: int32
        host: str
        port: int32
        error_code: int16
        error_message: str | None = field(ignorable=True)

    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    error_code: int16 = field("0-3", default=0)
    error_message: str | None = field("1-3", default="", ignorable=True)
    node_id: int32 = field("0-3", default=0)
    host: str = field("0-3", default="")
    port: int32 = field("0-3", default=0)
    coordinators: list[Coordinator] = field("4+", default_factory=list)
