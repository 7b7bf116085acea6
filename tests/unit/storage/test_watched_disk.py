"""A watched disk answers as the one below it, until that fails for a reason of its own."""

import errno
import re
from collections.abc import Callable
from os import strerror
from typing import Any

import pytest

from ottla.ports import Disk, File
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, Operation
from ottla.sim.file import SimulatedFile
from ottla.storage.watched_disk import NOT_THE_DEVICE, DirectoryOffline, WatchedDisk
from tests.unit.ports.disks import simulated

BY_DISK: dict[Operation, Callable[[Disk], Any]] = {
    Operation.OPEN: lambda disk: disk.open("/d/file"),
    Operation.STATUS: lambda disk: disk.status("/d/file"),
    Operation.SET_MODIFIED: lambda disk: disk.set_modified("/d/file", 1),
    Operation.NAMES: lambda disk: disk.names("/d"),
    Operation.MAKE_FOLDER: lambda disk: disk.make_folder("/d/folder"),
    Operation.RENAME: lambda disk: disk.rename("/d/file", "/d/other"),
    Operation.REMOVE: lambda disk: disk.remove("/d/file"),
    Operation.SYNC_FOLDER: lambda disk: disk.sync_folder("/d"),
    Operation.FREE_BYTES: lambda disk: disk.free_bytes("/d"),
    Operation.LOCK: lambda disk: disk.lock("/d/lock"),
}
BY_FILE: dict[Operation, Callable[[File], Any]] = {
    Operation.WRITE: lambda file: file.write([b"ab", b"c"], 2),
    Operation.READ: lambda file: file.read(1, 3),
    Operation.SIZE: lambda file: file.size(),
    Operation.TRUNCATE: lambda file: file.truncate(3),
    Operation.ALLOCATE: lambda file: file.allocate(9),
    Operation.START_WRITEBACK: lambda file: file.start_writeback(0, 3),
    Operation.SYNC: lambda file: file.sync(),
}
FINAL = (Operation.SYNC, Operation.SYNC_FOLDER, Operation.START_WRITEBACK)


def watched() -> tuple[SimulatedDisk, WatchedDisk, File]:
    """A disk with an open file, and the same one watched."""
    disk = simulated()
    disk.make_folder("/d")
    file = disk.open("/d/file", create=True)
    file.write([b"abcdef"], 0)
    file.close()
    over = WatchedDisk(disk, "/d")
    return disk, over, over.open("/d/file")


def call(over: WatchedDisk, file: File, operation: Operation) -> object:
    if operation in BY_DISK:
        return BY_DISK[operation](over)
    return BY_FILE[operation](file)


def test_every_call_of_the_port_is_watched() -> None:
    assert {*BY_DISK, *BY_FILE} == set(Operation)
    for below, over in ((Disk, WatchedDisk), (File, type(watched()[2]))):
        assert {n for n in vars(below) if n[0] != "_"} <= set(dir(over))


def test_calls_go_through_and_answers_come_back() -> None:
    disk, over, file = watched()
    assert file.write([b"XY", b"Z"], 1) == 3
    assert file.read(0, 9) == b"aXYZef"
    buffer = bytearray(2)
    assert (file.read_into(4, buffer), buffer) == (2, b"ef")
    file.allocate(8)
    assert file.size() == 8
    file.truncate(1)
    file.sync()
    file.start_writeback(0, 1)
    assert file.descriptor is None
    over.make_folder("/d/f")
    over.rename("/d/f", "/d/g")
    over.sync_folder("/d")
    assert over.names("/d") == ["file", "g"]
    over.remove("/d/g")
    assert over.status("/d/g") is None
    assert over.free_bytes("/d") == disk.free_bytes("/d")
    first = over.lock("/d/lock")
    assert first is not None
    assert over.lock("/d/lock") is None
    first.release()
    assert over.lock("/d/lock") is not None
    file.close()
    assert over.fault is None


@pytest.mark.parametrize("operation", Operation)
def test_a_device_that_fails_is_never_asked_again(operation: Operation) -> None:
    disk, over, file = watched()
    lock = over.lock("/d/other-lock")
    assert lock is not None
    disk.inject(Fault(Fails(errno.EIO), operation))
    with pytest.raises(DirectoryOffline, match=r"/d is offline: .*Input/output") as caught:
        call(over, file, operation)
    assert caught.value.errno == errno.EIO
    assert caught.value.directory == "/d"
    assert over.fault is caught.value.fault
    disk.inject(Fault(CutsPower(), count=None))
    for other in Operation:
        with pytest.raises(DirectoryOffline, match="Input/output"):
            call(over, file, other)
    with pytest.raises(DirectoryOffline):
        file.read_into(0, bytearray(1))
    with pytest.raises(DirectoryOffline):
        _ = file.descriptor
    file.close()
    lock.release()


@pytest.mark.parametrize("operation", Operation)
def test_a_full_disk_is_no_broken_one_unless_a_sync_says_so(operation: Operation) -> None:
    disk, over, file = watched()
    disk.inject(Fault(Fails(errno.ENOSPC), operation))
    with pytest.raises(OSError, match="No space left") as caught:
        call(over, file, operation)
    assert isinstance(caught.value, DirectoryOffline) == (operation in FINAL)
    assert (over.fault is not None) == (operation in FINAL)


@pytest.mark.parametrize(
    ("number", "is_offline"),
    [
        (errno.EIO, True),
        (errno.EROFS, True),
        (errno.EACCES, True),
        (errno.ENODEV, True),
        (errno.ESTALE, True),
        (errno.ENXIO, True),
        (errno.EDQUOT, False),
        (errno.ENOENT, False),
        (errno.EMFILE, False),
        (errno.ENAMETOOLONG, False),
    ],
)
def test_what_lies_with_the_device(number: int, is_offline: bool) -> None:
    disk, over, _ = watched()
    disk.inject(Fault(Fails(number), Operation.OPEN))
    with pytest.raises(OSError, match=re.escape(strerror(number))) as caught:
        over.open("/d/file")
    assert caught.value.errno == number
    assert (over.fault is not None) == is_offline == (number not in NOT_THE_DEVICE)


def test_the_first_fault_is_the_one_that_is_told() -> None:
    disk, over, file = watched()
    disk.inject(Fault(Fails(errno.EROFS), Operation.WRITE))
    for _ in range(2):
        with pytest.raises(DirectoryOffline, match="Read-only"):
            file.write([b"x"], 0)
    with pytest.raises(DirectoryOffline, match="Read-only"):
        over.judge(OSError(errno.EIO, "from sendfile"))


def test_a_call_made_past_the_disk_is_judged_too() -> None:
    _, over, _ = watched()
    over.judge(OSError(errno.EAGAIN, "not now"))
    assert over.fault is None
    with pytest.raises(DirectoryOffline, match="from sendfile"):
        over.judge(OSError(errno.EIO, "from sendfile"))


def test_a_folder_that_is_not_there_is_no_failed_sync() -> None:
    _, over, _ = watched()
    with pytest.raises(FileNotFoundError):
        over.sync_folder("/d/none")
    assert over.fault is None


def test_closing_never_fails_but_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: SimulatedFile) -> None:
        raise OSError(errno.EIO, "late")

    _, over, file = watched()
    with monkeypatch.context() as patch:
        patch.setattr(SimulatedFile, "close", fail)
        file.close()
    assert over.fault is not None
