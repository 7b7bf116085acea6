"""Small files are there whole or not at all, and whoever reads one hears where it is wrong."""

from errno import EIO, ENOSPC

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, FlipsBit, Operation, PowerCut, WritesShort
from ottla.storage import small_files
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.clean_shutdown import CleanShutdown, take_clean_shutdown
from ottla.storage.producer_snapshot import parse_producer_snapshot
from ottla.storage.small_files import folder_of, read_file, remove_file, replace_file
from tests.unit.ports.disks import disk_and_folder, simulated
from tests.unit.storage.kinds import PRODUCERS

PATH = "/d/file"
TEMPORARY = "/d/file.tmp"
OLD = b"what was there before" * 60
NEW = b"what comes" * 130
CALLS = 6
"""How often a disk is asked to do something while a file is replaced."""
IMAGES_MAX = 2000


def disk_with(content: bytes | None, path: str = PATH) -> SimulatedDisk:
    """A disk with one file, which a power cut does not take."""
    disk = simulated()
    disk.make_folder("/d")
    disk.sync_folder("/")
    if content is not None:
        replace_file(disk, path, content)
    return disk


def files(disk: SimulatedDisk) -> dict[str, bytes]:
    return {path: content for path, content in disk.contents().items() if content is not None}


@pytest.mark.parametrize("kind", ["system", "simulated"])
def test_what_is_written_is_read_on_every_disk(
    kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    disk, folder = disk_and_folder(kind, tmp_path_factory.mktemp(kind))
    path = f"{folder}/file"
    assert read_file(disk, path, bytes) is None
    for content in (OLD, NEW, b""):
        replace_file(disk, path, content)
        assert read_file(disk, path, bytes) == content
        assert disk.names(folder) == ["file"]
    remove_file(disk, path)
    assert read_file(disk, path, bytes) is None


@pytest.mark.parametrize("old", [None, OLD])
@pytest.mark.parametrize("first", range(1, CALLS + 1))
def test_a_power_cut_leaves_the_old_file_or_the_new_one(old: bytes | None, first: int) -> None:
    disk = disk_with(old)
    disk.inject(Fault(CutsPower(), first=first))
    with pytest.raises(PowerCut):
        replace_file(disk, PATH, NEW)
    images = list(disk.crash_images(images_max=IMAGES_MAX))
    found = {files(image).get(PATH) for image in images}
    assert found <= {old, NEW}
    assert old in found


@pytest.mark.parametrize("old", [None, OLD])
def test_a_file_that_was_replaced_stays_replaced(old: bytes | None) -> None:
    disk = disk_with(old)
    replace_file(disk, PATH, NEW)
    images = list(disk.crash_images(images_max=IMAGES_MAX))
    assert [files(image) for image in images] == [{PATH: NEW}] * len(images)


def test_no_call_is_needless() -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(CutsPower(), first=CALLS + 1))
    replace_file(disk, PATH, NEW)
    with pytest.raises(PowerCut):
        disk.status(PATH)


def test_after_a_power_cut_a_file_can_be_replaced_again() -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(CutsPower(), Operation.RENAME))
    with pytest.raises(PowerCut):
        replace_file(disk, PATH, OLD * 2)
    for image in disk.crash_images(images_max=IMAGES_MAX):
        replace_file(image, PATH, NEW)
        assert files(image) == {PATH: NEW}


@pytest.mark.parametrize("first", range(1, CALLS + 1))
def test_whichever_call_fails_the_file_is_whole_and_nothing_is_left_over(first: int) -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(Fails(EIO), first=first))
    with pytest.raises(OSError, match="Input/output"):
        replace_file(disk, PATH, NEW)
    assert files(disk) == {PATH: NEW if first == CALLS else OLD}


def test_a_failed_sync_is_not_tried_again() -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(Fails(EIO), Operation.SYNC))
    disk.inject(Fault(CutsPower(), Operation.SYNC, first=2))
    with pytest.raises(OSError, match="Input/output"):
        replace_file(disk, PATH, NEW)


