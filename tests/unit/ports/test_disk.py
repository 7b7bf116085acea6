"""What the port says of a disk, held against the real one and the simulated one alike."""

import errno
import time
from pathlib import Path

import pytest

from ottla.ports import Disk, File
from ottla.sim.faults import Operation
from tests.unit.ports.disks import NOW_MS, disk_and_folder

Place = tuple[Disk, str]


@pytest.fixture(params=["system", "simulated"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return disk_and_folder(request.param, tmp_path)


def put(place: Place, name: str, data: bytes) -> str:
    """A file with these bytes."""
    disk, folder = place
    path = f"{folder}/{name}"
    file = disk.open(path, create=True)
    assert file.write([data], 0) == len(data)
    file.close()
    return path


def held(place: Place, name: str) -> bytes:
    """All the bytes of a file."""
    disk, folder = place
    file = disk.open(f"{folder}/{name}", read_only=True)
    data = file.read(0, 1 << 20)
    file.close()
    return data


def raises(number: int) -> pytest.RaisesExc[OSError]:
    """An error of the operating system with this number."""
    return pytest.RaisesExc(OSError, check=lambda fault: fault.errno == number)


def test_parts_are_written_one_after_the_other(place: Place) -> None:
    disk, folder = place
    file = disk.open(f"{folder}/a", create=True)
    assert file.write([b"one", bytearray(b"two"), memoryview(b"three")], 2) == 11
    assert file.read(0, 100) == b"\0\0onetwothree"
    assert file.size() == 13


def test_nothing_written_changes_nothing(place: Place) -> None:
    disk, folder = place
    file = disk.open(f"{folder}/a", create=True)
    assert file.write([], 9) == 0
    assert file.write([b""], 9) == 0
    assert file.size() == 0


def test_more_parts_than_one_call_takes(place: Place) -> None:
    disk, folder = place
    file = disk.open(f"{folder}/a", create=True)
    parts = [bytes([number % 251]) * 3 for number in range(5000)]
    assert file.write(parts, 0) == 15_000
    assert file.read(0, 15_001) == b"".join(parts)


def test_reading_stops_at_the_end(place: Place) -> None:
    put(place, "a", b"0123456789")
    disk, folder = place
    file = disk.open(f"{folder}/a")
    assert file.read(7, 10) == b"789"
    assert file.read(10, 1) == b""
    assert file.read(1 << 40, 1) == b""
    assert file.read(3, 0) == b""


def test_reading_into_a_buffer(place: Place) -> None:
    put(place, "a", b"0123456789")
    disk, folder = place
    file = disk.open(f"{folder}/a", read_only=True)
    buffer = bytearray(b"........")
    assert file.read_into(2, memoryview(buffer)[1:5]) == 4
    assert buffer == b".2345..."
    assert file.read_into(8, buffer) == 2
    assert buffer == b"89" + b"345..."
    assert file.read_into(10, buffer) == 0


def test_overwriting_in_the_middle(place: Place) -> None:
    path = put(place, "a", b"x" * 2000)
    file = place[0].open(path)
    file.write([b"y" * 700], 300)
    assert held(place, "a") == b"x" * 300 + b"y" * 700 + b"x" * 1000


def test_a_gap_is_zeros(place: Place) -> None:
    path = put(place, "a", b"x")
    place[0].open(path).write([b"y"], 3000)
    assert held(place, "a") == b"x" + bytes(2999) + b"y"


@pytest.mark.parametrize("size_bytes", [0, 1, 511, 512, 513, 999])
def test_what_is_cut_does_not_come_back(place: Place, size_bytes: int) -> None:
    path = put(place, "a", b"x" * 1000)
    file = place[0].open(path)
    file.truncate(size_bytes)
    assert file.size() == size_bytes
    file.truncate(1200)
    assert held(place, "a") == (b"x" * size_bytes).ljust(1200, b"\0")


def test_allocating_lengthens_and_never_cuts(place: Place) -> None:
    path = put(place, "a", b"x" * 1000)
    file = place[0].open(path)
    file.allocate(100)
    file.allocate(0)
    assert file.size() == 1000
    file.allocate(5000)
    assert held(place, "a") == (b"x" * 1000).ljust(5000, b"\0")


def test_lengthening_far_takes_no_room(place: Place) -> None:
    disk, folder = place
    file = disk.open(f"{folder}/a", create=True)
    file.truncate(1 << 40)
    file.write([b"end"], (1 << 40) - 3)
    assert file.read((1 << 40) - 5, 9) == b"\0\0end"


def test_bytes_are_brought_to_the_device(place: Place) -> None:
    path = put(place, "a", b"x" * 10_000)
    disk, folder = place
    file = disk.open(path)
    file.start_writeback(0, 10_000)
    file.start_writeback(5, 0)
    file.sync()
    disk.sync_folder(folder)
    assert held(place, "a") == b"x" * 10_000


def test_a_file_is_left_as_it_is_when_opened_again(place: Place) -> None:
    path = put(place, "a", b"x")
    place[0].open(path, create=True).close()
    assert held(place, "a") == b"x"


def test_two_openings_see_one_file(place: Place) -> None:
    path = put(place, "a", b"x")
    first, second = place[0].open(path), place[0].open(path, read_only=True)
    first.write([b"yz"], 0)
    assert second.read(0, 9) == b"yz"


def test_a_removed_file_is_there_while_it_is_open(place: Place) -> None:
    path = put(place, "a", b"x")
    file = place[0].open(path)
    place[0].remove(path)
    file.write([b"y"], 1)
    assert file.read(0, 9) == b"xy"
    assert place[0].status(path) is None


def test_a_file_opened_for_reading_refuses_the_rest(place: Place) -> None:
    file = place[0].open(put(place, "a", b"x"), read_only=True)
    with raises(errno.EBADF):
        file.write([b"y"], 0)
    with raises(errno.EINVAL):
        file.truncate(0)
    with raises(errno.EBADF):
        file.allocate(10)
    file.sync()
    assert file.read(0, 9) == b"x"


def test_a_closed_file_refuses_all(place: Place) -> None:
    file = place[0].open(put(place, "a", b"x"))
    file.close()
    file.close()
    for call in (
        file.size,
        file.sync,
        lambda: file.read(0, 0),
        lambda: file.read_into(0, bytearray(1)),
        lambda: file.read_into(0, bytearray()),
        lambda: file.write([b"y"], 0),
    ):
        with raises(errno.EBADF):
            call()


@pytest.mark.parametrize("operation", ["write", "read", "truncate", "allocate"])
def test_a_negative_place_is_refused(place: Place, operation: str) -> None:
    file = place[0].open(put(place, "a", b"x"))
    calls = {
        "write": lambda: file.write([b"y"], -1),
        "read": lambda: file.read(-1, 1),
        "truncate": lambda: file.truncate(-1),
        "allocate": lambda: file.allocate(-1),
    }
    with raises(errno.EINVAL):
        calls[operation]()


@pytest.mark.parametrize(
    ("path", "create", "number"),
    [
        ("none", False, errno.ENOENT),
        ("none/a", True, errno.ENOENT),
        ("file/a", True, errno.ENOTDIR),
        ("folder", False, errno.EISDIR),
        ("folder", True, errno.EISDIR),
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_what_cannot_be_opened(
    place: Place, path: str, create: bool, number: int, read_only: bool
) -> None:
    put(place, "file", b"x")
    disk, folder = place
    disk.make_folder(f"{folder}/folder")
    with raises(number):
        disk.open(f"{folder}/{path}", create=create, read_only=read_only)


def test_status(place: Place) -> None:
    path = put(place, "a", b"x" * 700)
    disk, folder = place
    found, above = disk.status(path), disk.status(folder)
    assert found is not None
    assert above is not None
    assert (found.size_bytes, found.is_folder) == (700, False)
    assert (above.size_bytes, above.is_folder) == (0, True)
    assert found.modified_ms == NOW_MS or abs(found.modified_ms - time.time() * 1000) < 60_000
    assert disk.status(f"{folder}/none") is None
    assert disk.status(f"{folder}/none/a") is None
    assert disk.status(f"{path}/a") is None


def test_names_are_sorted(place: Place) -> None:
    for name in ("b", "a10", "B", "a2", "ä"):
        put(place, name, b"")
    disk, folder = place
    disk.make_folder(f"{folder}/aa")
    assert disk.names(folder) == ["B", "a10", "a2", "aa", "b", "ä"]
    assert disk.names(f"{folder}/aa") == []


def test_names_of_what_is_no_folder(place: Place) -> None:
    path = put(place, "a", b"")
    with raises(errno.ENOTDIR):
        place[0].names(path)
    with raises(errno.ENOENT):
        place[0].names(f"{place[1]}/none")


def test_making_a_folder(place: Place) -> None:
    disk, folder = place
    disk.make_folder(f"{folder}/a")
    disk.make_folder(f"{folder}/a")
    disk.make_folder(f"{folder}/a/b")
    assert disk.names(f"{folder}/a") == ["b"]
    path = put(place, "file", b"")
    for where, number in (
        (path, errno.EEXIST),
        (f"{path}/b", errno.ENOTDIR),
        (f"{folder}/none/b", errno.ENOENT),
    ):
        with raises(number):
            disk.make_folder(where)


def test_renaming_replaces_a_file(place: Place) -> None:
    disk, folder = place
    old, new = put(place, "a", b"new"), put(place, "b", b"old")
    reader = disk.open(new, read_only=True)
    disk.rename(old, new)
    assert disk.names(folder) == ["b"]
    assert held(place, "b") == b"new"
    assert reader.read(0, 9) == b"old"


def test_renaming_to_itself(place: Place) -> None:
    path = put(place, "a", b"x")
    place[0].rename(path, path)
    assert held(place, "a") == b"x"


def test_renaming_a_folder_takes_what_is_in_it(place: Place) -> None:
    disk, folder = place
    disk.make_folder(f"{folder}/a")
    path = put(place, "a/file", b"x")
    writer = disk.open(path)
    disk.rename(f"{folder}/a", f"{folder}/b")
    writer.write([b"y"], 1)
    assert held(place, "b/file") == b"xy"
    assert disk.status(path) is None


@pytest.mark.parametrize(
    ("old", "new", "number"),
    [
        ("none", "x", errno.ENOENT),
        ("file", "none/x", errno.ENOENT),
        ("file", "other/x", errno.ENOTDIR),
        ("file", "folder", errno.EISDIR),
        ("folder", "file", errno.ENOTDIR),
        ("folder", "full", errno.ENOTEMPTY),
        ("full/a", "full", errno.ENOTEMPTY),
        ("full", "full/b", errno.EINVAL),
    ],
)
def test_what_cannot_be_renamed(place: Place, old: str, new: str, number: int) -> None:
    disk, folder = place
    for name in ("folder", "full"):
        disk.make_folder(f"{folder}/{name}")
    for name in ("file", "other", "full/a"):
        put(place, name, b"")
    with raises(number):
        disk.rename(f"{folder}/{old}", f"{folder}/{new}")


def test_removing(place: Place) -> None:
    disk, folder = place
    path = put(place, "a", b"x")
    disk.make_folder(f"{folder}/b")
    put(place, "b/c", b"")
    with raises(errno.ENOTEMPTY):
        disk.remove(f"{folder}/b")
    for gone in ("b/c", "b", "b/c", "a", "a", "none/x"):
        disk.remove(f"{folder}/{gone}")
    assert disk.names(folder) == []
    assert disk.status(path) is None


def test_syncing_a_folder_that_is_none(place: Place) -> None:
    path = put(place, "a", b"")
    with raises(errno.ENOTDIR):
        place[0].sync_folder(path)
    with raises(errno.ENOENT):
        place[0].sync_folder(f"{place[1]}/none")


def test_free_bytes(place: Place) -> None:
    disk, folder = place
    assert disk.free_bytes(folder) > 0
    with raises(errno.ENOENT):
        disk.free_bytes(f"{folder}/none")


def test_a_lock_is_had_by_one(place: Place) -> None:
    disk, folder = place
    path = f"{folder}/.lock"
    first = disk.lock(path)
    assert first is not None
    assert disk.names(folder) == [".lock"]
    assert disk.lock(path) is None
    other = disk.lock(f"{folder}/.lock2")
    assert other is not None
    first.release()
    second = disk.lock(path)
    assert second is not None
    first.release()
    assert disk.lock(path) is None
    second.release()


def test_what_cannot_be_locked(place: Place) -> None:
    disk, folder = place
    with raises(errno.EISDIR):
        disk.lock(folder)
    with raises(errno.ENOENT):
        disk.lock(f"{folder}/none/.lock")


def test_every_call_that_can_fail_has_a_name() -> None:
    calls = {name for kind in (Disk, File) for name in vars(kind)}
    named = {operation.value.replace("-", "_") for operation in Operation}
    assert named == {n for n in calls if not n.startswith("_")} - {
        "descriptor",
        "close",
        "read_into",
    }
