"""Showing the nodes of a cluster."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class DescribeClusterRequest(Message, key=60, versions="0-2", flexible="0+"):
    """Ask for the brokers or the controllers.

    Versions: 1 brokers or controllers; 2 fenced brokers too.
    """

    include_cluster_authorized_operations: bool
    endpoint_type: int8 = field("1+", default=1)  # 1 brokers, 2 controllers.
    include_fenced_brokers: bool = field("2+", default=False)


class DescribeClusterResponse(Message, key=60, versions="0-2", flexible="0+"):
    """The nodes, the controller and the cluster's id."""

    class Broker(Struct):
        broker_id: int32
        host: str
        port: int32
        rack: str | None = field(default=None)
        is_fenced: bool = field("2+", default=False)

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None = field(default=None)
    endpoint_type: int8 = field("1+", default=1)
    cluster_id: str
    controller_id: int32 = field(default=-1)
    brokers: list[Broker]
    cluster_authorized_operations: int32 = field(default=-0x8000_0000)
