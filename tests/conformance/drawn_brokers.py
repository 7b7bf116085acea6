"""Draws what brokers ask of the controller: mostly what could be, often near misses."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ottla.api.allocate_producer_ids import AllocateProducerIdsRequest, AllocateProducerIdsResponse
from ottla.api.alter_partition import AlterPartitionRequest
from ottla.api.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from ottla.api.broker_heartbeat import BrokerHeartbeatRequest
from ottla.api.broker_registration import BrokerRegistrationRequest
from ottla.api.unregister_broker import UnregisterBrokerRequest
from ottla.core.controller.brokers import decide_registration, decide_unregistration, fence_silent
from ottla.core.controller.elections import balance, elect_unclean
from ottla.core.controller.heartbeats import HeartbeatReply, decide_heartbeat
from ottla.core.controller.partitions import decide_directories, decide_partition_alteration
from ottla.core.controller.producer_ids import decide_producer_ids
from ottla.core.controller.state import Refusal
from ottla.core.metadata.cluster import Broker
from ottla.core.metadata.topics import Topic
from ottla.core.recorded import Decision
from ottla.wire.codec import decode, encode
from ottla.wire.fields import NO_ID, Message, Uuid
from ottla.wire.uuids import LOST, UNASSIGNED
from tests.conformance.kafka_controller import Asked, Cluster, asked

_T = TypeVar("_T")

BROKERS: Final = range(7)
FEATURES: Final = {
    "group.version": 1,
    "transaction.version": 2,
    "eligible.leader.replicas.version": 1,
    "share.version": 1,
    "streams.version": 1,
}


def agree(reply: Any, said: str) -> None:
    """Replies of which only what was decided counts agree."""


def equal(version: int) -> Callable[[Any, str], None]:
    """Holds a message against Kafka's, as both are in a version."""

    def same(reply: Message, said: str) -> None:
        theirs = decode(type(reply), bytes.fromhex(said), version)
        assert decode(type(reply), encode(reply, version), version) == theirs

    return same


def words(outcomes: Sequence[Any]) -> str:
    """Errors with their texts, as the oracle writes them."""
    said = ";".join(f"{one.error_code}:{one.error_message}" for one in outcomes)
    return said.replace("None", "null")


