"""The simulated driver of a node: its events come from a world, its effects go there."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Final

from ottla.broker import effects as kinds
from ottla.broker.effects import Effect, Part
from ottla.broker.events import (
    Connected,
    Disconnected,
    Event,
    Job,
    JobEnded,
    Received,
    Stopping,
    Ticked,
)
from ottla.broker.metadata_quorum import LISTENER as QUORUM_LISTENER
from ottla.broker.node import CONTROLLER, Endpoint, Identity, Node
from ottla.broker.quorum_files import Formatting, format_metadata_directory
from ottla.core.metadata.snapshots import bootstrap_records
from ottla.core.quorum.voters import Endpoint as QuorumEndpoint
from ottla.core.quorum.voters import ReplicaKey, Voter, VoterSet
from ottla.sim.disk import SimulatedDisk
from ottla.sim.world import World
from ottla.storage.directories import open_directories
from ottla.storage.directory import Owner
from ottla.storage.meta_properties import MetaProperties
from ottla.storage.segment import Slice
from ottla.wire.fields import Uuid

LISTENER: Final = "PLAINTEXT"
FOLDER: Final = "/data"
CLUSTER_ID: Final = "simulated-cluster-id"
JOB_MS_MAX: Final = 20
_NODE_ID: Final = 1
_ROLES: Final = {
    "process.roles": "broker,controller",
    "node.id": str(_NODE_ID),
    "controller.listener.names": "CONTROLLER",
}

Deliver = Callable[[bytes | None], None]
"""Takes bytes that were sent to a peer, or None when the connection was closed."""


def format_disk(disk: SimulatedDisk) -> None:
    """Make the folder of a new node."""
    meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=_NODE_ID, directory_id=Uuid(b"d" * 16))
    key = ReplicaKey(_NODE_ID, Uuid(b"d" * 16))
    voters = VoterSet([Voter(key, (QuorumEndpoint(QUORUM_LISTENER, *CONTROLLER),))])
    formatting = Formatting(meta, [(record, 0) for record in bootstrap_records()], voters)
    format_metadata_directory(disk, FOLDER, formatting, 0)


class SimulatedNode:
    """A node that runs in a world, from its start to its stop or crash."""

    def __init__(
        self,
        world: World,
        disk: SimulatedDisk,
        settings: dict[str, str] | None = None,
        *,
        is_durable: bool = False,
    ) -> None:
        """Start it on a disk that is formatted."""
        self.world = world
        self.disk = disk
        self.is_running = True
        self.is_serving = False
        self._peers: dict[int, Deliver] = {}
        self._last_number = 0
        self._timer_ms: int | None = None
        self._stopped: Callable[[], None] | None = None
        directories = open_directories(disk, [FOLDER], Owner(_NODE_ID, CLUSTER_ID))
        identity = Identity(_NODE_ID, CLUSTER_ID, {LISTENER: Endpoint("simulated", 9092)})
        self.node = Node(
            identity,
            _ROLES | (settings or {}),
            directories,
            Random(world.chance.getrandbits(64)),
            is_durable=is_durable,
        )
        world.say("node", "start")
        self._carry_out(self.node.start(self._tick()))
        self._set_timer()

    @property
    def is_stopping(self) -> bool:
        """Was it asked to stop, and has not yet?"""
        return self.is_running and self._stopped is not None

    def connect(self, deliver: Deliver) -> int:
        """Let a peer connect; give the number of the connection."""
        self._last_number += 1
        number = self._last_number
        self._peers[number] = deliver
        self.tell(Connected(number, LISTENER, "client"))
        return number

    def receive(self, number: int, frame: bytes) -> None:
        """A frame has come, as a connection's buffer would hold it."""
        if self.is_running and number in self._peers:
            self.world.say("node", f"receive {number} {len(frame)}")
            # The node writes into the buffer, and may keep nothing of it: so it is one of its own.
            buffer = bytearray(frame)
            self.tell(Received(number, memoryview(buffer)))
            buffer[:] = bytes(len(buffer))

    def disconnect(self, number: int) -> None:
        """A peer has gone."""
        if self._peers.pop(number, None) is not None and self.is_running:
            self.tell(Disconnected(number))

    def tell(self, event: Event) -> None:
        """Tell the node of an event, and do what it wants done."""
        if not self.is_running:
            return
        self._carry_out(self.node.step(self._tick()))
        self._carry_out(self.node.step(event))
        if self.is_running:
            self._set_timer()

    def stop(self, then: Callable[[], None]) -> None:
        """End as a process does that is asked to, which takes its time."""
        self.world.say("node", "stop")
        self._stopped = then
        self.tell(Stopping())

    def end(self) -> None:
        """End at once, as a killed process does; what was written is still there."""
        self.world.say("node", "end")
        self.is_running = self.is_serving = False
        for number in sorted(self._peers):
            self._peers[number](None)
        self._peers.clear()
        self.disk.end_process()

    def _tick(self) -> Ticked:
        return Ticked(self.world.now_ms, self.world.wall_ms)

    def _set_timer(self) -> None:
        if not self.is_running:
            return
        deadline_ms = self.node.next_deadline_ms()
        if self._timer_ms is None or deadline_ms < self._timer_ms:
            self._timer_ms = deadline_ms
            self.world.after(max(0, deadline_ms - self.world.now_ms), self._wake)

    def _wake(self) -> None:
        self._timer_ms = None
        if self.is_running:
            self._carry_out(self.node.step(self._tick()))
            self._set_timer()

    def _carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case kinds.Send(number, parts):
                    self._send(number, b"".join(map(_bytes_of, parts)))
                case kinds.Close(number, reason):
                    self.world.say("node", f"close {number} {reason}")
                    deliver = self._peers.pop(number, None)
                    if deliver is not None:
                        deliver(None)
                case kinds.Run(job):
                    self.world.soon(JOB_MS_MAX, partial(self._run, job))
                case kinds.Notice(name, subject, detail):
                    self.world.say("node", f"{name} {subject} {detail}")
                case kinds.Serving():
                    self.is_serving = True
                case kinds.Stopped():
                    self.end()
                    assert self._stopped is not None, "it was asked to"
                    self._stopped()
                case kinds.Pause() | kinds.Resume():
                    # A simulated client never has as many requests under way.
                    continue

    def _run(self, job: Job) -> None:
        if not self.is_running:
            return
        fault: OSError | None = None
        try:
            job.run()
        except OSError as raised:
            fault = raised
        self.tell(JobEnded(job, fault))

    def _send(self, number: int, data: bytes) -> None:
        self.world.say("node", f"send {number} {len(data)}")
        deliver = self._peers.get(number)
        if deliver is not None:
            deliver(data)


def _bytes_of(part: Part) -> bytes:
    if isinstance(part, Slice):
        return part.file.read(part.position, part.size_bytes)
    return bytes(part)
