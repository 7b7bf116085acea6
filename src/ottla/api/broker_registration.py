"""Registering a broker at the controller."""

from ottla.wire.fields import Message, Struct, Uuid, field, int16, int32, int64, uint16


class BrokerRegistrationRequest(Message, key=62, versions="0-4", flexible="0+"):
    """Register a starting broker: its listeners, features and directories."""

    class Listener(Struct):
        name: str
        host: str
        port: uint16
        security_protocol: int16

    class Feature(Struct):
        name: str
        min_supported_version: int16
        max_supported_version: int16

    broker_id: int32
    cluster_id: str
    incarnation_id: Uuid
    listeners: list[Listener]
    features: list[Feature]
    rack: str | None
    # The cluster is moving away from ZooKeeper.
    is_migrating_zk_broker: bool = field("1+", default=False)
    log_dirs: list[Uuid] = field("2+", default_factory=list, ignorable=True)
    # Proves a clean stop; -1 if there was none.
    previous_broker_epoch: int64 = field("3+", default=-1, ignorable=True)


class BrokerRegistrationResponse(Message, key=62, versions="0-4", flexible="0+"):
    """The epoch that the broker's heartbeats must carry."""

    throttle_time_ms: int32
    error_code: int16
    broker_epoch: int64 = field(default=-1)
