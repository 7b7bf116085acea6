"""Draws the life of a cluster: what people ask of the controller, between what brokers ask."""

import re
from collections.abc import Callable
from typing import Any, Final

from ottla.api.alter_client_quotas import AlterClientQuotasRequest
from ottla.api.alter_configs import AlterConfigsRequest
from ottla.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ottla.api.create_partitions import CreatePartitionsRequest
from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.api.delete_topics import DeleteTopicsRequest
from ottla.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ottla.api.incremental_alter_configs import IncrementalAlterConfigsRequest
from ottla.api.list_partition_reassignments import ListPartitionReassignmentsRequest
from ottla.api.update_features import UpdateFeaturesRequest
from ottla.core.controller.configs import decide_alteration, decide_incremental_alteration
from ottla.core.controller.elections import decide_elections
from ottla.core.controller.features import decide_features
from ottla.core.controller.quotas import decide_quotas
from ottla.core.controller.reassignments import decide_reassignments, list_reassignments
from ottla.core.controller.topic_creation import decide_creation
from ottla.core.controller.topics import decide_deletion, decide_growth
from ottla.core.recorded import Decision
from ottla.wire.codec import decode
from tests.conformance.drawn_brokers import BROKERS, FEATURES, BrokerLife, equal, words
from tests.conformance.kafka_controller import Cluster

Draw = Callable[[], None]

NAMES: Final = ["a", "b", "a.b", "a_b", "orders", "", ".", "x" * 250, "bad name"]
VALUES: Final = {
    "min.insync.replicas": ["1", "2", "3"],
    "unclean.leader.election.enable": ["true", "false"],
    "retention.ms": ["1000", "-1"],
}
ENTITIES: Final[list[list[tuple[str, str | None]]]] = [
    [("user", "u")],
    [("user", None)],
    [("client-id", "c"), ("user", "u")],
    [("ip", "127.0.0.1")],
    [("ip", None), ("user", "u")],
    [("shoe", "x")],
    [("user", "")],
    [],
]