class Drawing:
    """A cluster, and chance for what happens to it."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.random = random.Random(seed)
        self.cluster = cluster
        self.state, self.image = cluster.state, cluster.image
        self.directories: dict[int, list[Uuid]] = {
            broker: [self.uuid() for _ in range(1 + broker % 2)] for broker in BROKERS
        }

    def ask(
        self,
        verb: str,
        request: Message,
        version: int,
        ours: Callable[[], Decision[Any, object]],
        same: Callable[[Any, str], None],
    ) -> object:
        return self.cluster.decide(asked(verb, request, version, ours), same)

    def upkeep_of(self, verb: str, ours: Callable[[], Sequence[Message]]) -> None:
        self.cluster.decide(Asked(verb, lambda: Decision(ours(), None)), agree)

    def known_topic(self) -> Topic | None:
        return self.random.choice([*self.image.topics.by_id.values(), None])

    def known_broker(self) -> Broker | None:
        return self.random.choice([*self.image.cluster.brokers.values(), None])

    def uuid(self) -> Uuid:
        return Uuid(self.random.randbytes(16))

    def off(self) -> int:
        return self.random.choice([-1, 1]) if self.chance(0.05) else 0

    def some(self, among: Sequence[_T], least: int, most: int) -> list[_T]:
        count = self.random.randint(min(least, len(among)), min(most, len(among)))
        return self.random.sample([*among], count)

    def chance(self, of: float = 0.5) -> bool:
        return self.random.random() < of


class BrokerLife(Drawing):
    """What brokers do."""

    def register(self) -> None:
        broker = self.random.choice(BROKERS)
        known = self.image.cluster.brokers.get(broker)
        # Kafka forgets of a broker that amends its registration that it is about to stop.
        amends = known is not None and not known.is_shutting_down and self.chance()
        incarnation = known.incarnation_id if known and amends else self.uuid()
        made = BrokerRegistrationRequest
        directories = self.directories[broker if self.chance(0.95) else 0]
        features = {name: (0, high) for name, high in FEATURES.items()}
        if self.chance(0.05):
            del features[self.random.choice([*features])]
        features["metadata.version"] = (7, self.random.choice([30, 30, 30, 30, 20]))
        request = made(
            broker_id=broker,
            cluster_id="cluster" if self.chance(0.97) else "other",
            incarnation_id=incarnation,
            listeners=[made.Listener(name="B", host="h", port=9092, security_protocol=0)],
            features=[
                made.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in reversed(features.items())
            ],
            # Single letters lie in the order of their names in Kafka's hash tables.
            rack="abc"[broker % 3],
            log_dirs=directories if self.chance(0.97) else directories * 2,
            previous_broker_epoch=known.epoch if known and self.chance() else -1,
        )
        cluster = self.cluster

        def ours() -> Decision[Any, object]:
            return decide_registration(
                self.state, cluster.sessions, request, epoch=cluster.end, now_ms=cluster.now_ms
            )

        def same(reply: Any, said: str) -> None:
            assert str(reply.broker_epoch) == said

        question = asked("BrokerRegistration", request, 4, ours, str(cluster.end))
        reply = cluster.decide(question, same)
        if not isinstance(reply, Refusal) and not amends:
            cluster.sessions.forget(broker)

    def heartbeat(self) -> None:
        broker, cluster = self.known_broker(), self.cluster
        offline = [one for one in self.directories[0] if self.chance(0.1)]
        if broker and self.chance(0.1):
            offline = self.random.sample(self.directories[broker.id], 1)
        # A broker that wants to stop goes on wanting it; of others Kafka forgets that they did.
        is_stopping = broker is not None and broker.is_shutting_down
        wants_nothing = self.chance(0.8) and not is_stopping
        request = BrokerHeartbeatRequest(
            broker_id=broker.id if broker else 99,
            broker_epoch=(broker.epoch if broker else 0) + (not self.chance(0.97)),
            current_metadata_offset=cluster.end - self.random.choice([1, 1, 1, 50]),
            want_fence=not wants_nothing and self.chance(),
            want_shut_down=is_stopping or (not wants_nothing and self.chance()),
            offline_log_dirs=offline,
            cordoned_log_dirs=self.random.choice([None, [], [], [], [], self.directories[0]]),
        )

        def same(reply: Any, said: str) -> None:
            one = reply.response
            flags = (one.is_caught_up, one.is_fenced, one.should_shut_down, reply.is_shutting_down)
            assert ";".join(str(flag).lower() for flag in flags) == said

        def ours() -> Decision[Any, object]:
            return decide_heartbeat(self.state, cluster.sessions, request, cluster.now_ms)

        reply = self.ask("BrokerHeartbeat", request, 2, ours, same)
        if isinstance(reply, HeartbeatReply) and reply.is_shutting_down:
            cluster.sessions.note_shutdown(request.broker_id, cluster.end - 1)
            cluster.tell(f"shutdown {request.broker_id} {cluster.end - 1}")

    def unregister(self) -> None:
        broker = self.random.choice(BROKERS)
        if broker in self.image.cluster.brokers:
            request = UnregisterBrokerRequest(broker_id=broker)
            self.ask(
                "UnregisterBroker",
                request,
                0,
                lambda: decide_unregistration(self.state, broker),
                agree,
            )
            self.cluster.sessions.forget(broker)

    def time(self) -> None:
        cluster = self.cluster
        cluster.tick(self.random.choice([1, 1000, 4000, 10_000]))
        # Of several that are late Kafka takes any, so all but one are heard of again.
        for broker in cluster.sessions.expired(cluster.now_ms)[1:]:
            session = cluster.sessions.by_broker[broker]
            session.contact_ms = cluster.now_ms
            cluster.tell(f"contact {broker} {session.epoch}")
        for _ in range(2):
            self.upkeep_of(
                "fence", lambda: fence_silent(self.state, cluster.sessions, cluster.now_ms)
            )

    def upkeep(self) -> None:
        self.upkeep_of("balance", lambda: balance(self.state))
        self.upkeep_of("unclean", lambda: elect_unclean(self.state))

    def alter_partition(self) -> None:
        topic, brokers = self.known_topic(), self.image.cluster.brokers
        if topic is None or not brokers:
            return
        number = self.random.choice([*topic.partitions])
        present = topic.partitions[number]
        leader = brokers.get(present.leader)
        sender = leader if leader and self.chance(0.9) else self.random.choice([*brokers.values()])
        active = [one for one in present.replicas if self.image.cluster.is_active(one)]
        among = active if self.chance(0.9) else [*present.replicas]
        isr = self.random.sample(among, self.random.randint(0, len(among)))
        if present.leader not in isr and self.chance(0.9):
            isr.append(present.leader)
        made = AlterPartitionRequest
        recovering = present.leader_recovery_state and self.chance()
        partition = made.Topic.Partition(
            partition_index=number if self.chance(0.97) else 77,
            leader_epoch=present.leader_epoch + self.off(),
            new_isr_with_epochs=[
                made.Topic.Partition.BrokerState(
                    broker_id=one,
                    broker_epoch=brokers[one].epoch if one in brokers and self.chance(0.9) else -1,
                )
                for one in isr
            ],
            leader_recovery_state=int(bool(recovering) or not self.chance(0.97)),
            partition_epoch=present.partition_epoch + self.off(),
        )
        topic_id = topic.id if self.chance(0.97) else NO_ID
        request = made(
            broker_id=sender.id,
            broker_epoch=sender.epoch + (not self.chance(0.98)),
            topics=[made.Topic(topic_id=topic_id, partitions=[partition])],
        )
        self.ask(
            "AlterPartition",
            request,
            3,
            lambda: decide_partition_alteration(self.state, request),
            equal(3),
        )

    def assign(self) -> None:
        topic, broker = self.known_topic(), self.known_broker()
        if topic is None or broker is None:
            return
        made = AssignReplicasToDirsRequest
        number = self.random.choice([*topic.partitions])
        directory = self.random.choice([*broker.directories, LOST, UNASSIGNED, self.uuid()])
        told = made.Directory.Topic(
            topic_id=topic.id if self.chance(0.95) else NO_ID,
            partitions=[made.Directory.Topic.Partition(partition_index=number)],
        )
        request = made(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            directories=[made.Directory(id=directory, topics=[told])],
        )
        self.ask(
            "AssignReplicasToDirs",
            request,
            0,
            lambda: decide_directories(self.state, request),
            equal(0),
        )

    def producer_ids(self) -> None:
        broker = self.known_broker()
        request = AllocateProducerIdsRequest(
            broker_id=broker.id if broker else 9, broker_epoch=broker.epoch if broker else 9
        )

        def same(reply: AllocateProducerIdsResponse, said: str) -> None:
            assert f"{reply.producer_id_start};{reply.producer_id_len}" == said

        self.ask(
            "AllocateProducerIds",
            request,
            0,
            lambda: decide_producer_ids(self.state, request),
            same,
        )
