"""What is done to a log in the crash tests: a table of operations, and what each of them promises.

An operation says before it begins which lines there may be while it runs, and after it has returned
which one there is. To have another one explored, add its row to `OPERATIONS`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from ottla.records.builder import BatchOptions, write_batch
from ottla.records.control import write_end_marker
from ottla.records.scan import scan
from ottla.sim.disk import SimulatedDisk
from ottla.storage.log_options import LogOptions
from tests.crashes.node import OPTIONS, Node, with_room
from tests.crashes.written import Batch, Line
from tests.unit.records.samples import T

PLAIN: Final = 1
TRANSACTIONAL: Final = 2
VALUE_BYTES: Final = 90
"""So that two records make a batch of some 290 bytes: about every second one crosses a sector."""


@dataclass(frozen=True, slots=True)
class Start:
    """A state from which operations are explored: what was done before, and how."""

    name: str
    begun: tuple[str, ...] = ()
    options: LogOptions = OPTIONS
    epoch: int = 1
    """Of the first leader; -1 if batches say none, as those of old producers."""


STARTS: Final = (
    Start("empty"),
    Start("settled", ("write", "roll", "abort", "append", "flush", "checkpoint")),
    Start("killed", ("append", "roll", "write", "flush", "kill")),
    Start("no epochs", (), epoch=-1),
    Start("preallocated", ("append",), with_room(OPTIONS, 1024)),
)


class World:
    """A node on a disk, and what was done with it."""

    def __init__(self, disk: SimulatedDisk, start: "Start") -> None:
        self.disk = disk
        self.options = start.options
        self.node = Node(disk, start.options)
        self.line = Line()
        self.others: tuple[Line, ...] = ()
        """What the log may be beside `line` as long as an operation runs."""
        self.epoch = start.epoch
        self._sequences = {PLAIN: 0, TRANSACTIONAL: 0}
        self._count = 0
        self.in_transaction = False

    @property
    def lines(self) -> tuple[Line, ...]:
        """All that the log may be now."""
        return (self.line, *self.others)

    def run(self, name: str) -> None:
        """Do one operation."""
        OPERATIONS[name](self)
        self.others = ()

    def batch(self, offset: int, producer: int) -> Batch:
        """Two new records."""
        self._count += 1
        options = BatchOptions(
            base_offset=offset,
            partition_leader_epoch=self.epoch,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=self._sequences[producer],
            is_transactional=producer == TRANSACTIONAL,
        )
        self._sequences[producer] += 2
        value = b"%d." % self._count
        value = (value * VALUE_BYTES)[:VALUE_BYTES]
        rows = [(offset + at, T + self._count, b"key-%d" % at, value, ()) for at in range(2)]
        data = bytes(write_batch(rows, options))
        return Batch(data, scan(data).rows[0])

    def marker(self, offset: int) -> Batch:
        """The end of the open transaction: it is aborted."""
        self._count += 1
        data = bytes(
            write_end_marker(
                is_commit=False,
                producer=(TRANSACTIONAL, 0),
                coordinator_epoch=3,
                timestamp=T + self._count,
                partition_leader_epoch=self.epoch,
                base_offset=offset,
            )
        )
        return Batch(data, scan(data).rows[0])

    def append(self, batches: Iterable[Batch]) -> None:
        """Append in one group."""
        new = tuple(batches)
        self.line = replace(
            self.line, batches=self.line.batches + new, end=new[-1].row.last_offset + 1
        )
        self.node.append([(one.data, [one.row]) for one in new])

    def next_leader(self) -> None:
        """Whoever cuts a log does it for another leader, whose producers begin anew."""
        if self.epoch >= 0:
            self.epoch += 1
        self.in_transaction = any(
            one.current_txn_first_offset >= 0 for one in self.node.log.history.producers()
        )


def append(world: World) -> None:
    world.append([world.batch(world.line.end, PLAIN)])


def write(world: World) -> None:
    """Two batches at once, of which the second begins a transaction or goes on with it."""
    first = world.batch(world.line.end, PLAIN)
    world.in_transaction = True
    world.append([first, world.batch(world.line.end + 2, TRANSACTIONAL)])


def abort(world: World) -> None:
    """Abort the transaction; if there is none, one of a single batch."""
    offset = world.line.end
    batches = [] if world.in_transaction else [world.batch(offset, TRANSACTIONAL)]
    batches.append(world.marker(offset + 2 * len(batches)))
    world.in_transaction = False
    world.append(batches)


def roll(world: World) -> None:
    world.node.log.roll(T)


def flush(world: World) -> None:
    world.node.log.flush(T)
    world.node.high_watermark = world.line.end
    world.line = replace(world.line, sure=world.line.end)


def commit(world: World) -> None:
    """Bring the batches alone to the device, as a durable node does before it answers."""
    world.node.commit()
    world.node.high_watermark = world.line.end
    world.line = replace(world.line, sure=world.line.end)


def checkpoint(world: World) -> None:
    world.node.checkpoint()
    world.line = replace(world.line, start_min=world.line.start_max)


def truncate(world: World) -> None:
    """Cut within the last batch but one; both go."""
    old = world.line
    present = [one for one in old.batches if one.row.last_offset >= old.start_min]
    if not present:
        return
    cut = present[-2:][0].row.base_offset
    kept = tuple(one for one in old.batches if one.row.base_offset < cut)
    sure = min(old.sure, cut)
    start_min = min(old.start_min, cut)
    world.line = replace(old, sure=sure, start_min=start_min)
    world.node.high_watermark = min(world.node.high_watermark, cut)
    # Whatever lies before the first segment is no batch any more, and its middle an offset as any.
    offset = present[-2:][0].row.last_offset
    is_gone = offset < world.node.log.segments.first.base_offset
    if is_gone:
        world.others = (Line((), offset, offset, offset, offset),)
    world.node.truncate(offset)
    if is_gone:
        world.line = world.others[0]
    else:
        world.line = Line(kept, start_min, world.node.log.log_start_offset, sure, cut)
    world.next_leader()


def delete_old(world: World) -> None:
    _delete_old(world, all_expired=False)


def expire(world: World) -> None:
    _delete_old(world, all_expired=True)


def _delete_old(world: World, *, all_expired: bool) -> None:
    world.line = replace(world.line, start_max=world.line.end)
    world.node.delete_old(all_expired=all_expired)
    world.line = replace(world.line, start_max=world.node.log.log_start_offset)


def delete_records(world: World) -> None:
    """Let the log begin within the first batch that a reader sees."""
    offset = min(world.line.start_max + 1, world.line.end)
    world.line = replace(world.line, start_max=offset)
    world.node.log.move_log_start(offset)


def reset(world: World) -> None:
    """Begin anew behind the end, as a follower does whose leader has none of this any more."""
    offset = world.line.end + 5
    new = Line((), offset, offset, offset, offset)
    world.line = replace(world.line, sure=0)
    world.others = (new,)
    world.node.high_watermark = 0
    world.node.reset(offset)
    world.line = new
    world.next_leader()


def move(world: World) -> None:
    world.node.move()
    world.line = replace(world.line, sure=world.line.end, start_min=world.line.start_max)


def kill(world: World) -> None:
    """End the process, but not the disk, and start again."""
    world.disk.end_process()
    world.node = Node(world.disk, world.options)
    world.line = replace(world.line, start_max=world.node.log.log_start_offset)


def stop(world: World) -> None:
    """Stop cleanly, and start again."""
    world.node.stop()
    world.line = replace(world.line, sure=world.line.end, start_min=world.line.start_max)
    world.disk.end_process()
    world.node = Node(world.disk, world.options)


OPERATIONS: Final[dict[str, Callable[[World], None]]] = {
    "append": append,
    "write": write,
    "abort": abort,
    "roll": roll,
    "flush": flush,
    "commit": commit,
    "checkpoint": checkpoint,
    "truncate": truncate,
    "delete_old": delete_old,
    "expire": expire,
    "delete_records": delete_records,
    "reset": reset,
    "move": move,
    "kill": kill,
    "stop": stop,
}
