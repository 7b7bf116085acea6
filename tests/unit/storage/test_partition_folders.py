"""Folders of partitions are found by their names, and made, renamed and removed whole."""

from errno import EIO, ENOSPC
from pathlib import Path

import pytest

from ottla.runtime.disk import SystemDisk
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation, PowerCut
from ottla.storage.directory_faults import (
    ForeignFolder,
    Notice,
    OtherTopic,
    SpareCopy,
    Unreadable,
)
from ottla.storage.file_names import PARTITION_METADATA
from ottla.storage.folder_names import Purpose
from ottla.storage.partition_folders import (
    METADATA_LOG,
    FoundFolder,
    Listing,
    RemoveFolder,
    create_current,
    create_future,
    list_folders,
    promote_future,
    rename_to_delete,
    rename_to_stray,
)
from ottla.storage.small_files import replace_file
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.ports.disks import disk_and_folder, simulated
from tests.unit.storage.log_directories import ORDERS, TOPIC_ID, UNIQUE

HEX = "07" * 16
OTHER = Uuid(b"\2" * 16)
CALLS = 10
"""How often a disk is asked to do something while a folder is made."""


def root() -> SimulatedDisk:
    disk = simulated()
    disk.make_folder("/d")
    disk.sync_folder("/")
    return disk


def listed(disk: SimulatedDisk) -> tuple[Listing, list[Notice]]:
    notices: list[Notice] = []
    return list_folders(disk, "/d", notices.append), notices


@pytest.mark.parametrize("kind", ["system", "simulated"])
def test_a_partition_comes_moves_and_goes_on_every_disk(kind: str, tmp_path: Path) -> None:
    disk, folder = disk_and_folder(kind, tmp_path)
    found = create_current(disk, folder, ORDERS, TOPIC_ID)
    assert list_folders(disk, folder, pytest.fail).current == {ORDERS: found}
    copy = create_future(disk, folder, ORDERS, TOPIC_ID, UNIQUE)
    assert copy.name == f"orders-0.{HEX}-future"
    gone = rename_to_delete(disk, folder, found, OTHER)
    taken = promote_future(disk, folder, copy)
    assert taken == found
    listing = list_folders(disk, folder, pytest.fail)
    assert listing == Listing(
        current={ORDERS: found}, deleted=[FoundFolder(gone.name, gone.folder)]
    )
    disk.make_folder(f"{folder}/{gone.name}/deep")
    disk.open(f"{folder}/{gone.name}/deep/file", create=True).close()
    RemoveFolder(disk, f"{folder}/{gone.name}").run()
    RemoveFolder(disk, f"{folder}/{gone.name}").run()
    stray = rename_to_stray(disk, folder, taken, UNIQUE)
    assert disk.names(folder) == [stray.name] == [f"orders-0.{HEX}-stray"]


def test_folders_are_told_by_what_they_are_for() -> None:
    disk = root()
    for name in (
        "a.b-c-12", f"a-1.{HEX}-delete", f"a-1.{HEX}-stray", f"a-2.{HEX}-future",
        f"a-2.{'08' * 16}-future", "__cluster_metadata-0", "__cluster_metadata-1",
        "remote-log-index-cache", "lost+found", "t-01",
    ):  # fmt: skip
        disk.make_folder(f"/d/{name}")
    disk.open("/d/file-3", create=True).close()
    listing, notices = listed(disk)
    partitions = [TopicPartition("a.b-c", 12), TopicPartition("__cluster_metadata", 1)]
    assert sorted(listing.current) == sorted(partitions)
    assert [found.name for found in listing.deleted] == [f"a-1.{HEX}-delete"]
    assert [found.name for found in listing.stray] == [f"a-1.{HEX}-stray"]
    assert listing.future[TopicPartition("a", 2)].folder.unique == HEX
    assert listing.metadata_log is not None
    assert listing.metadata_log.folder.partition == METADATA_LOG
    assert notices == [
        SpareCopy(f"/d/a-2.{'08' * 16}-future"),
        ForeignFolder("/d/lost+found"),
        ForeignFolder("/d/t-01"),
    ]


def test_an_id_that_cannot_be_read_is_none_and_is_noticed() -> None:
    disk = root()
    create_current(disk, "/d", ORDERS, TOPIC_ID)
    path = f"/d/orders-0/{PARTITION_METADATA}"
    replace_file(disk, path, b"version: 0\ntopic_id: x\n")
    listing, notices = listed(disk)
    assert listing.current[ORDERS].topic_id is None
    (notice,) = notices
    assert isinstance(notice, Unreadable)
    assert notice.path == path


