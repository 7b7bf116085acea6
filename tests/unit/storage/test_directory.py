"""A log directory is opened by one process of the right node, and keeps its small files."""

from collections.abc import Callable
from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from ottla.kernels.faults import Malformed
from ottla.runtime.disk import SystemDisk
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation, PowerCut
from ottla.storage.clean_shutdown import CleanShutdown
from ottla.storage.directory import Directory, Owner, format_directory, open_directory
from ottla.storage.directory_faults import (
    AlreadyFormatted,
    DirectoryInUse,
    DirectoryRefused,
    NotFormatted,
    NotWritten,
    OtherCluster,
    OtherNode,
    Unreadable,
    WrongDirectoryId,
)
from ottla.storage.file_names import HIGH_WATERMARKS, LOCK, META_PROPERTIES, RECOVERY_POINTS
from ottla.storage.meta_properties import MetaProperties
from ottla.storage.small_files import replace_file
from ottla.storage.watched_disk import DirectoryOffline
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.ports.disks import NOW_MS, simulated
from tests.unit.storage.log_directories import CLUSTER, ORDERS, OWNER, formatted, meta_of

OFFSETS = {ORDERS: 5, TopicPartition("clicks", 3): 0}


def directory(disk: SimulatedDisk | None = None) -> tuple[SimulatedDisk, Directory]:
    there = formatted(["/a"]) if disk is None else disk
    return there, open_directory(there, "/a", OWNER)


def test_a_formatted_directory_is_opened_on_a_real_disk(tmp_path: Path) -> None:
    disk, path = SystemDisk(), str(tmp_path / "a")
    format_directory(disk, path, meta_of(0), NOW_MS)
    first = open_directory(disk, path, OWNER)
    assert first.meta == meta_of(0)
    first.write_offsets(HIGH_WATERMARKS, OFFSETS)
    with pytest.raises(DirectoryInUse, match=path):
        open_directory(disk, path, OWNER)
    first.release()
    again = open_directory(disk, path, OWNER)
    assert again.read_offsets(HIGH_WATERMARKS) == OFFSETS
    again.release()


@pytest.mark.parametrize(
    ("meta", "fault", "reason"),
    [
        (meta_of(0, node_id=8), OtherNode, "belongs to node 8, and this is node 7"),
        (meta_of(0, cluster_id="other"), OtherCluster, f"'other', and this is '{CLUSTER}'"),
        (MetaProperties(version=0), OtherNode, "does not say to which node"),
        (MetaProperties(version=0, node_id=7), OtherCluster, "does not say to which cluster"),
        (
            MetaProperties(cluster_id=CLUSTER, node_id=7, directory_id=Uuid(bytes(15) + b"\2")),
            WrongDirectoryId,
            "reserved",
        ),
    ],
)
def test_a_directory_of_another_is_refused_and_free(
    meta: MetaProperties, fault: type[DirectoryRefused], reason: str
) -> None:
    disk = simulated()
    format_directory(disk, "/a", meta, NOW_MS)
    before = disk.contents()
    with pytest.raises(fault, match=f"^/a: .*{reason}") as caught:
        open_directory(disk, "/a", OWNER)
    assert caught.value.paths == ("/a",)
    assert disk.contents() == before | {f"/a/{LOCK}": b""}
    assert disk.lock(f"/a/{LOCK}") is not None


def test_a_node_that_knows_no_cluster_yet_takes_that_of_its_directory() -> None:
    opened = open_directory(formatted(["/a"]), "/a", Owner(7))
    assert opened.meta.cluster_id == CLUSTER


@pytest.mark.parametrize("is_there", [False, True])
def test_what_is_not_formatted_is_refused_and_left_alone(is_there: bool) -> None:
    disk = simulated()
    if is_there:
        disk.make_folder("/a")
    before = disk.contents()
    with pytest.raises(NotFormatted, match=META_PROPERTIES):
        open_directory(disk, "/a", OWNER)
    assert disk.contents() == before


def test_what_is_formatted_is_not_formatted_again() -> None:
    disk = formatted(["/a"])
    before = disk.contents()
    with pytest.raises(AlreadyFormatted):
        format_directory(disk, "/a", meta_of(1), NOW_MS)
    assert disk.contents() == before


@pytest.mark.parametrize("first", range(1, 11))
def test_formatting_is_whole_or_not_done_whenever_the_power_is_cut(first: int) -> None:
    disk = simulated()
    disk.inject(Fault(CutsPower(), first=first))
    is_done = False
    try:
        format_directory(disk, "/a", meta_of(0), NOW_MS)
        is_done = True
    except PowerCut:
        pass
    assert is_done == (first == 10)
    for image in disk.crash_images():
        try:
            assert open_directory(image, "/a", OWNER).meta == meta_of(0)
        except NotFormatted:
            assert not is_done
            format_directory(image, "/a", meta_of(0), NOW_MS)
            assert open_directory(image, "/a", OWNER).meta == meta_of(0)


def test_an_unreadable_owner_stops_the_start_and_says_where() -> None:
    disk = formatted(["/a"])
    replace_file(disk, f"/a/{META_PROPERTIES}", b"version=1\nnode.id=x\n")
    with pytest.raises(Malformed, match=r"/a/meta.properties, line 2: node.id is not a number"):
        open_directory(disk, "/a", OWNER)
    assert disk.lock(f"/a/{LOCK}") is not None


