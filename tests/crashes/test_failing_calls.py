"""Every call of every operation fails once or from then on: nothing wrong is read, nothing is lost.

The n-th call fails for n = 1, 2, ... until the operation ends without having met the fault.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from errno import EIO, EMFILE, ENOSPC
from typing import Final

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault, Operation, WritesShort
from ottla.storage.directory_faults import DirectoryRefused
from ottla.storage.log import UnfinishedCut
from ottla.storage.watched_disk import DirectoryOffline
from tests.crashes.explorer import begun, unread
from tests.crashes.node import OPTIONS, Node, with_room
from tests.crashes.operations import OPERATIONS, Start, World
from tests.crashes.written import Line, see, why_none

IMAGES_MAX: Final = 6
RESTARTING: Final = frozenset({"kill", "stop", "move"})
"""After these the log is closed, so a node that failed within them has to start anew."""
CUTS: Final = frozenset({"truncate", "reset"})
FAULTS: Final = {
    "EIO": (Fault(Fails(EIO)),),
    "EIO for ever": (Fault(Fails(EIO), count=None),),
    "ENOSPC": (Fault(Fails(ENOSPC)),),
    "ENOSPC for ever": (Fault(Fails(ENOSPC), count=None),),
    "EMFILE": (Fault(Fails(EMFILE), Operation.OPEN),),
    "short write": (Fault(WritesShort(7), Operation.WRITE),),
    "torn write": (
        Fault(WritesShort(100), Operation.WRITE),
        Fault(Fails(ENOSPC), Operation.WRITE, first=2, count=None),
    ),
}
BEGUN: Final = (
    Start("dirty", ("write", "roll", "append", "roll", "abort")),
    Start("in transaction", ("write", "roll", "append", "flush", "checkpoint", "write")),
    Start("preallocated", ("append",), with_room(OPTIONS, 1024)),
)


@dataclass
class Attempt:
    """One operation in which one call fails."""

    world: World
    name: str
    calls: list[str]
    error: OSError | DirectoryRefused | None = None

    @property
    def fired(self) -> str | None:
        """The call that failed, if any did."""
        return next((call for call in self.calls if ": E" in call or "WritesShort" in call), None)

    @property
    def is_offline(self) -> bool:
        """Has a directory been given up?"""
        return bool(self.world.node.directories.offline)


def attempted(start: Start, name: str, faults: Sequence[Fault], first: int) -> Attempt:
    calls: list[str] = []
    attempt = Attempt(begun(start, calls.append), name, calls)
    calls.clear()
    for fault in faults:
        attempt.world.disk.inject(replace(fault, first=fault.first + first - 1))
    try:
        attempt.world.run(name)
    except (OSError, DirectoryRefused) as error:
        attempt.error = error
    attempt.world.disk.heal()
    return attempt


def check(attempt: Attempt) -> None:
    """Whatever comes next, the log is what it may be."""
    world, disk, fired = attempt.world, attempt.world.disk, attempt.fired
    assert fired is not None
    if attempt.error is None:
        assert not world.others
    elif fired.split()[0] in {"sync", "sync-folder"} and attempt.name not in {"kill", "stop"}:
        assert attempt.is_offline, "a sync that failed is final"
    for image in disk.crash_images(CrashModel.ORDERED, IMAGES_MAX, unread=unread):
        check_start(image, world)
    if not attempt.is_offline and attempt.name not in RESTARTING:
        check_going_on(attempt)
    elif attempt.is_offline and attempt.error is not None:
        check_offline(world)
    disk.end_process()
    disk.set_capacity(0)
    check_start(disk, world)
    disk.set_capacity(None)
    check_start(disk, world)


def check_start(disk: SimulatedDisk, world: World) -> None:
    """A start works, and finds what it may."""
    disk.end_process()
    seen = see(Node(disk, world.options).log)
    assert not (why := why_none(world.lines, seen)), why


def check_offline(world: World) -> None:
    """A directory that was given up gives nothing more, right or wrong."""
    if not world.node.placed.directory.is_live:
        with pytest.raises(DirectoryOffline):
            world.node.placed.directory.disk.names("/")


def check_going_on(attempt: Attempt) -> None:
    """The same process can go on: nothing is wrong or missing, and it can be done again."""
    world = attempt.world
    if attempt.error is None:
        assert not (why := world.line.why_not(see(world.node.log))), why
    elif attempt.name in CUTS:
        with suppress(UnfinishedCut):
            world.node.log.flush(0)
        world.run(attempt.name)
    else:
        before, line = see(world.node.log), world.line
        assert not (why := line.why_not(before)), why
        kept = tuple(one for one in line.batches if one.row.last_offset < before.end)
        world.line = Line(kept, line.start_min, line.start_max, line.sure, before.end)
    for name in ("append", "flush"):
        world.run(name)
    seen = see(world.node.log)
    assert not (why := why_none(world.lines, seen)), why
    for image in world.disk.crash_images(CrashModel.ORDERED, IMAGES_MAX, unread=unread):
        check_start(image, world)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("fault", FAULTS)
def test_any_call_may_fail(name: str, fault: str) -> None:
    for start in BEGUN if name not in RESTARTING else BEGUN[:1]:
        first = 1
        while True:
            attempt = attempted(start, name, FAULTS[fault], first)
            if attempt.fired is None:
                assert attempt.error is None
                break
            try:
                check(attempt)
            except Exception as failure:
                failure.add_note(
                    f"{start.name} | {name}: {attempt.fired}, call {first}: {attempt.error!r}"
                )
                raise
            first += 1
