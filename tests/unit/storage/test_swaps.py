"""A copy takes the place of a partition, and no failure and no power cut loses or doubles it."""

from collections.abc import Iterator
from errno import EIO, ENOSPC

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation, PowerCut
from ottla.storage.directories import Directories, Partitions, open_directories, removals, swap
from ottla.storage.partition_folders import create_current, create_future
from ottla.storage.watched_disk import DirectoryOffline
from tests.unit.storage.log_directories import ORDERS, OWNER, TOPIC_ID, UNIQUE, formatted

PATHS = ("/a", "/b")
CALLS = 6
"""How often the disks are asked to do something in a swap."""
CONTENTS = {b"the partition", b"its copy"}


def ready() -> tuple[SimulatedDisk, Directories, Partitions]:
    """A partition in the first directory, and its copy in the second; all synced."""
    disk = formatted(PATHS)
    create_current(disk, "/a", ORDERS, TOPIC_ID)
    copy = create_future(disk, "/b", ORDERS, TOPIC_ID, UNIQUE)
    for path, content in (("/a/orders-0", b"the partition"), (f"/b/{copy.name}", b"its copy")):
        file = disk.open(f"{path}/log", create=True)
        file.write([content], 0)
        file.sync()
        file.close()
        disk.sync_folder(path)
    directories = open_directories(disk, PATHS, OWNER)
    return disk, directories, directories.load()


def content(disk: SimulatedDisk, partitions: Partitions) -> bytes:
    return disk.open(f"{partitions.current[ORDERS].path}/log").read(0, 99)


def started(disk: SimulatedDisk) -> Partitions:
    """What a start finds, all of whose removals are done."""
    disk.end_process()
    partitions = open_directories(disk, PATHS, OWNER).load()
    for job in removals(partitions.deleted):
        job.run()
    return partitions


def images(disk: SimulatedDisk) -> Iterator[SimulatedDisk]:
    for model in CrashModel:
        yield from disk.crash_images(model)


def test_a_copy_takes_the_place_of_the_partition() -> None:
    disk, directories, partitions = ready()
    swapped = swap(partitions.current[ORDERS], partitions.future[ORDERS])
    assert swapped.current.path == "/b/orders-0"
    assert swapped.deleted is not None
    after = directories.load()
    assert after.current == {ORDERS: swapped.current}
    assert [placed.path for placed in after.deleted] == [swapped.deleted.path]
    assert (after.future, after.stray) == ({}, [])
    for image in images(disk):
        assert content(image, started(image)) == b"its copy"


@pytest.mark.parametrize("first", range(1, CALLS + 2))
def test_a_power_cut_loses_and_doubles_nothing(first: int) -> None:
    disk, _, partitions = ready()
    disk.inject(Fault(CutsPower(), first=first))
    is_done = False
    try:
        swap(partitions.current[ORDERS], partitions.future[ORDERS])
        is_done = True
    except PowerCut:
        pass
    assert is_done == (first > CALLS)
    for image in images(disk):
        after = started(image)
        assert content(image, after) in CONTENTS
        # A start brings it to an end: the next one finds the same.
        again = started(image)
        assert content(image, again) == content(image, after)
        assert again.deleted == []
        is_swapped = after.current[ORDERS].directory.path == "/b"
        assert is_swapped == (ORDERS not in after.future)


@pytest.mark.parametrize("first", range(1, CALLS + 1))
def test_a_power_cut_at_the_start_that_ends_a_swap_loses_nothing(first: int) -> None:
    disk, _, partitions = ready()
    disk.inject(Fault(CutsPower(), Operation.RENAME, first=2))
    with pytest.raises(PowerCut):
        swap(partitions.current[ORDERS], partitions.future[ORDERS])
    disk.heal()
    disk.end_process()
    directories = open_directories(disk, PATHS, OWNER)
    disk.inject(Fault(CutsPower(), Operation.RENAME, first=first))
    disk.inject(Fault(CutsPower(), Operation.SYNC_FOLDER, first=first))
    try:
        directories.load()
    except PowerCut:
        assert first <= 2
    for image in images(disk):
        assert content(image, started(image)) in CONTENTS


@pytest.mark.parametrize("first", [1, 2])
def test_a_full_disk_leaves_the_partition_where_it_was(first: int) -> None:
    disk, directories, partitions = ready()
    disk.inject(Fault(Fails(ENOSPC), Operation.RENAME, first=first))
    with pytest.raises(OSError, match="No space"):
        swap(partitions.current[ORDERS], partitions.future[ORDERS])
    assert directories.offline == {}
    after = directories.load()
    assert content(disk, after) == b"the partition"
    assert (list(after.future), after.stray) == ([ORDERS], [])


def test_a_full_disk_that_does_not_let_the_old_folder_go_keeps_it_stray() -> None:
    disk, directories, partitions = ready()
    disk.inject(Fault(Fails(ENOSPC), Operation.RENAME, first=3))
    swapped = swap(partitions.current[ORDERS], partitions.future[ORDERS])
    assert swapped.deleted is None
    after = directories.load()
    assert content(disk, after) == b"its copy"
    assert len(after.stray) == 1


@pytest.mark.parametrize("first", range(1, CALLS + 1))
def test_whichever_call_fails_nothing_is_lost_or_doubled(first: int) -> None:
    disk, directories, partitions = ready()
    disk.inject(Fault(Fails(EIO), first=first))
    try:
        swapped = swap(partitions.current[ORDERS], partitions.future[ORDERS])
    except DirectoryOffline:
        assert first <= 4
    else:
        assert first > 4
        assert swapped.deleted is None
        assert content(disk, directories.load()) == b"its copy"
    assert len(directories.offline) == 1
    disk.heal()
    for image in images(disk):
        assert content(image, started(image)) in CONTENTS


def test_the_old_folder_is_kept_while_the_disk_of_the_copy_is_away() -> None:
    disk, directories, partitions = ready()
    disk.inject(Fault(Fails(EIO), paths="/b/*", count=None))
    with pytest.raises(DirectoryOffline):
        swap(partitions.current[ORDERS], partitions.future[ORDERS])
    disk.end_process()
    directories = open_directories(disk, PATHS, OWNER)
    after = directories.load()
    assert (after.current, after.deleted) == ({}, [])
    assert [placed.directory.path for placed in after.stray] == ["/a"]
    disk.heal()
    assert content(disk, started(disk)) == b"its copy"


def test_a_start_whose_disk_fails_while_it_ends_a_swap_goes_on_with_the_others() -> None:
    disk, _, partitions = ready()
    disk.inject(Fault(CutsPower(), Operation.RENAME, first=2))
    with pytest.raises(PowerCut):
        swap(partitions.current[ORDERS], partitions.future[ORDERS])
    disk.heal()
    disk.end_process()
    directories = open_directories(disk, PATHS, OWNER)
    disk.inject(Fault(Fails(EIO), Operation.RENAME, paths="/b/*"))
    after = directories.load()
    assert (after.current, after.future) == ({}, {})
    assert list(directories.offline) == ["/b"]
    assert content(disk, started(disk)) == b"its copy"


def test_a_copy_without_a_partition_waits_for_who_knows_better() -> None:
    _, directories, partitions = ready()
    home = partitions.current[ORDERS]
    home.directory.disk.rename(home.path, f"/a/orders-0.{'09' * 16}-stray")
    after = directories.load()
    assert (after.current, list(after.future)) == ({}, [ORDERS])