def test_a_disk_that_fails_at_opening_is_told_as_such() -> None:
    for operation in (Operation.STATUS, Operation.LOCK, Operation.OPEN, Operation.READ):
        disk = formatted(["/a"])
        disk.inject(Fault(Fails(EIO), operation))
        with pytest.raises(DirectoryOffline, match="/a is offline"):
            open_directory(disk, "/a", OWNER)
        assert disk.lock(f"/a/{LOCK}") is not None


def test_the_mark_of_a_clean_stop_counts_once() -> None:
    disk, opened = directory()
    assert opened.take_clean_shutdown() is None
    opened.mark_clean(42)
    for image in disk.crash_images():
        again = open_directory(image, "/a", OWNER)
        assert again.take_clean_shutdown() == CleanShutdown(42)
        for later in image.crash_images():
            assert open_directory(later, "/a", OWNER).take_clean_shutdown() is None


def test_checkpoints_are_kept() -> None:
    disk, opened = directory()
    assert opened.read_offsets(RECOVERY_POINTS) == {}
    opened.write_offsets(RECOVERY_POINTS, OFFSETS)
    for image in disk.crash_images():
        assert open_directory(image, "/a", OWNER).read_offsets(RECOVERY_POINTS) == OFFSETS
    assert opened.notices == []


@pytest.mark.parametrize(
    "content", [b"1\n0\n", b"0\n2\norders 0 5\n", b"0\n1\norders 0\n", b"\xff"]
)
def test_a_checkpoint_that_cannot_be_read_is_none_and_is_noticed(content: bytes) -> None:
    disk, opened = directory()
    path = f"/a/{RECOVERY_POINTS}"
    replace_file(disk, path, content)
    assert opened.read_offsets(RECOVERY_POINTS) == {}
    (notice,) = opened.notices
    assert isinstance(notice, Unreadable)
    assert notice.path == path
    assert notice.reason.startswith(path)
    opened.write_offsets(RECOVERY_POINTS, OFFSETS)
    assert opened.read_offsets(RECOVERY_POINTS) == OFFSETS


def test_a_full_disk_keeps_the_old_checkpoint_and_stays_live() -> None:
    disk, opened = directory()
    opened.write_offsets(RECOVERY_POINTS, OFFSETS)
    disk.set_capacity(0)
    with pytest.raises(OSError, match="No space") as caught:
        opened.write_offsets(RECOVERY_POINTS, OFFSETS | {ORDERS: 6})
    assert not isinstance(caught.value, DirectoryOffline)
    assert opened.is_live
    assert opened.read_offsets(RECOVERY_POINTS) == OFFSETS


@pytest.mark.parametrize("first", range(1, 7))
def test_whichever_call_fails_a_checkpoint_is_old_or_new(first: int) -> None:
    disk, opened = directory()
    opened.write_offsets(RECOVERY_POINTS, OFFSETS)
    disk.inject(Fault(Fails(EIO), first=first))
    new = OFFSETS | {ORDERS: 6}
    with pytest.raises(DirectoryOffline):
        opened.write_offsets(RECOVERY_POINTS, new)
    assert not opened.is_live
    opened.release()
    for image in disk.crash_images():
        assert open_directory(image, "/a", OWNER).read_offsets(RECOVERY_POINTS) in (OFFSETS, new)


def made(number: int) -> Callable[[], Uuid]:
    return lambda: Uuid(bytes([number]) * 16)


def test_a_directory_without_an_id_gets_one_that_stays() -> None:
    disk = simulated()
    format_directory(disk, "/a", MetaProperties(cluster_id=CLUSTER, node_id=7), NOW_MS)
    _, opened = directory(disk)
    opened.give_id(made(200), NOW_MS)
    opened.give_id(made(201), NOW_MS)
    assert opened.meta.directory_id == made(200)()
    for image in disk.crash_images():
        assert open_directory(image, "/a", OWNER).meta == opened.meta


def test_where_there_is_no_room_for_an_id_the_start_goes_on_without() -> None:
    disk = simulated()
    format_directory(disk, "/a", MetaProperties(cluster_id=CLUSTER, node_id=7), NOW_MS)
    _, opened = directory(disk)
    disk.set_capacity(0)
    opened.give_id(made(200), NOW_MS)
    assert opened.meta.directory_id is None
    assert isinstance(opened.notices[0], NotWritten)
    disk.inject(Fault(Fails(EIO), Operation.WRITE))
    with pytest.raises(DirectoryOffline):
        opened.give_id(made(200), NOW_MS)


def test_an_id_that_a_failed_sync_lost_takes_the_directory_offline() -> None:
    disk = simulated()
    format_directory(disk, "/a", MetaProperties(cluster_id=CLUSTER, node_id=7), NOW_MS)
    _, opened = directory(disk)
    disk.inject(Fault(Fails(ENOSPC), Operation.SYNC))
    with pytest.raises(DirectoryOffline):
        opened.give_id(made(200), NOW_MS)
