"""The scenarios of the controller: brokers that come and go, and what becomes of one topic."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ottla.api.alter_partition import AlterPartitionRequest
from ottla.api.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from ottla.api.broker_heartbeat import BrokerHeartbeatRequest
from ottla.api.broker_registration import BrokerRegistrationRequest
from ottla.api.create_topics import CreateTopicsRequest
from ottla.api.elect_leaders import ElectLeadersRequest
from ottla.api.metadata_records import ConfigRecord
from ottla.config.known import KNOWN
from ottla.core.controller.brokers import decide_registration, fence_silent
from ottla.core.controller.elections import balance, decide_elections, elect_unclean
from ottla.core.controller.heartbeats import HeartbeatReply, decide_heartbeat
from ottla.core.controller.partitions import decide_partition_alteration
from ottla.core.controller.reassignments import decide_reassignments
from ottla.core.controller.sessions import Sessions
from ottla.core.controller.state import Refusal, State
from ottla.core.controller.topic_creation import decide_creation
from ottla.core.metadata.features import SUPPORTED
from ottla.core.metadata.image import Image
from ottla.core.metadata.partition import Partition
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.errors import ErrorCode
from ottla.wire.fields import Message, Uuid
from tests.scenarios.runner import run

HERE = Path(__file__).parent / "controller"
STATIC = {"process.roles": "controller", "node.id": "0", "controller.listener.names": "C"}
NAME = "orders"


class Settled:
    """Chance that always draws the lowest."""

    def randrange(self, stop: int, /) -> int:
        return stop - stop

    def randbytes(self, n: int, /) -> bytes:
        return bytes(range(n))


class ControllerStory:
    """Plays commands on a controller; each broker is known by its number, the topic is one."""

    def __init__(self) -> None:
        self.image = Image()
        self.state = State(self.image, KNOWN, STATIC, cluster_id="c")
        self.sessions = Sessions(timeout_ms=9000)
        self.now_ms = self.end = 0
        self._append(bootstrap_records())

    def __call__(self, verb: str, numbers: dict[str, int]) -> list[str]:
        said: list[str] | None = getattr(self, verb)(**numbers)
        return self.partitions() if said is None else said

    def register(self, broker: int, incarnation: int = 1, previous: int = -1) -> list[str]:
        made = BrokerRegistrationRequest
        request = made(
            broker_id=broker,
            cluster_id="c",
            incarnation_id=Uuid(bytes([incarnation]) * 16),
            listeners=[],
            features=[
                made.Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in SUPPORTED.items()
            ],
            rack=None,
            log_dirs=[Uuid(bytes([100 + broker]) * 16)],
            previous_broker_epoch=previous,
        )
        decision = decide_registration(
            self.state, self.sessions, request, epoch=self.end, now_ms=self.now_ms
        )
        self._append(decision.records)
        if isinstance(decision.reply, Refusal):
            return [decision.reply.error.name]
        self.sessions.note_registration(broker, self.end - 1)
        return [f"epoch {decision.reply.broker_epoch}", *self.partitions()]

    def heartbeat(self, broker: int, behind: int = 0, fence: int = 0, stop: int = 0) -> list[str]:
        request = BrokerHeartbeatRequest(
            broker_id=broker,
            broker_epoch=self.image.cluster.brokers[broker].epoch,
            current_metadata_offset=self.end - 1 - behind,
            want_fence=fence != 0,
            want_shut_down=stop != 0,
        )
        decision = decide_heartbeat(self.state, self.sessions, request, self.now_ms)
        self._append(decision.records)
        assert isinstance(decision.reply, HeartbeatReply)
        if decision.reply.is_shutting_down:
            self.sessions.note_shutdown(broker, self.end - 1)
        one = decision.reply.response
        flags = {
            "caught-up": one.is_caught_up,
            "fenced": one.is_fenced,
            "stop": one.should_shut_down,
        }
        said = " ".join(name for name, is_set in flags.items() if is_set)
        return [said or "serves on", *(self.partitions() if decision.records else [])]

    def brokers(self, count: int) -> list[str]:
        for broker in range(1, count + 1):
            self.register(broker)
            self.heartbeat(broker)
        return [" ".join(str(one) for one in self.image.cluster.brokers)]

    def topic(self, partitions: int = 1, replicas: int = 3) -> None:
        wanted = CreateTopicsRequest.Topic(
            name=NAME,
            num_partitions=partitions,
            replication_factor=replicas,
            assignments=[],
            configs=[],
        )
        request = CreateTopicsRequest(topics=[wanted])
        self._append(decide_creation(self.state, request, Settled()).records)

    def least(self, replicas: int) -> list[str]:
        self._set("min.insync.replicas", str(replicas))
        return []

    def unclean(self, allowed: int) -> list[str]:
        self._set("unclean.leader.election.enable", "true" if allowed else "false")
        return []

    def time(self, ms: int) -> None:
        self.now_ms += ms
        while records := fence_silent(self.state, self.sessions, self.now_ms):
            self._append(records)

    def isr(self, leader: int, among: int, partition: int = 0) -> list[str]:
        present = self._partition(partition)
        made = AlterPartitionRequest
        states = [made.Topic.Partition.BrokerState(broker_id=int(digit)) for digit in str(among)]
        wanted = made.Topic.Partition(
            partition_index=partition,
            leader_epoch=present.leader_epoch,
            partition_epoch=present.partition_epoch,
            new_isr_with_epochs=states,
        )
        topic = self.image.topics.by_name[NAME]
        request = made(
            broker_id=leader,
            broker_epoch=self.image.cluster.brokers[leader].epoch,
            topics=[made.Topic(topic_id=topic.id, partitions=[wanted])],
        )
        decision = decide_partition_alteration(self.state, request)
        self._append(decision.records)
        assert not isinstance(decision.reply, Refusal)
        code = decision.reply.topics[0].partitions[0].error_code
        refused = [ErrorCode.of(code).name] if code and not decision.records else []
        return refused or self.partitions()

    def elect(self, unclean: int = 0) -> list[str]:
        request = ElectLeadersRequest(election_type=unclean, topic_partitions=None)
        decision = decide_elections(self.state, request)
        self._append(decision.records)
        assert not isinstance(decision.reply, Refusal)
        results = decision.reply.replica_election_results
        codes = [one.error_code for topic in results for one in topic.partition_result]
        names = [ErrorCode.of(code).name for code in codes if code]
        return [*(names or ["elected"]), *self.partitions()]

    def balance(self) -> None:
        self._append(balance(self.state))

    def rescue(self) -> None:
        self._append(elect_unclean(self.state))

    def reassign(self, to: int = 0, partition: int = 0) -> list[str]:
        made = AlterPartitionReassignmentsRequest
        replicas = [int(digit) for digit in str(to)] if to else None
        wanted = made.Topic.Partition(partition_index=partition, replicas=replicas)
        request = made(topics=[made.Topic(name=NAME, partitions=[wanted])])
        decision = decide_reassignments(self.state, request)
        self._append(decision.records)
        code = decision.reply.responses[0].partitions[0].error_code
        return [ErrorCode.of(code).name] if code else self.partitions()

    def partitions(self) -> list[str]:
        topic = self.image.topics.by_name.get(NAME)
        found = topic.partitions if topic else {}
        return [f"{number}: {shown(one)}" for number, one in found.items()]

    def _partition(self, number: int) -> Partition:
        return self.image.topics.by_name[NAME].partitions[number]

    def _set(self, name: str, value: str) -> None:
        record = ConfigRecord(resource_type=2, resource_name=NAME, name=name, value=value)
        self._append([record])

    def _append(self, records: Sequence[Message]) -> None:
        for record in records:
            self.image.replay(record)
            self.end += 1


def shown(one: Partition) -> str:
    """A partition in a line; what is not worth a word is left out."""
    parts = [
        f"leader {one.leader} epoch {one.leader_epoch}",
        f"isr {listed(one.isr)} of {listed(one.replicas)}",
        f"elr {listed(one.elr)}" if one.elr else "",
        f"last {listed(one.last_known_elr)}" if one.last_known_elr else "",
        f"adding {listed(one.adding)}" if one.adding else "",
        f"removing {listed(one.removing)}" if one.removing else "",
        "recovering" if one.leader_recovery_state else "",
    ]
    return ", ".join(part for part in parts if part)


def listed(brokers: tuple[int, ...]) -> str:
    """Brokers in their order."""
    return "".join(map(str, brokers)) or "none"


@pytest.mark.parametrize("path", sorted(HERE.glob("*.txt")), ids=lambda path: path.stem)
def test_controller(path: Path) -> None:
    run(path, ControllerStory())
