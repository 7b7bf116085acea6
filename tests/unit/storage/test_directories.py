"""A node's directories are opened together, one may fail, and a new partition finds its place."""

from errno import EIO, ENOSPC

import pytest

from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import Fails, Fault
from ottla.storage.directories import (
    Directories,
    Partitions,
    Placed,
    open_directories,
    removals,
)
from ottla.storage.directory import Owner, format_directory
from ottla.storage.directory_faults import (
    DirectoryInUse,
    DirectoryRefused,
    DuplicatePartition,
    MetadataLogOffline,
    MisplacedMetadataLog,
    NoDirectoryLeft,
    NotFormatted,
    OtherCluster,
    OtherTopic,
    SpareCopy,
    WrongDirectoryId,
)
from ottla.storage.file_names import HIGH_WATERMARKS, LOCK, RECOVERY_POINTS
from ottla.storage.meta_properties import MetaProperties
from ottla.storage.partition_folders import create_current, create_future, rename_to_delete
from ottla.storage.watched_disk import DirectoryOffline
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.ports.disks import NOW_MS, simulated
from tests.unit.storage.log_directories import (
    ORDERS,
    OWNER,
    PATHS,
    TOPIC_ID,
    UNIQUE,
    formatted,
    meta_of,
    opened,
)

EVERY_DISK_FAILS = Fault(Fails(EIO), count=None)


def is_free(disk: SimulatedDisk) -> bool:
    disk.heal()
    return all(disk.lock(f"{path}/{LOCK}") is not None for path in PATHS)


def places(partitions: Partitions) -> dict[TopicPartition, str]:
    return {partition: placed.path for partition, placed in partitions.current.items()}


def test_one_directory_that_fails_leaves_the_others() -> None:
    disk = formatted()
    disk.inject(Fault(Fails(EIO), paths="/b/*", count=None))
    directories = open_directories(disk, PATHS, OWNER)
    assert [directory.path for directory in directories.live] == ["/a", "/c"]
    assert isinstance(directories.offline["/b"], DirectoryOffline)
    disk.inject(Fault(Fails(EIO), paths="/c/*", count=None))
    create_current(directories.live[0].disk, "/a", ORDERS, TOPIC_ID)
    assert places(directories.load()) == {ORDERS: "/a/orders-0"}
    assert sorted(directories.offline) == ["/b", "/c"]
    disk.inject(Fault(Fails(EIO), paths="/a/*", count=None))
    with pytest.raises(
        NoDirectoryLeft, match=r"/b, /c, /a: every log directory is offline: .*I/O|Input"
    ):
        directories.load()


def test_a_node_without_any_directory_does_not_start() -> None:
    disk = formatted()
    disk.inject(EVERY_DISK_FAILS)
    with pytest.raises(NoDirectoryLeft) as caught:
        open_directories(disk, PATHS, OWNER)
    assert caught.value.paths == PATHS
    assert is_free(disk)


@pytest.mark.parametrize(
    ("second", "owner", "fault"),
    [
        (meta_of(1, cluster_id="other"), Owner(7), OtherCluster),
        (meta_of(0), OWNER, WrongDirectoryId),
        (None, OWNER, NotFormatted),
    ],
)
def test_directories_that_disagree_are_refused_and_free(
    second: MetaProperties | None, owner: Owner, fault: type[DirectoryRefused]
) -> None:
    disk = simulated()
    format_directory(disk, "/a", meta_of(0), NOW_MS)
    if second is not None:
        format_directory(disk, "/b", second, NOW_MS)
    format_directory(disk, "/c", meta_of(2), NOW_MS)
    with pytest.raises(fault, match="/b"):
        open_directories(disk, PATHS, owner)
    assert disk.lock(f"/a/{LOCK}") is not None


def test_a_directory_that_is_named_twice_is_refused() -> None:
    disk = formatted()
    with pytest.raises(DirectoryInUse, match=r"/a/\.\./a"):
        open_directories(disk, ["/a", "/a/../a"], OWNER)
    assert is_free(disk)


def test_the_metadata_log_lies_where_it_belongs() -> None:
    disk = formatted()
    disk.make_folder("/b/__cluster_metadata-0")
    with pytest.raises(MisplacedMetadataLog, match=r"^/b: .* belongs to /a"):
        open_directories(disk, PATHS, OWNER)
    open_directories(disk, PATHS, OWNER, "/b").release()
    disk.inject(Fault(Fails(EIO), paths="/b/*", count=None))
    with pytest.raises(MetadataLogOffline, match="/b"):
        open_directories(disk, PATHS, OWNER, "/b")
    assert is_free(disk)


def test_a_partition_in_two_directories_is_refused_and_both_are_named() -> None:
    disk, directories = opened()
    for path in ("/a", "/c"):
        create_current(disk, path, ORDERS, TOPIC_ID)
    with pytest.raises(
        DuplicatePartition, match=r"^/a/orders-0, /c/orders-0: partition 0 of orders"
    ):
        directories.load()