class Life(BrokerLife):
    """Everything that can be asked, by how often it is."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        super().__init__(cluster, seed)
        self.draws: dict[Draw, int] = {
            self.register: 6,
            self.heartbeat: 30,
            self.unregister: 1,
            self.time: 6,
            self.create: 8,
            self.delete: 2,
            self.grow: 4,
            self.alter_partition: 20,
            self.elect: 6,
            self.upkeep: 6,
            self.reassign: 8,
            self.list_reassignments: 2,
            self.assign: 6,
            self.producer_ids: 2,
            self.features: 3,
            self.settings: 6,
            self.replaced_settings: 3,
            self.quotas: 4,
        }
        for _ in range(8):
            self.register()

    def step(self) -> None:
        self.random.choices([*self.draws], [*self.draws.values()])[0]()

    def create(self) -> None:
        topics = [self._creatable(name) for name in self.some(NAMES, 1, 3)]
        request = CreateTopicsRequest(topics=topics, validate_only=self.chance(0.1))

        def same(reply: CreateTopicsResponse, said: str) -> None:
            theirs = decode(CreateTopicsResponse, bytes.fromhex(said), 7)
            for one, other in zip(reply.topics, theirs.topics, strict=True):
                assert one.configs is not None
                assert other.configs is not None
                # Kafka counts as set for the topic what was only asked for.
                shown = {each.name: each.value for each in one.configs}
                assert shown.items() <= {each.name: each.value for each in other.configs}.items()
                one.configs = other.configs = []
                assert one == other or request.validate_only

        def ours() -> Decision[Any, object]:
            return decide_creation(self.state, request, self.cluster.chance)

        self.ask("CreateTopics", request, 7, ours, same)

    def _creatable(self, name: str) -> CreateTopicsRequest.Topic:
        made = CreateTopicsRequest.Topic
        is_named, brokers = self.chance(0.3), [*self.image.cluster.brokers]
        partitions = self.random.choice([-1, 1, 2, 5]) if self.chance(0.9) else -2
        replicas = self.random.choice([-1, 1, 2, 3, 3]) if self.chance(0.9) else 0
        assignments = [
            made.Assignment(
                partition_index=number + (not self.chance(0.95)),
                broker_ids=self.some([*BROKERS, 9], 0, 3)
                if self.chance(0.1)
                else self.some(brokers, 2, 2),
            )
            for number in range(self.random.randint(1, 3))
        ]
        names = self.some([*VALUES], 0, 2) if self.chance() else []
        return made(
            name=name,
            num_partitions=-1 if is_named and self.chance(0.9) else partitions,
            replication_factor=-1 if is_named and self.chance(0.9) else replicas,
            assignments=assignments if is_named else [],
            configs=[
                made.Config(
                    name=one, value=self.random.choice(VALUES[one]) if self.chance(0.95) else None
                )
                for one in names
            ],
        )

    def delete(self) -> None:
        topic = self.known_topic()
        # Kafka's controller fails later if it deletes a partition while nobody is in sync for it.
        if topic is None or not all(one.isr for one in topic.partitions.values()):
            return
        wanted = DeleteTopicsRequest.Topic(topic_id=topic.id)
        request = DeleteTopicsRequest(topics=[wanted], timeout_ms=0)

        def same(reply: Any, said: str) -> None:
            assert words(reply.responses) == said

        self.ask("DeleteTopics", request, 6, lambda: decide_deletion(self.state, request), same)

    def grow(self) -> None:
        made, topic = CreatePartitionsRequest, self.known_topic()
        if topic and len({len(one.replicas) for one in topic.partitions.values()}) > 1:
            return  # Kafka takes any of them for how many replicas a new one has.
        present = len(topic.partitions) if topic else 0
        count = present + self.random.choice([-1, 0, 1, 1, 2])
        assignments = [
            made.Topic.Assignment(broker_ids=self.some([*BROKERS], 1, 3))
            for _ in range(max(count - present, 1))
        ]
        wanted = made.Topic(
            name=topic.name if topic else "none",
            count=count,
            assignments=assignments if self.chance() else None,
        )
        request = made(topics=[wanted], timeout_ms=0, validate_only=False)

        def ours() -> Decision[Any, object]:
            return decide_growth(self.state, request, self.cluster.chance)

        self.ask("CreatePartitions", request, 3, ours, equal(3))

    def elect(self) -> None:
        made, topic = ElectLeadersRequest, self.known_topic()
        name = topic.name if topic else "none"
        wanted = [made.TopicPartitions(topic=name, partitions=[0, 1, 9])]
        request = made(
            election_type=self.random.randrange(2),
            topic_partitions=wanted if self.chance() else None,
        )

        def same(reply: ElectLeadersResponse, said: str) -> None:
            theirs = decode(ElectLeadersResponse, bytes.fromhex(said), 2)
            for answer in (reply, theirs):
                answer.replica_election_results.sort(key=lambda one: one.topic)
                for one in answer.replica_election_results:
                    one.partition_result.sort(key=lambda each: each.partition_id)
            assert reply == theirs

        self.ask("ElectLeaders", request, 2, lambda: decide_elections(self.state, request), same)

    def reassign(self) -> None:
        made, topic = AlterPartitionReassignmentsRequest, self.known_topic()
        for one in topic.partitions.values() if topic else ():
            if not {*one.elr, *one.last_known_elr} <= set(one.replicas):
                return  # Kafka fails to ask for the directory of an eligible one that was removed.
        replicas = self.some([*self.image.cluster.brokers], 1, 3) if self.chance(0.8) else None
        if self.chance(0.05):
            replicas = self.random.choice([[], [9], [1, 1]])
        number = self.random.randrange(3)
        partition = made.Topic.Partition(partition_index=number, replicas=replicas)
        request = made(
            allow_replication_factor_change=self.chance(0.7),
            topics=[made.Topic(name=topic.name if topic else "none", partitions=[partition])],
        )
        self.ask(
            "AlterPartitionReassignments",
            request,
            1,
            lambda: decide_reassignments(self.state, request),
            equal(1),
        )

    def list_reassignments(self) -> None:
        made, topic = ListPartitionReassignmentsRequest, self.known_topic()
        wanted = [made.Topic(name=topic.name, partition_indexes=[0, 1, 2])] if topic else []
        request = made(topics=wanted)
        self.ask(
            "ListPartitionReassignments",
            request,
            0,
            lambda: Decision((), list_reassignments(self.state, request)),
            equal(0),
        )

    def features(self) -> None:
        made = UpdateFeaturesRequest
        name = self.random.choice([*FEATURES, "metadata.version", "kraft.version", "none"])
        levels = [6, 17, 24, 25, 26, 29, 30, 31] if name == "metadata.version" else [-1, 0, 1, 2, 3]
        level = self.random.choice(levels)
        how = self.random.choice([1, 1, 2, 3, 9])
        update = made.FeatureUpdate(feature=name, max_version_level=level, upgrade_type=how)
        request = made(feature_updates=[update])

        def same(reply: Any, said: str) -> None:
            # Of several brokers that cannot Kafka names any.
            cut = re.compile(r"Broker \d+")
            assert cut.sub("", words([reply.response])) == cut.sub("", said)

        if name != "kraft.version" or level != 1:
            self.ask(
                "UpdateFeatures", request, 2, lambda: decide_features(self.state, request), same
            )

    def settings(self) -> None:
        made = IncrementalAlterConfigsRequest
        kind, name, option = self._resource()
        operation = self.random.choice([0, 0, 0, 1])
        value = self.random.choice(VALUES[option]) if operation == 0 else None
        change = made.Resource.Config(name=option, config_operation=operation, value=value)
        resource = made.Resource(resource_type=kind, resource_name=name, configs=[change])
        request = made(resources=[resource], validate_only=False)

        def same(reply: Any, said: str) -> None:
            assert words(reply.responses) == said

        self.ask(
            "IncrementalAlterConfigs",
            request,
            1,
            lambda: decide_incremental_alteration(self.state, request),
            same,
        )

    def replaced_settings(self) -> None:
        made = AlterConfigsRequest
        kind, name, option = self._resource()
        config = made.Resource.Config(name=option, value=self.random.choice(VALUES[option]))
        configs = [config] if self.chance() else []
        resource = made.Resource(resource_type=kind, resource_name=name, configs=configs)
        request = made(resources=[resource], validate_only=False)

        def same(reply: Any, said: str) -> None:
            assert words(reply.responses) == said

        self.ask("AlterConfigs", request, 2, lambda: decide_alteration(self.state, request), same)

    def _resource(self) -> tuple[int, str, str]:
        topic = self.known_topic()
        of_topic = (2, topic.name if topic else "none")
        kind, name = self.random.choice([of_topic, (4, ""), (4, "1"), (4, "-1"), (4, "x"), (2, "")])
        options = [*VALUES] if kind == 2 else [*VALUES][:2]
        return kind, name, self.random.choice(options)

    def quotas(self) -> None:
        made = AlterClientQuotasRequest.Entry
        whose = self.random.choice(ENTITIES)
        key = self.random.choice(
            ["producer_byte_rate", "request_percentage", "connection_creation_rate", "x"]
        )
        value = self.random.choice([1.0, 1.5, 0.0, -1.0, 1e10, 1e30])
        entry = made(
            entity=[made.Entity(entity_type=kind, entity_name=name) for kind, name in whose],
            ops=[made.Operation(key=key, value=value, remove=self.chance(0.3))],
        )
        request = AlterClientQuotasRequest(entries=[entry], validate_only=False)

        def same(reply: Any, said: str) -> None:
            assert words(reply.entries) == said

        self.ask("AlterClientQuotas", request, 1, lambda: decide_quotas(self.state, request), same)
