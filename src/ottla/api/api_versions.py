"""Learning which versions of which APIs the other side speaks."""

from ottla.wire.fields import Message, Struct, field, int16, int32, int64


class ApiVersionsRequest(Message, key=18, versions="0-5", flexible="3+"):
    """Ask what the other side speaks, and say which client asks.

    Versions: 1 throttle time; 3 flexible, the client's name, features; 4 features whose minimum is
    0; 5 the node that the client means to talk to.
    """

    client_software_name: str = field("3+", default="", ignorable=True)
    client_software_version: str = field("3+", default="", ignorable=True)
    cluster_id: str | None = field("5+", default=None, ignorable=True)
    node_id: int32 = field("5+", default=-1, ignorable=True)


class ApiVersionsResponse(Message, key=18, versions="0-5", flexible="3+"):
    """The versions of each API and the features of the cluster."""

    class ApiVersion(Struct):
        api_key: int16
        min_version: int16
        max_version: int16

    class SupportedFeature(Struct):
        name: str
        min_version: int16
        max_version: int16

    class FinalizedFeature(Struct):
        name: str
        max_version_level: int16
        min_version_level: int16

    error_code: int16
    api_keys: list[ApiVersion]
    throttle_time_ms: int32 = field("1+", default=0, ignorable=True)
    supported_features: list[SupportedFeature] = field(
        "3+", tag=0, default_factory=list, ignorable=True
    )
    # -1 if not known.
    finalized_features_epoch: int64 = field("3+", tag=1, default=-1, ignorable=True)
    finalized_features: list[FinalizedFeature] = field(
        "3+", tag=2, default_factory=list, ignorable=True
    )
    # The controllers could take over from ZooKeeper.
    zk_migration_ready: bool = field("3+", tag=3, default=False, ignorable=True)
