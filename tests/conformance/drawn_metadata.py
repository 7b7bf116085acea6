"""Draws histories of the metadata log: random records, each possible upon those before it."""

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from ottla.api import metadata_records as told
from ottla.core.metadata.configs import Resource
from ottla.core.metadata.image import Image
from ottla.core.metadata.levels import LEVEL_MAX, METADATA_VERSION
from ottla.core.metadata.partition import Partition
from ottla.core.metadata.topics import Topic
from ottla.wire.fields import Message, Uuid
from ottla.wire.uuids import LOST, MIGRATING, UNASSIGNED

_T = TypeVar("_T")

BROKERS = range(6)
NAMES = ["a", "b", "a.b", "a_b", "orders", "Ω", "x" * 249]


class Drawn:
    """A history in the making; `image` has replayed what was drawn."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.image = Image()
        self.draws: dict[Callable[[], Message | None], int] = {
            self.topic: 6,
            self.topic_end: 2,
            self.partition: 12,
            self.change: 20,
            self.broker: 8,
            self.broker_end: 1,
            self.broker_change: 8,
            self.old_fencing: 2,
            self.controller: 2,
            self.setting: 8,
            self.quota: 6,
            self.producer_ids: 2,
            self.rule: 3,
            self.rule_end: 1,
            self.credential: 3,
            self.credential_end: 1,
            self.token: 3,
            self.token_end: 1,
            self.feature: 3,
            self.cleared: 1,
            told.NoOpRecord: 1,
        }

    def next(self) -> Message:
        """The next record; the first says the metadata.version."""
        made: Message | None = None
        if self.image.features.metadata_version is None:
            made = told.FeatureLevelRecord(name=METADATA_VERSION, feature_level=LEVEL_MAX)
        while made is None:
            made = self.random.choices([*self.draws], [*self.draws.values()])[0]()
        self.image.replay(made)
        return made

    def topic(self) -> Message | None:
        name = self.random.choice(NAMES)
        if name in self.image.topics.by_name:
            return None
        return told.TopicRecord(name=name, topic_id=self.uuid())

    def topic_end(self) -> Message | None:
        topic = self.known_topic()
        # Kafka's delta keeps what it set itself for a topic that it removes.
        if topic is None or Resource(2, topic.name) in self.image.configs.before:
            return None
        return told.RemoveTopicRecord(topic_id=topic.id)

    def partition(self) -> Message | None:
        topic = self.known_topic()
        if topic is None:
            return None
        replicas = self.some(BROKERS, 1, 4)
        isr = self.some(replicas, 1, 4)
        return told.PartitionRecord(
            partition_id=len(topic.partitions),
            topic_id=topic.id,
            replicas=replicas,
            isr=isr,
            removing_replicas=self.some(replicas, 0, 1),
            adding_replicas=self.some(replicas, 0, 1),
            leader=self.random.choice([-1, *isr]),
            leader_recovery_state=self.random.randrange(2),
            leader_epoch=self.random.randrange(3),
            partition_epoch=self.random.randrange(3),
            directories=[self.directory() for _ in replicas] if self.chance() else [],
            eligible_leader_replicas=self.some(replicas, 0, 2) if self.chance() else None,
            last_known_elr=self.some(replicas, 0, 1) if self.chance() else None,
        )

    def change(self) -> Message | None:
        topic = self.known_topic()
        if topic is None or not topic.partitions:
            return None
        number = self.random.choice([*topic.partitions])
        present = topic.partitions[number]
        drawn = told.PartitionChangeRecord(partition_id=number, topic_id=topic.id)
        replicas = present.replicas
        if self.chance(0.2):
            drawn.replicas = self.some(BROKERS, 1, 4)
            drawn.directories = [self.directory() for _ in drawn.replicas]
            replicas = tuple(drawn.replicas)
            drawn.leader = self.random.choice([-1, *replicas])
            drawn.isr = self.some(replicas, 0, 4)
        elif self.chance():
            drawn.isr = self.some(replicas, 0, 4)
        return self._rest_of_change(drawn, present, replicas)

    def _rest_of_change(
        self, drawn: told.PartitionChangeRecord, present: Partition, replicas: Sequence[int]
    ) -> Message:
        if drawn.replicas is None and self.chance():
            drawn.leader = self.random.choice([-1, present.leader, *replicas])
        if drawn.directories is None and self.chance(0.2):
            drawn.directories = [self.directory() for _ in replicas]
        if self.chance(0.2):
            drawn.leader_recovery_state = self.random.randrange(2)
        if self.chance(0.2):
            drawn.adding_replicas = self.some(replicas, 0, 2)
        if self.chance(0.2):
            drawn.removing_replicas = self.some(replicas, 0, 2)
        if self.chance(0.3):
            drawn.eligible_leader_replicas = self.some(replicas, 0, 2)
            drawn.last_known_elr = self.some(replicas, 0, 1)
        return drawn

    def broker(self) -> Message:
        made = told.RegisterBrokerRecord
        broker = self.random.choice(BROKERS)
        known = self.image.cluster.brokers.get(broker)
        directories = [self.uuid() for _ in range(self.random.randrange(3))]
        return made(
            broker_id=broker,
            incarnation_id=self.uuid(),
            broker_epoch=(known.epoch if known else 0) + self.random.randrange(5),
            end_points=[
                made.EndPoint(name=name, host="h", port=9092 + broker, security_protocol=0)
                for name in self.some(["PLAINTEXT", "INTERNAL"], 1, 2)
            ],
            features=[
                made.Feature(name=name, min_supported_version=0, max_supported_version=2)
                for name in self.some(["group.version", "transaction.version"], 0, 2)
            ],
            rack=self.random.choice([None, "r1", "r2"]),
            fenced=self.chance(),
            in_controlled_shutdown=self.chance(0.2),
            log_dirs=directories,
            cordoned_log_dirs=self.some(directories, 0, 2) if self.chance() else None,
        )

    def broker_end(self) -> Message | None:
        if not self.image.cluster.brokers:
            return None
        broker = self.random.choice([*self.image.cluster.brokers.values()])
        return told.UnregisterBrokerRecord(broker_id=broker.id, broker_epoch=broker.epoch)

    def broker_change(self) -> Message | None:
        if not self.image.cluster.brokers:
            return None
        broker = self.random.choice([*self.image.cluster.brokers.values()])
        return told.BrokerRegistrationChangeRecord(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            fenced=self.random.choice([-1, 0, 1]),
            in_controlled_shutdown=self.random.randrange(2),
            log_dirs=[self.uuid() for _ in range(self.random.randrange(3))],
            cordoned_log_dirs=self.random.choice([None, [], [self.uuid()]]),
        )

    def old_fencing(self) -> Message | None:
        if not self.image.cluster.brokers:
            return None
        broker = self.random.choice([*self.image.cluster.brokers.values()])
        made = self.random.choice([told.FenceBrokerRecord, told.UnfenceBrokerRecord])
        return made(id=broker.id, epoch=broker.epoch)

    def controller(self) -> Message:
        made = told.RegisterControllerRecord
        return made(
            controller_id=self.random.choice(BROKERS),
            incarnation_id=self.uuid(),
            zk_migration_ready=self.chance(),
            end_points=[made.EndPoint(name="C", host="h", port=9, security_protocol=0)],
            features=[
                made.Feature(
                    name=METADATA_VERSION, min_supported_version=7, max_supported_version=30
                )
            ],
        )

    def setting(self) -> Message:
        kind, name = self.random.choice([(2, "a"), (4, ""), (4, "1"), (16, "m"), (32, "g")])
        topic = self.known_topic()
        return told.ConfigRecord(
            resource_type=kind,
            resource_name=topic.name if topic and kind == 2 else name,
            name=self.random.choice(["retention.ms", "cleanup.policy", "x"]),
            value=self.random.choice([None, "1", "22"]),
        )

    def quota(self) -> Message:
        made = told.ClientQuotaRecord
        whose = self.random.choice(
            [
                [("user", "u")],
                [("user", None)],
                [("client-id", "c"), ("user", "u")],
                [("ip", "::1")],
            ]
        )
        return made(
            entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in whose],
            key=self.random.choice(["producer_byte_rate", "consumer_byte_rate"]),
            value=self.random.choice([1.0, 2.5, 1e9]),
            remove=self.chance(0.4),
        )

    def producer_ids(self) -> Message:
        handed = max(self.image.next_producer_id, 0) + 1000
        return told.ProducerIdsRecord(broker_id=1, broker_epoch=2, next_producer_id=handed)

    def rule(self) -> Message:
        return told.AccessControlEntryRecord(
            id=self.uuid(),
            resource_type=2,
            resource_name=self.random.choice(NAMES),
            pattern_type=self.random.choice([3, 4]),
            principal="User:u",
            host="*",
            operation=self.random.choice([3, 4, 10]),
            permission_type=self.random.choice([2, 3]),
        )

    def rule_end(self) -> Message | None:
        if not self.image.access.acls:
            return None
        return told.RemoveAccessControlEntryRecord(id=self.random.choice([*self.image.access.acls]))

    def credential(self) -> Message:
        # One user a mechanism: Kafka's delta loses whom it adds while it removes another.
        mechanism = self.random.choice([1, 2])
        return told.UserScramCredentialRecord(
            name=" uv"[mechanism],
            mechanism=mechanism,
            salt=self.random.randbytes(4),
            stored_key=self.random.randbytes(4),
            server_key=b"",
            iterations=self.random.choice([4096, 8192]),
        )

    def credential_end(self) -> Message | None:
        if not self.image.access.scram:
            return None
        user = self.random.choice([*self.image.access.scram])
        return told.RemoveUserScramCredentialRecord(name=user.name, mechanism=user.mechanism)

    def token(self) -> Message:
        issued = self.random.randrange(1000)
        return told.DelegationTokenRecord(
            owner="User:u",
            requester="User:v",
            renewers=self.some(["User:w", "User:x"], 0, 2),
            issue_timestamp=issued,
            max_timestamp=issued + 5000,
            expiration_timestamp=issued + 100,
            token_id=self.random.choice("st"),
        )

    def token_end(self) -> Message:
        return told.RemoveDelegationTokenRecord(token_id=self.random.choice("st"))

    def feature(self) -> Message:
        name = self.random.choice(
            ["group.version", "transaction.version", "eligible.leader.replicas.version"]
        )
        return told.FeatureLevelRecord(name=name, feature_level=self.random.randrange(2))

    def cleared(self) -> Message:
        topic = self.known_topic()
        name = topic.name if topic and self.chance() else ""
        return told.ClearElrRecord(topic_name=name)

    def known_topic(self) -> Topic | None:
        return self.random.choice([*self.image.topics.by_id.values(), None])

    def uuid(self) -> Uuid:
        return Uuid(self.random.randbytes(16))

    def directory(self) -> Uuid:
        return self.random.choice([MIGRATING, UNASSIGNED, LOST, self.uuid()])

    def some(self, among: Sequence[_T], least: int, most: int) -> list[_T]:
        count = self.random.randint(min(least, len(among)), min(most, len(among)))
        return self.random.sample([*among], count)

    def chance(self, of: float = 0.5) -> bool:
        return self.random.random() < of
