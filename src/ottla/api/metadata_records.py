"""Records of the metadata log: what the controller decided, one fact each."""

from typing import Final

from ottla.wire.fields import (
    Message,
    Struct,
    Uuid,
    field,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint16,
)


class RegisterBrokerRecord(Message, key=0, versions="0-4", flexible="0+"):
    """A broker has registered.

    Versions: 1 controlled shutdown; 2 moving away from ZooKeeper; 3 directories; 4 cordoned ones.
    """

    class EndPoint(Struct):
        name: str
        host: str
        port: uint16
        security_protocol: int16

    class Feature(Struct):
        name: str
        min_supported_version: int16
        max_supported_version: int16

    broker_id: int32
    # The cluster is moving away from ZooKeeper.
    is_migrating_zk_broker: bool = field("2+", default=False)
    incarnation_id: Uuid  # Made anew each time the broker starts.
    broker_epoch: int64
    end_points: list[EndPoint]
    features: list[Feature]
    rack: str | None
    fenced: bool = field(default=True)
    in_controlled_shutdown: bool = field("1+", default=False)
    log_dirs: list[Uuid] = field("3+", tag=0, default_factory=list)
    cordoned_log_dirs: list[Uuid] | None = field("4+", tag=1, default=None)


class UnregisterBrokerRecord(Message, key=1, versions="0", flexible="0+"):
    """A broker is gone for good."""

    broker_id: int32
    broker_epoch: int64


class TopicRecord(Message, key=2, versions="0", flexible="0+"):
    """A topic was created."""

    name: str
    topic_id: Uuid


class PartitionRecord(Message, key=3, versions="0-2", flexible="0+"):
    """A partition was created, or all of its state as a snapshot holds it.

    Versions: 1 directories; 2 eligible leader replicas.
    """

    partition_id: int32 = field(default=-1)
    topic_id: Uuid
    replicas: list[int32]
    isr: list[int32]
    removing_replicas: list[int32]
    adding_replicas: list[int32]
    leader: int32 = field(default=-1)  # -1 if there is none.
    # 1 while recovering from an unclean election.
    leader_recovery_state: int8 = field(tag=0, default=0)
    leader_epoch: int32 = field(default=-1)
    partition_epoch: int32 = field(default=-1)
    directories: list[Uuid] = field("1+", default_factory=list)
    eligible_leader_replicas: list[int32] | None = field("2+", tag=1, default=None)
    last_known_elr: list[int32] | None = field("2+", tag=2, default=None)


class ConfigRecord(Message, key=4, versions="0", flexible="0+"):
    """A setting was set or removed."""

    resource_type: int8  # 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group.
    resource_name: str  # Empty for the default of all brokers.
    name: str
    value: str | None  # Null removes the setting.


class PartitionChangeRecord(Message, key=5, versions="0-2", flexible="0+"):
    """Something of a partition changed; what is not said did not.

    Versions: 1 directories; 2 eligible leader replicas.
    """

    partition_id: int32 = field(default=-1)
    topic_id: Uuid
    isr: list[int32] | None = field(tag=0, default=None)  # Null if unchanged.
    leader: int32 = field(tag=1, default=-2)  # -2 if unchanged, -1 if there is none.
    replicas: list[int32] | None = field(tag=2, default=None)  # Null if unchanged.
    removing_replicas: list[int32] | None = field(tag=3, default=None)  # Null if unchanged.
    adding_replicas: list[int32] | None = field(tag=4, default=None)  # Null if unchanged.
    leader_recovery_state: int8 = field(tag=5, default=-1)  # -1 if unchanged.
    # Null if unchanged; else as many as replicas.
    directories: list[Uuid] | None = field("1+", tag=8, default=None)
    # Null if unchanged.
    eligible_leader_replicas: list[int32] | None = field("2+", tag=6, default=None)
    last_known_elr: list[int32] | None = field("2+", tag=7, default=None)  # Null if unchanged.


class FenceBrokerRecord(Message, key=7, versions="0", flexible="0+"):
    """A broker was fenced, by releases before in-place changes of registrations."""

    id: int32
    epoch: int64


class UnfenceBrokerRecord(Message, key=8, versions="0", flexible="0+"):
    """A broker was unfenced, by releases before in-place changes of registrations."""

    id: int32
    epoch: int64


class RemoveTopicRecord(Message, key=9, versions="0", flexible="0+"):
    """A topic was deleted."""

    topic_id: Uuid


class DelegationTokenRecord(Message, key=10, versions="0", flexible="0+"):
    """A delegation token was created or renewed."""

    owner: str
    requester: str
    renewers: list[str]
    issue_timestamp: int64
    max_timestamp: int64
    expiration_timestamp: int64
    token_id: str


class UserScramCredentialRecord(Message, key=11, versions="0", flexible="0+"):
    """A user got a SCRAM credential."""

    name: str
    mechanism: int8  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.
    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int32


class FeatureLevelRecord(Message, key=12, versions="0", flexible="0+"):
    """A feature was finalized at a level."""

    name: str
    feature_level: int16  # 0 removes the feature.


