"""What must hold in a quorum whatever happens to it; numbers as in `core.quorum.machine`."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ottla.core.quorum.leader import Leader
from ottla.core.quorum.log import OffsetAndEpoch

if TYPE_CHECKING:
    from tests.sim.memory_log import MemoryLog
    from tests.sim.quorum_world import Node


class BrokenError(AssertionError):
    """An invariant does not hold."""


@dataclass(slots=True)
class Checks:
    """Looks at a node after each of its steps, and remembers what everybody has seen."""

    leaders: dict[int, int] = field(default_factory=dict[int, int])
    """Who leads each epoch."""
    committed: dict[int, tuple[int, bytes]] = field(default_factory=dict[int, tuple[int, bytes]])
    """By its base offset, every committed batch: its end and its bytes."""
    ends: dict[int, int] = field(default_factory=dict[int, int])
    """The epoch of the committed record before each offset at which a batch ends."""
    high_watermark: int = 0
    seen: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """Epoch and high watermark of each process."""
    stored_epochs: dict[int, int] = field(default_factory=dict[int, int])

    def started(self, node: "Node") -> None:
        """A process began."""
        assert node.machine is not None
        self.seen[node.id] = (node.stored.epoch, node.machine.high_watermark)

    def stepped(self, node: "Node", nodes: list["Node"]) -> None:
        """A process took a step."""
        machine = node.machine
        assert machine is not None
        epoch, high_watermark = self.seen[node.id]
        expect("I-QRM-1", machine.epoch >= epoch and machine.epoch >= node.stored.epoch)
        expect("I-QRM-1", node.stored.epoch >= self.stored_epochs.get(node.id, 0))
        self.stored_epochs[node.id] = node.stored.epoch
        expect("I-QRM-4", machine.high_watermark >= high_watermark)
        self.seen[node.id] = (machine.epoch, machine.high_watermark)
        leader_id = machine.state.leader_id
        if leader_id is not None:
            expect("I-QRM-3", self.leaders.setdefault(machine.epoch, leader_id) == leader_id)
        self._check_start(node.log)
        if machine.high_watermark > high_watermark:
            if isinstance(machine.state, Leader):
                self._check_majority(node, nodes)
            self._check_same(node.log, machine.high_watermark)

    def _check_start(self, log: "MemoryLog") -> None:
        snapshot = log.earliest_snapshot
        has_one = snapshot is not None and snapshot.end_offset >= log.start_offset
        expect("I-QRM-8", log.start_offset == 0 or has_one)

    def _check_majority(self, node: "Node", nodes: list["Node"]) -> None:
        """The leader says that something is committed."""
        machine = node.machine
        assert machine is not None
        offset = machine.high_watermark
        below = [row for row, _ in node.log.batches if row.last_offset < offset]
        expect("I-QRM-5", bool(below) and below[-1].partition_leader_epoch == machine.epoch)
        voters = machine.history.voters
        having = [n for n in nodes if voters.has(n.key) and n.log.flushed_offset >= offset]
        expect("I-QRM-4", len(having) > len(voters) // 2)

    def _check_same(self, log: "MemoryLog", offset: int) -> None:
        """What is committed on a node is what was committed before."""
        for row, data in reversed(log.batches):
            if row.last_offset >= offset:
                continue
            known = self.committed.setdefault(row.base_offset, (row.last_offset + 1, data))
            expect("I-QRM-6", known[1] == data)
            self.ends[row.last_offset + 1] = row.partition_leader_epoch
            if row.last_offset + 1 <= self.high_watermark:
                break
        self.high_watermark = max(self.high_watermark, offset)

    def became_leader(self, node: "Node") -> None:
        """A leader has all that was ever committed."""
        log = node.log
        expect("I-QRM-5", log.end_offset >= self.high_watermark)
        for row, data in log.batches:
            known = self.committed.get(row.base_offset)
            expect("I-QRM-5", known is None or known[1] == data)

    def installed(self, node: "Node", id_: OffsetAndEpoch) -> None:
        """A node loaded a snapshot."""
        machine = node.machine
        expect("I-QRM-8", machine is not None and not isinstance(machine.state, Leader))
        expect("I-QRM-6", self.ends.get(id_.end_offset) == id_.epoch)


def expect(invariant: str, holds: bool) -> None:
    """Stop if an invariant does not hold."""
    if not holds:
        raise BrokenError(invariant)