def test_a_folder_of_an_older_topic_is_no_second_one() -> None:
    disk, directories = opened()
    older = Uuid(b"\2" * 16)
    create_current(disk, "/a", ORDERS, older)
    create_current(disk, "/c", ORDERS, TOPIC_ID)
    partitions = directories.load(lambda found: found.topic_id == TOPIC_ID)
    assert places(partitions) == {ORDERS: "/c/orders-0"}
    assert [placed.path for placed in partitions.unknown] == ["/a/orders-0"]


def test_a_second_copy_is_left_alone_and_noticed() -> None:
    disk, directories = opened()
    for path in ("/a", "/c"):
        create_future(disk, path, ORDERS, TOPIC_ID, UNIQUE)
    partitions = directories.load()
    assert partitions.future[ORDERS].directory.path == "/a"
    (notice,) = directories.opened[2].notices
    assert isinstance(notice, SpareCopy)
    assert notice.path.startswith("/c/orders-0.")


def test_a_new_partition_comes_where_there_are_the_fewest_logs() -> None:
    _, directories = opened()
    counts = {"/a": 2, "/b": 1}
    assert [d.path for d in directories.emptiest_first(counts)] == ["/c", "/b", "/a"]
    assert [d.path for d in directories.emptiest_first({})] == list(PATHS)
    assert directories.create(ORDERS, TOPIC_ID, counts).path == "/c/orders-0"


def create(disk: SimulatedDisk, directories: Directories) -> Placed:
    return directories.create(ORDERS, TOPIC_ID, {"/a": 1, "/b": 2, "/c": 3})


@pytest.mark.parametrize("number", [EIO, ENOSPC])
@pytest.mark.parametrize("first", range(1, 11))
def test_a_directory_that_does_not_take_a_partition_gives_way_to_the_next(
    first: int, number: int
) -> None:
    disk, directories = opened()
    disk.inject(Fault(Fails(number), paths="/a/*", first=first, count=None))
    assert create(disk, directories).path == "/b/orders-0"
    assert ("/a" in directories.offline) == (number == EIO or first in (7, 9, 10))


def test_where_no_directory_takes_a_partition_the_reason_is_told() -> None:
    disk, directories = opened()
    disk.set_capacity(0)
    with pytest.raises(OSError, match="No space"):
        create(disk, directories)
    assert len(directories.live) == 3
    disk.set_capacity(None)
    create_current(disk, "/a", ORDERS, Uuid(b"\2" * 16))
    with pytest.raises(OtherTopic):
        create(disk, directories)
    disk.inject(EVERY_DISK_FAILS)
    with pytest.raises(NoDirectoryLeft):
        create(disk, directories)
    with pytest.raises(NoDirectoryLeft):
        create(disk, directories)


@pytest.mark.parametrize(
    ("epochs", "epoch"),
    [((5, 5, 5), 5), ((5, 6, 5), None), ((5, None, 5), None), ((None,) * 3, None)],
)
def test_the_epoch_of_a_clean_stop_counts_if_all_directories_say_it(
    epochs: tuple[int | None, ...], epoch: int | None
) -> None:
    _, directories = opened()
    for directory, marked in zip(directories.live, epochs, strict=True):
        if marked is not None:
            directory.mark_clean(marked)
    marks, found = directories.take_clean_epoch()
    assert found == epoch
    assert [mark and mark.broker_epoch for mark in marks.values()] == list(epochs)
    assert directories.take_clean_epoch() == (dict.fromkeys(PATHS), None)


def test_the_epoch_does_not_count_if_a_directory_is_missing() -> None:
    disk, directories = opened()
    for directory in directories.live:
        directory.mark_clean(5)
    disk.inject(Fault(Fails(EIO), paths="/b/*", count=None))
    marks, epoch = directories.take_clean_epoch()
    assert sorted(marks) == ["/a", "/c"]
    assert epoch is None


def test_a_start_needs_no_room() -> None:
    disk, directories = opened()
    gone = create(disk, directories)
    rename_to_delete(gone.directory.disk, "/a", gone.found, UNIQUE)
    kept = create(disk, directories)
    for directory in directories.live:
        directory.write_offsets(HIGH_WATERMARKS, {ORDERS: 4})
        directory.write_offsets(RECOVERY_POINTS, {ORDERS: 4})
        directory.mark_clean(5)
    disk.end_process()
    disk.set_capacity(0)
    assert disk.free_bytes("/") == 0
    directories = open_directories(disk, PATHS, OWNER)
    assert directories.take_clean_epoch()[1] == 5
    assert [d.read_offsets(HIGH_WATERMARKS) for d in directories.live] == [{ORDERS: 4}] * 3
    partitions = directories.load()
    assert places(partitions) == {ORDERS: kept.path}
    (job,) = removals(partitions.deleted)
    job.run()
    assert directories.load().deleted == []
    assert directories.offline == {}
