"""What the crash tests are for: a step that makes the log safe is left out, and that is noticed."""

from collections.abc import Callable
from errno import ENOSPC
from typing import Final

import pytest

from ottla.ports import Disk
from ottla.sim.crash import CrashModel
from ottla.sim.faults import Fails, Fault, Operation, WritesShort
from ottla.storage import directories, recovery, segment, small_files
from ottla.storage.directories import Placed, Swapped
from ottla.storage.directory_faults import DirectoryRefused
from ottla.storage.entries import EntryFile
from ottla.storage.log import Log
from ottla.storage.partition_files import Removal
from ottla.storage.segment import Segment
from ottla.storage.writes import write_all
from tests.crashes import node
from tests.crashes.explorer import Explorer, begun
from tests.crashes.node import Node
from tests.crashes.operations import PLAIN, Start
from tests.crashes.written import see

EMPTY: Final = Start("empty")
TWO: Final = Start("two segments", ("append", "roll", "append", "flush"))
IN_TRANSACTION: Final = Start("in transaction", ("write", "flush", "checkpoint"), epoch=-1)
OLD_FORMAT: Final = Start("no epochs", epoch=-1)

Patch: Final = pytest.MonkeyPatch


def no_gap_is_seen(patch: Patch) -> None:
    patch.setattr(recovery._Opener, "_is_gap", lambda *_: False)


def segments_leave_unsynced(patch: Patch) -> None:
    def retire(log: Log, gone: Segment) -> Removal:
        log.segments = log.segments.without([gone])
        return log.files.retire([gone])

    patch.setattr(Log, "_retire", retire)


def recovered_bytes_count_as_synced(patch: Patch) -> None:
    recover = Segment.recover

    def recovering(one: Segment, *args: object, **named: object) -> object:
        found = recover(one, *args, **named)
        one._is_synced = True
        return found

    patch.setattr(Segment, "recover", recovering)


def a_cut_is_not_synced(patch: Patch) -> None:
    patch.setattr(Segment, "sync", lambda _: None)


def new_segments_are_not_named(patch: Patch) -> None:
    plan = Log.plan_flush

    def planning(log: Log) -> object:
        log._has_new_names = False
        return plan(log)

    patch.setattr(Log, "plan_flush", planning)


def small_files_are_not_synced(patch: Patch) -> None:
    def write(disk: Disk, path: str, content: bytes) -> None:
        file = disk.open(path, create=True)
        file.truncate(0)
        file.write([content], 0)
        file.close()

    patch.setattr(small_files, "_write", write)


def transaction_indexes_are_not_named(patch: Patch) -> None:
    leave = EntryFile.write

    def write(one: EntryFile) -> None:
        leave(one)
        one.has_new_name = False

    patch.setattr(EntryFile, "write", write)


def a_swap_begins_with_the_copy(patch: Patch) -> None:
    def swap(current: Placed, copy: Placed) -> Swapped:
        taken = directories._promote(copy)
        home = current.directory
        name = directories._with(copy.found, directories.Purpose.STRAY)
        out = directories.rename_folder(home.disk, home.path, current.found, name)
        return Swapped(taken, directories._let_go(Placed(home, out)))

    patch.setattr(node, "swap", swap)


PLANTED: Final[list[tuple[Callable[[Patch], None], CrashModel, Start, str]]] = [
    (no_gap_is_seen, CrashModel.ORDERED, EMPTY, "append roll"),
    (segments_leave_unsynced, CrashModel.POSIX, TWO, "expire"),
    (recovered_bytes_count_as_synced, CrashModel.ORDERED, EMPTY, "append kill flush"),
    (a_cut_is_not_synced, CrashModel.ORDERED, EMPTY, "append truncate"),
    (new_segments_are_not_named, CrashModel.ORDERED, OLD_FORMAT, "append flush"),
    (small_files_are_not_synced, CrashModel.ORDERED, EMPTY, "checkpoint"),
    (
        transaction_indexes_are_not_named,
        CrashModel.POSIX,
        IN_TRANSACTION,
        "abort flush roll checkpoint",
    ),
    (a_swap_begins_with_the_copy, CrashModel.ORDERED, EMPTY, "move"),
]


@pytest.mark.parametrize(
    ("plant", "model", "start", "workload"), PLANTED, ids=[one[0].__name__ for one in PLANTED]
)
def test_a_step_left_out_is_noticed(
    monkeypatch: Patch,
    plant: Callable[[Patch], None],
    model: CrashModel,
    start: Start,
    workload: str,
) -> None:
    Explorer(start, model).explore(workload.split())
    plant(monkeypatch)
    with pytest.raises((AssertionError, DirectoryRefused)):
        Explorer(start, model).explore(workload.split())


@pytest.mark.parametrize("is_planted", [False, True])
def test_a_failed_write_that_is_not_cut_off_is_noticed(
    monkeypatch: Patch, *, is_planted: bool
) -> None:
    """The whole batches that it left would follow a shorter one that comes later."""
    if is_planted:
        monkeypatch.setattr(segment, "write_or_cut", write_all)
    world = begun(EMPTY, lambda _: None)
    group = [world.batch(offset, PLAIN) for offset in (0, 2, 4)]
    sent = [(one.data, [one.row]) for one in group]
    kept_bytes = len(group[0].data) + len(group[1].data)
    world.disk.inject(Fault(WritesShort(kept_bytes), Operation.WRITE))
    world.disk.inject(Fault(Fails(ENOSPC), Operation.WRITE, first=2))
    with pytest.raises(OSError, match="No space"):
        world.node.append(sent)
    world.disk.heal()
    for name in ("append", "flush"):
        world.run(name)
    world.disk.end_process()
    seen = see(Node(world.disk).log)
    assert bool(world.line.why_not(seen)) == is_planted
