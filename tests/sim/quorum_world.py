"""A quorum of several replicas under faults: one heap of timed actions, one seed.

Messages are encoded and decoded as on the wire. They are lost, delayed, doubled and so reordered;
links are cut, one way or both; replicas crash, with or without their power, which takes what was
not flushed; their clocks run at different speeds; devices take their time.
"""

import hashlib
import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from ottla.api.add_raft_voter import AddRaftVoterRequest
from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.control_records import KRaftVersionRecord
from ottla.api.remove_raft_voter import RemoveRaftVoterRequest
from ottla.api.vote import VoteRequest
from ottla.core.quorum.effects import (
    Answer,
    BecameLeader,
    Effect,
    FlushLog,
    FreezeSnapshot,
    SendRequest,
    SnapshotInstalled,
    StoreElection,
)
from ottla.core.quorum.election import Election
from ottla.core.quorum.events import (
    ElectionStored,
    Event,
    LogFlushed,
    RequestReceived,
    ResponseReceived,
    SnapshotFrozen,
    Ticked,
)
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.machine import NEVER_MS, Quorum
from ottla.core.quorum.options import QuorumOptions
from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet
from ottla.storage.metadata_snapshots import SnapshotContent, write_snapshot_batches
from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message, Uuid
from tests.sim.memory_log import MemoryLog
from tests.sim.quorum_checks import Checks, expect

WALL_MS = 1_700_000_000_000


@dataclass(frozen=True)
class Faults:
    """How bad the world is; chances are per message, gaps in simulated milliseconds."""

    lost: float = 0.02
    doubled: float = 0.02
    slow: float = 0.02
    gap_ms: int = 700
    """Between one crash or cut and the next, on average; 0 is none."""
    snapshot_gap_ms: int = 900
    change_gap_ms: int = 0
    """Between requests to add or remove voters."""
    timeout_ms: int = 1000
    """Of elections; twice as much of fetches. The shorter, the more candidates at once."""
    delay_ms: int = 20
    device_ms: int = 5
    """The longest that a device takes."""
    bounced: float = 0.0
    """The chance that a voter crashes right after it answers, and is back at once."""
    auto_join: bool = False
    """Do replicas that do not vote ask to?"""
    forgets_elections: bool = False
    """Planted: `quorum-state` is lost in a crash."""


@dataclass
class Node:
    """A replica: what lasts, and the process while it runs."""

    id: int
    key: ReplicaKey
    speed: float
    log: MemoryLog = field(default_factory=MemoryLog)
    stored: Election = field(default_factory=Election)
    machine: Quorum | None = None
    life: int = 0
    """Which process of this replica it is, so that what was for an earlier one is dropped."""
    tick_ms: int = NEVER_MS


def endpoint(id_: int) -> Endpoint:
    return Endpoint("CONTROLLER", f"node{id_}", 25000 + id_)


def key(id_: int) -> ReplicaKey:
    return ReplicaKey(id_, Uuid(bytes([id_]) * 16))