def test_a_full_disk_keeps_the_old_file_and_its_room() -> None:
    disk = disk_with(OLD)
    free_bytes = disk.free_bytes("/")
    disk.set_capacity(8192)
    with pytest.raises(OSError, match="No space") as caught:
        replace_file(disk, PATH, NEW * 100)
    assert caught.value.errno == ENOSPC
    assert files(disk) == {PATH: OLD}
    disk.set_capacity(None)
    assert disk.free_bytes("/") == free_bytes


@pytest.mark.parametrize("bytes_max", [1, 300])
def test_a_disk_that_takes_little_gets_all(bytes_max: int) -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(WritesShort(bytes_max), Operation.WRITE, count=None))
    replace_file(disk, PATH, NEW)
    assert files(disk) == {PATH: NEW}


def test_a_disk_that_takes_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    disk = disk_with(OLD)
    monkeypatch.setattr("ottla.sim.file.SimulatedFile.write", lambda *_: 0)
    with pytest.raises(OSError, match="took no bytes"):
        replace_file(disk, PATH, NEW)
    assert files(disk) == {PATH: OLD}


@pytest.mark.parametrize("operation", [Operation.STATUS, Operation.OPEN, Operation.READ])
def test_whichever_call_fails_nothing_is_read_by_half(operation: Operation) -> None:
    disk = disk_with(OLD)
    disk.inject(Fault(Fails(EIO), operation))
    with pytest.raises(OSError, match="Input/output"):
        read_file(disk, PATH, bytes)


def test_a_bit_that_a_disk_gives_wrong_is_noticed_where_there_is_a_checksum() -> None:
    content = PRODUCERS.format(PRODUCERS.samples["producers"])
    disk = disk_with(content)
    disk.inject(Fault(FlipsBit(), Operation.READ, count=None))
    for _ in range(50):
        with pytest.raises(Malformed, match=r"^/d/file at byte"):
            read_file(disk, PATH, parse_producer_snapshot)


def test_a_fault_names_the_file_and_the_line() -> None:
    with pytest.raises(InvalidValue) as caught:
        read_file(disk_with(b"0\n1\norders 0 x\n"), PATH, parse_offsets)
    assert str(caught.value) == "/d/file, line 3: the offset is not a number: 'x'"


def test_a_fault_names_the_file_and_the_byte() -> None:
    with pytest.raises(InvalidValue) as caught:
        read_file(disk_with(b"0\n1\norders \xff 5\n"), PATH, parse_offsets)
    assert str(caught.value) == "/d/file at byte 11: not UTF-8: invalid start byte"


def test_a_file_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "FILE_BYTES_MAX", len(OLD) - 1)
    disk = disk_with(OLD)
    disk.inject(Fault(CutsPower(), Operation.READ))
    with pytest.raises(LimitExceeded, match="/d/file: 1260 bytes, where 1259 are read at most"):
        read_file(disk, PATH, bytes)


def test_a_file_that_shrinks_meanwhile_is_not_read_by_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ottla.sim.file.SimulatedFile.size", lambda _: len(OLD) + 1)
    with pytest.raises(Truncated, match="/d/file: 1260 bytes came of 1261"):
        read_file(disk_with(OLD), PATH, bytes)


def test_a_file_that_was_removed_stays_removed() -> None:
    disk = disk_with(OLD)
    remove_file(disk, PATH)
    assert [files(image) for image in disk.crash_images()] == [{}]


@pytest.mark.parametrize(("path", "folder"), [("a/b/c", "a/b"), ("/c", "/"), ("c", ".")])
def test_folder_of(path: str, folder: str) -> None:
    assert folder_of(path) == folder


@pytest.mark.parametrize(
    ("content", "epoch"), [(b'{"version":0,"brokerEpoch":42}', 42), (b"", None), (b"x", None)]
)
def test_a_clean_shutdown_counts_once(content: bytes, epoch: int | None) -> None:
    disk = disk_with(content, "/d/.kafka_cleanshutdown")
    assert take_clean_shutdown(disk, "/d") == CleanShutdown(epoch)
    for image in disk.crash_images():
        assert take_clean_shutdown(image, "/d") is None
