"""Runs of one node in a world with faults, each had again by its seed."""

from typing import Final

from ottla.sim.client import SimulatedClient, create_topic, start_serving
from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation, WritesShort
from ottla.sim.node import SimulatedNode, format_disk
from ottla.sim.workload import (
    Consuming,
    Producing,
    Promises,
    check_all_read,
    watch_patience,
)
from ottla.sim.world import World

TOPIC: Final = "orders"
RUN_MS: Final = 3000
NO_ROOM: Final = 28


class Run:
    """Two producers and a consumer with a node that is killed, stopped, and cut off from power."""

    def __init__(self, seed: int, *, is_durable: bool = False, keeps_trace: bool = False) -> None:
        """A durable node loses nothing that was committed even to a power cut out of the blue."""
        self.is_durable = is_durable
        self.world = World(seed, keeps_trace=keeps_trace)
        self.disk = self._new_disk()
        format_disk(self.disk)
        settings = {"log.segment.bytes": str(1 << 20), "log.index.interval.bytes": "64"}
        self.settings = settings
        self.node = SimulatedNode(self.world, self.disk, settings, is_durable=is_durable)
        start_serving(self.node)
        create_topic(self.node, TOPIC, 1, {"segment.bytes": str(1 << 20)})
        self.promises = Promises()
        clients = [SimulatedClient(self.world, f"client{n}", lambda: self.node) for n in range(3)]
        self.clients = clients
        self.producing = [
            Producing(one, TOPIC, self.promises, (-1,) if is_durable else (-1, 1))
            for one in clients[:2]
        ]
        self.consuming = Consuming(clients[2], TOPIC, self.promises)

    def run(self) -> None:
        """Run to the end, and see whether all promises are kept."""
        world = self.world
        for one in self.producing:
            one.start(30, RUN_MS)
        self.consuming.start(RUN_MS + 1000)
        watch_patience(world, self.clients, RUN_MS + 1000)
        for _ in range(4):
            world.soon(RUN_MS, self._trouble)
        world.run(RUN_MS)
        self.disk.heal()
        world.run(RUN_MS + 200)
        self._restart(with_power_cut=True)
        world.run(RUN_MS + 1000)
        check_all_read(self.consuming, self.promises)

    def _trouble(self) -> None:
        if not self.node.is_running or self.node.is_stopping:
            return
        match self.world.chance.randrange(5):
            case 0:
                self._kill()
            case 1:
                self._restart(with_power_cut=self.world.chance.random() < 0.5)
            case 2:
                self._inject(Fault(Fails(NO_ROOM), Operation.WRITE, "*.log", count=3))
            case 3:
                self._inject(Fault(WritesShort(), Operation.WRITE, "*.log", count=3))
            case _:
                self.world.chance.choice(self.clients).cut()

    def _inject(self, fault: Fault) -> None:
        self.world.say("disk", str(fault.outcome))
        self.disk.inject(fault)

    def _kill(self) -> None:
        self.node.end()
        if self.is_durable:
            self._cut_power()
        self._start()

    def _restart(self, *, with_power_cut: bool) -> None:
        """Stop cleanly, after which not even a power cut may take anything away."""
        self.disk.heal()

        def start() -> None:
            if with_power_cut:
                self._cut_power()
            self._start()

        self.node.stop(start)

    def _cut_power(self) -> None:
        self.world.say("disk", "power cut")
        self.disk = self.disk.crash(self.world.chance, CrashModel.POSIX)

    def _start(self) -> None:
        self.disk.heal()
        self.node = SimulatedNode(self.world, self.disk, self.settings, is_durable=self.is_durable)

    def _new_disk(self) -> SimulatedDisk:
        return SimulatedDisk(lambda: self.world.wall_ms, self.world.chance)