class ClientQuotaRecord(Message, key=14, versions="0", flexible="0+"):
    """A quota was set or removed."""

    class Entity(Struct):
        entity_type: str  # user, client-id or ip.
        entity_name: str | None  # Null for the default of the type.

    entity: list[Entity]
    key: str
    value: float64
    remove: bool  # The value counts for nothing then.


class ProducerIdsRecord(Message, key=15, versions="0", flexible="0+"):
    """A block of producer ids was handed to a broker."""

    broker_id: int32
    broker_epoch: int64 = field(default=-1)
    next_producer_id: int64  # All below are handed out.


class BrokerRegistrationChangeRecord(Message, key=17, versions="0-3", flexible="0+"):
    """Something of a broker's registration changed.

    Versions: 1 controlled shutdown; 2 directories; 3 cordoned ones.
    """

    broker_id: int32
    broker_epoch: int64
    fenced: int8 = field(tag=0, default=0)  # 1 fenced, -1 no longer, 0 unchanged.
    # 1 if the broker is about to stop, 0 unchanged.
    in_controlled_shutdown: int8 = field("1+", tag=1, default=0)
    log_dirs: list[Uuid] = field("2+", tag=2, default_factory=list)  # Empty if unchanged.
    cordoned_log_dirs: list[Uuid] | None = field("3+", tag=3, default=None)  # Null if unchanged.


class AccessControlEntryRecord(Message, key=18, versions="0", flexible="0+"):
    """An access rule was created."""

    id: Uuid
    resource_type: int8
    resource_name: str
    pattern_type: int8
    principal: str
    host: str
    operation: int8
    permission_type: int8


class RemoveAccessControlEntryRecord(Message, key=19, versions="0", flexible="0+"):
    """An access rule was deleted."""

    id: Uuid


class NoOpRecord(Message, key=20, versions="0", flexible="0+"):
    """Nothing happened; it moves the log on while the cluster is idle."""


class ZkMigrationStateRecord(Message, key=21, versions="0", flexible="0+"):
    """How far the move away from ZooKeeper has come."""

    zk_migration_state: int8


class RemoveUserScramCredentialRecord(Message, key=22, versions="0", flexible="0+"):
    """A user lost a SCRAM credential."""

    name: str
    mechanism: int8  # 1 SCRAM-SHA-256, 2 SCRAM-SHA-512.


class BeginTransactionRecord(Message, key=23, versions="0", flexible="0+"):
    """What follows counts only once it is ended."""

    name: str | None = field(tag=0, default=None)


class EndTransactionRecord(Message, key=24, versions="0", flexible="0+"):
    """What stood since the beginning counts."""


class AbortTransactionRecord(Message, key=25, versions="0", flexible="0+"):
    """What stood since the beginning does not count."""

    reason: str | None = field(tag=0, default=None)


class RemoveDelegationTokenRecord(Message, key=26, versions="0", flexible="0+"):
    """A delegation token was removed."""

    token_id: str


class RegisterControllerRecord(Message, key=27, versions="0", flexible="0+"):
    """A controller has registered."""

    class EndPoint(Struct):
        name: str
        host: str
        port: uint16
        security_protocol: int16

    class Feature(Struct):
        name: str
        min_supported_version: int16
        max_supported_version: int16

    controller_id: int32
    incarnation_id: Uuid  # Made anew each time the controller starts.
    zk_migration_ready: bool  # The controller could take over from ZooKeeper.
    end_points: list[EndPoint]
    features: list[Feature]


class ClearElrRecord(Message, key=28, versions="0", flexible="0+"):
    """The eligible leader replicas of topics were forgotten."""

    topic_name: str  # Empty for all topics.


class UnregisterControllerRecord(Message, key=29, versions="0", flexible="0+"):
    """A controller is gone for good."""

    controller_id: int32


METADATA_RECORDS: Final[dict[int, type[Message]]] = {
    0: RegisterBrokerRecord,
    1: UnregisterBrokerRecord,
    2: TopicRecord,
    3: PartitionRecord,
    4: ConfigRecord,
    5: PartitionChangeRecord,
    7: FenceBrokerRecord,
    8: UnfenceBrokerRecord,
    9: RemoveTopicRecord,
    10: DelegationTokenRecord,
    11: UserScramCredentialRecord,
    12: FeatureLevelRecord,
    14: ClientQuotaRecord,
    15: ProducerIdsRecord,
    17: BrokerRegistrationChangeRecord,
    18: AccessControlEntryRecord,
    19: RemoveAccessControlEntryRecord,
    20: NoOpRecord,
    21: ZkMigrationStateRecord,
    22: RemoveUserScramCredentialRecord,
    23: BeginTransactionRecord,
    24: EndTransactionRecord,
    25: AbortTransactionRecord,
    26: RemoveDelegationTokenRecord,
    27: RegisterControllerRecord,
    28: ClearElrRecord,
    29: UnregisterControllerRecord,
}
"""The classes of the records, by id."""