class World:
    """See the module."""

    def __init__(
        self,
        seed: int,
        voters: int,
        observers: int = 0,
        kraft_version: int = 0,
        faults: Faults = Faults(),
    ) -> None:
        self.random = random.Random(seed)
        self.faults = faults
        self.kraft_version = kraft_version
        self.checks = Checks()
        self.now_ms = 0
        self.trace = hashlib.sha256()
        self.steps = 0
        self._queue: list[tuple[int, int, Callable[[], None]]] = []
        self._number = 0
        self.cut: set[tuple[int, int]] = set()
        self._tokens: dict[int, tuple[Node, int, int] | None] = {}
        self.is_calm = False
        self.endpoints: dict[int, Endpoint] = {}
        """Where replicas listen now, if not where they did at first."""
        self.voters = VoterSet(Voter(key(id_), (endpoint(id_),)) for id_ in range(1, voters + 1))
        ids = range(1, voters + observers + 1)
        self.nodes = [Node(id_, key(id_), self.random.uniform(0.9, 1.1)) for id_ in ids]
        for node in self.nodes:
            if kraft_version:
                self.format(node)
            self.start(node)
        self.later(self._gap(100), self._append)
        self.later(self._gap(faults.gap_ms), self._break)
        self.later(self._gap(faults.snapshot_gap_ms), self._snapshot)
        if faults.change_gap_ms:
            self.later(self._gap(faults.change_gap_ms), self._change)

    def format(self, node: Node) -> None:
        """Let the log begin with the first voters."""
        record = KRaftVersionRecord(version=0, kraft_version=1)
        content = SnapshotContent((), 0, WALL_MS, WALL_MS, [record, self.voters.to_record()])
        node.log.snapshots[OffsetAndEpoch(0, 0)] = b"".join(write_snapshot_batches(content))

    # Time.

    def later(self, delay_ms: int, action: Callable[[], None]) -> None:
        self._number += 1
        heapq.heappush(self._queue, (self.now_ms + max(0, delay_ms), self._number, action))

    def run(self, for_ms: int) -> None:
        end_ms = self.now_ms + for_ms
        while self._queue and self._queue[0][0] <= end_ms:
            self.now_ms, _, action = heapq.heappop(self._queue)
            action()
        self.now_ms = end_ms

    def _gap(self, mean_ms: int) -> int:
        return self.random.randrange(1, 2 * mean_ms) if mean_ms else NEVER_MS

    def _note(self, *what: object) -> None:
        self.trace.update(f"{self.now_ms} {what}\n".encode())

    # Processes.

    def start(self, node: Node) -> None:
        node.life += 1
        known = self.nodes
        options = QuorumOptions(
            key=node.key,
            cluster_id="cluster",
            listener="CONTROLLER",
            endpoints=(self.endpoints.get(node.id, endpoint(node.id)),),
            static_voters=VoterSet() if self.kraft_version else self.voters,
            bootstrap=tuple((endpoint(n.id).host, endpoint(n.id).port) for n in known if n != node),
            auto_join=self.faults.auto_join,
            election_timeout_ms=self.faults.timeout_ms,
            fetch_timeout_ms=2 * self.faults.timeout_ms,
            fetch_wait_ms=self.faults.timeout_ms // 2,
            fetch_bytes_max=500,
            snapshot_bytes_max=200,
        )
        node.machine = Quorum(options, node.log, self.random, node.stored, self._ticked(node))
        node.tick_ms = NEVER_MS
        self.checks.started(node)
        self.step(node, self._ticked(node))

    def crash(self, node: Node, *, is_power_cut: bool) -> None:
        self._note("crash", node.id, is_power_cut)
        node.life += 1
        node.machine = None
        if is_power_cut:
            node.log = node.log.crashed()
        else:
            node.log.parts = {}
            node.log.restart_at_snapshot()
        if self.faults.forgets_elections:
            node.stored = Election()
            self.checks.stored_epochs[node.id] = 0

    def _ticked(self, node: Node) -> Ticked:
        return Ticked(int(self.now_ms * node.speed), WALL_MS + self.now_ms)

    def step(self, node: Node, event: Event) -> None:
        machine = node.machine
        assert machine is not None
        effects = [] if isinstance(event, Ticked) else machine.step(self._ticked(node))
        effects += machine.step(event)
        self.steps += 1
        self._note(
            node.id, type(event).__name__, machine.state.name, machine.epoch, node.log.end_offset
        )
        self.do(node, effects)
        self.checks.stepped(node, self.nodes)
        self._schedule(node, machine)
        is_vote = isinstance(event, RequestReceived) and isinstance(event.request, VoteRequest)
        if is_vote and not self.is_calm and self.random.random() < self.faults.bounced:
            self.later(self.random.randrange(5), self._alive(node, lambda: self._bounce(node)))

    def _bounce(self, node: Node) -> None:
        self.crash(node, is_power_cut=True)
        self.start(node)

    def _schedule(self, node: Node, machine: Quorum) -> None:
        deadline_ms = machine.next_deadline_ms()
        if deadline_ms == NEVER_MS:
            return
        expect("I-QRM-10", deadline_ms > machine.now_ms)
        at_ms = max(self.now_ms + 1, int(deadline_ms / node.speed) + 1)
        if at_ms < node.tick_ms:
            node.tick_ms = at_ms
            self.later(at_ms - self.now_ms, self._alive(node, lambda: self._tick(node)))

    def _tick(self, node: Node) -> None:
        node.tick_ms = NEVER_MS
        self.step(node, self._ticked(node))

    def _alive(self, node: Node, action: Callable[[], None]) -> Callable[[], None]:
        """What is for this process only."""
        life = node.life
        return lambda: action() if node.life == life else None

    # Effects.

    def do(self, node: Node, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case SendRequest():
                    self._send(node, effect)
                case StoreElection():
                    self._on_device(node, lambda e=effect: self._store(node, e))
                case FlushLog():
                    end_offset = node.log.end_offset
                    self._on_device(node, lambda e=end_offset: self._flush(node, e))
                case FreezeSnapshot():
                    self._on_device(node, lambda e=effect: self._freeze(node, e.id))
                case Answer():
                    answer_to = self._tokens.pop(effect.token)
                    if answer_to is not None:
                        self._answer(node, effect.response, answer_to)
                case BecameLeader():
                    self.checks.became_leader(node)
                case SnapshotInstalled():
                    self.checks.installed(node, effect.id)
                case _:
                    self._note(node.id, type(effect).__name__)

    def _on_device(self, node: Node, action: Callable[[], None]) -> None:
        self.later(self.random.randrange(self.faults.device_ms + 1), self._alive(node, action))

    def _store(self, node: Node, effect: StoreElection) -> None:
        node.stored = effect.election
        self.step(node, ElectionStored())

    def _flush(self, node: Node, end_offset: int) -> None:
        node.log.flushed_offset = max(node.log.flushed_offset, end_offset)
        self.step(node, LogFlushed())

    def _freeze(self, node: Node, id_: OffsetAndEpoch) -> None:
        node.log.freeze(id_)
        self.step(node, SnapshotFrozen(id_))

    # Network.

    def _node_at(self, host: str) -> Node:
        return self.nodes[int(host.removeprefix("node")) - 1]

    def _delays(self) -> list[int]:
        """When a message arrives: never, once or more often."""
        if self.is_calm:
            return [self.random.randrange(1, 10)]
        if self.random.random() < self.faults.lost:
            return []
        count = 2 if self.random.random() < self.faults.doubled else 1
        slow = self.random.random() < self.faults.slow
        return [
            self.random.randrange(1, 1500 if slow else self.faults.delay_ms) for _ in range(count)
        ]

    def _send(self, node: Node, effect: SendRequest) -> None:
        to = self._node_at(effect.to.host)
        cls, version = type(effect.request), effect.request.versions.last
        data = encode(effect.request, version)
        answer_to = (node, node.life, effect.correlation)
        for delay_ms in self._delays():
            self.later(delay_ms, lambda: self._receive(to, decode(cls, data, version), answer_to))

    def _receive(self, to: Node, request: Message, answer_to: tuple[Node, int, int]) -> None:
        sender = answer_to[0]
        if to.machine is None or (sender.id, to.id) in self.cut:
            return
        if isinstance(request, ApiVersionsRequest):
            feature = ApiVersionsResponse.SupportedFeature(
                name="kraft.version", min_version=0, max_version=1
            )
            answer = ApiVersionsResponse(error_code=0, api_keys=[], supported_features=[feature])
            self._answer(to, answer, answer_to)
            return
        self._number += 1
        self._tokens[self._number] = answer_to
        self.step(to, RequestReceived(self._number, request.versions.last, request))

    def _answer(self, node: Node, response: Message, answer_to: tuple[Node, int, int]) -> None:
        to, life, correlation = answer_to
        cls, version = type(response), response.versions.last
        data = encode(response, version)
        for delay_ms in self._delays():
            self.later(
                delay_ms,
                lambda: self._respond(
                    node, to, life, ResponseReceived(correlation, decode(cls, data, version))
                ),
            )

    def _respond(self, sender: Node, to: Node, life: int, event: ResponseReceived) -> None:
        if to.machine is not None and to.life == life and (sender.id, to.id) not in self.cut:
            self.step(to, event)

    # What happens to them.

    def leader(self) -> Node | None:
        """A replica that may append, the one of the newest epoch."""
        leading = [node for node in self.nodes if node.machine and node.machine.is_leader]
        return max(
            leading, key=lambda node: node.machine.epoch if node.machine else 0, default=None
        )

    def _append(self) -> None:
        """A record, or some, at whoever thinks that it leads."""
        self.later(self._gap(100), self._append)
        for node in self.nodes:
            machine = node.machine
            if machine is None or not machine.is_leader:
                continue
            values = [
                b"%d" % self.random.randrange(1 << 30) for _ in range(self.random.choice((1, 1, 5)))
            ]
            appended = machine.append(machine.epoch, values)
            assert appended is not None
            self.do(node, appended.effects)
            self.checks.stepped(node, self.nodes)

    def _break(self) -> None:
        """A crash, a start, links cut, or all links whole again."""
        self.later(self._gap(self.faults.gap_ms), self._break)
        if self.is_calm:
            return
        node = self.random.choice(self.nodes)
        match self.random.choice(
            ("crash", "crash", "start", "start", "cut", "one way", "heal", "heal")
        ):
            case "crash" if node.machine is not None:
                self.crash(node, is_power_cut=self.random.random() < 0.7)
            case "start" if node.machine is None:
                self.start(node)
            case "cut":
                self.isolate(node)
            case "one way":
                self.cut.add((node.id, self.random.choice(self.nodes).id))
            case "heal":
                self._note("heal")
                self.cut.clear()
            case _:
                pass

    def isolate(self, node: Node) -> None:
        self._note("cut", node.id)
        for other in self.nodes:
            self.cut |= {(node.id, other.id), (other.id, node.id)}

    def heal(self) -> None:
        """Let everybody run and hear each other from now on."""
        self._note("calm")
        self.is_calm = True
        self.cut.clear()
        for node in self.nodes:
            if node.machine is None:
                self.start(node)

    def _snapshot(self) -> None:
        """A snapshot of what is committed somewhere, and sometimes the log begins there."""
        self.later(self._gap(self.faults.snapshot_gap_ms), self._snapshot)
        node = self.random.choice(self.nodes)
        machine = node.machine
        if machine is None:
            return
        below = [row for row, _ in node.log.batches if row.last_offset < machine.high_watermark]
        if not below:
            return
        id_ = OffsetAndEpoch(below[-1].last_offset + 1, below[-1].partition_leader_epoch)
        version, voters = machine.history.at(id_.end_offset)
        record = KRaftVersionRecord(version=0, kraft_version=version)
        control = [record, voters.to_record()] if version else []
        content = SnapshotContent([b"x" * 300], id_.epoch, WALL_MS, WALL_MS, control)
        node.log.snapshots[id_] = b"".join(write_snapshot_batches(content))
        # What is in a snapshot is on the device as far as anybody can tell.
        if self.random.random() < 0.7 and id_.end_offset <= node.log.flushed_offset:
            node.log.keep_from(id_)
        self._note("snapshot", node.id, id_)

    def _change(self) -> None:
        """Ask whoever leads to add or remove a voter."""
        self.later(self._gap(self.faults.change_gap_ms), self._change)
        leader, node = self.leader(), self.random.choice(self.nodes)
        if self.is_calm or leader is None or leader.machine is None:
            return
        voters = leader.machine.history.voters
        request: Message
        if voters.has(node.key):
            if len(voters) < 3:
                return
            request = RemoveRaftVoterRequest(
                cluster_id=None, voter_id=node.id, voter_directory_id=node.key.directory_id
            )
        else:
            at = endpoint(node.id)
            listener = AddRaftVoterRequest.Listener(name=at.name, host=at.host, port=at.port)
            request = AddRaftVoterRequest(
                cluster_id=None,
                timeout_ms=1000,
                voter_id=node.id,
                voter_directory_id=node.key.directory_id,
                listeners=[listener],
                ack_when_committed=self.random.random() < 0.5,
            )
        self._number += 1
        self._tokens[self._number] = None
        self.step(leader, RequestReceived(self._number, request.versions.last, request))