def test_a_folder_of_another_topic_is_not_taken() -> None:
    disk = root()
    create_current(disk, "/d", ORDERS, TOPIC_ID)
    before = disk.contents()
    with pytest.raises(OtherTopic, match="/d/orders-0"):
        create_current(disk, "/d", ORDERS, OTHER)
    assert disk.contents() == before


def test_making_a_folder_that_is_there_changes_nothing() -> None:
    disk = root()
    create_current(disk, "/d", ORDERS, TOPIC_ID)
    before = disk.contents()
    create_current(disk, "/d", ORDERS, TOPIC_ID)
    assert disk.contents() == before


@pytest.mark.parametrize("first", range(1, CALLS + 2))
def test_a_power_cut_leaves_no_folder_or_one_that_can_be_finished(first: int) -> None:
    disk = root()
    disk.inject(Fault(CutsPower(), first=first))
    is_done = False
    try:
        create_current(disk, "/d", ORDERS, TOPIC_ID)
        is_done = True
    except PowerCut:
        pass
    images = list(disk.crash_images())
    for image in images:
        listing, notices = listed(image)
        assert notices == []
        assert {found.topic_id for found in listing.current.values()} <= {None, TOPIC_ID}
        if is_done:
            assert listing.current[ORDERS].topic_id == TOPIC_ID
        create_current(image, "/d", ORDERS, TOPIC_ID)
        assert listed(image)[0].current[ORDERS].topic_id == TOPIC_ID
    assert is_done == (first > CALLS)


@pytest.mark.parametrize("number", [EIO, ENOSPC])
@pytest.mark.parametrize("first", range(2, CALLS + 1))
def test_whichever_call_fails_no_empty_folder_is_left(first: int, number: int) -> None:
    disk = root()
    disk.inject(Fault(Fails(number), first=first))
    with pytest.raises(OSError, match=r"Input|No space"):
        create_current(disk, "/d", ORDERS, TOPIC_ID)
    listing, _ = listed(disk)
    # Past the rename of the small file the folder is whole, and only not known to be durable.
    assert all(found.topic_id == TOPIC_ID for found in listing.current.values())


def test_where_there_is_no_room_no_partition_is_left_by_half() -> None:
    disk = root()
    disk.set_capacity(0)
    with pytest.raises(OSError, match="No space"):
        create_current(disk, "/d", ORDERS, TOPIC_ID)
    assert disk.names("/d") == []


@pytest.mark.parametrize("purpose", [Purpose.DELETE, Purpose.STRAY])
def test_a_rename_is_done_or_not_and_stays_done(purpose: Purpose) -> None:
    rename = rename_to_delete if purpose is Purpose.DELETE else rename_to_stray
    old, new = "orders-0", f"orders-0.{HEX}{purpose}"
    for operation in (Operation.RENAME, Operation.SYNC_FOLDER, None):
        disk = root()
        found = create_current(disk, "/d", ORDERS, TOPIC_ID)
        if operation is not None:
            disk.inject(Fault(CutsPower(), operation))
            with pytest.raises(PowerCut):
                rename(disk, "/d", found, UNIQUE)
        else:
            rename(disk, "/d", found, UNIQUE)
        names = {tuple(image.names("/d")) for image in disk.crash_images()}
        assert names <= {(old,), (new,)}
        assert (new,) in names or operation is Operation.RENAME
        assert ((old,) in names) == (operation is not None)


def test_a_removal_that_was_cut_off_goes_on() -> None:
    calls = 0
    while True:
        disk = root()
        found = create_current(disk, "/d", ORDERS, TOPIC_ID)
        for name in ("1.log", "1.index"):
            file = disk.open(f"/d/orders-0/{name}", create=True)
            file.write([b"x" * 600], 0)
            file.sync()
        disk.sync_folder("/d/orders-0")
        gone = rename_to_delete(disk, "/d", found, UNIQUE)
        job = RemoveFolder(disk, f"/d/{gone.name}")
        calls += 1
        disk.inject(Fault(CutsPower(), first=calls))
        try:
            job.run()
        except PowerCut:
            pass
        else:
            break
        for image in disk.crash_images():
            listing, notices = listed(image)
            assert (listing.current, notices) == ({}, [])
            RemoveFolder(image, f"/d/{gone.name}").run()
            assert image.names("/d") == []
    assert calls == 7


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("x")
    folder = tmp_path / f"orders-0.{HEX}-delete"
    folder.mkdir()
    (folder / "link").symlink_to(kept)
    RemoveFolder(SystemDisk(), str(folder)).run()
    assert not folder.exists()
    assert (kept / "file").read_text() == "x"
