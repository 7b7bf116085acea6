"""Small files are there whole or not at all, and whoever reads one hears where it is wrong."""

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.ports import Disk
from ottla.storage import small_files
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.clean_shutdown import CleanShutdown, take_clean_shutdown
from ottla.storage.small_files import folder_of, read_file, remove_file, replace_file
from tests.unit.storage.memory_disk import MemoryDisk

PATH = "d/file"
OLD = b"what was there before"
NEW = b"what comes"


def nothing_of(disk: Disk) -> bytes | None:
    """Read from any disk: a type checker sees here that the double is one."""
    return read_file(disk, PATH, bytes)


def test_a_file_that_is_not_there_says_nothing() -> None:
    assert nothing_of(MemoryDisk()) is None


def test_what_is_written_is_read() -> None:
    disk = MemoryDisk()
    replace_file(disk, PATH, NEW)
    assert read_file(disk, PATH, bytes) == NEW
    assert list(disk.files) == [PATH]


def test_a_new_content_is_on_the_device_before_it_gets_the_name() -> None:
    disk = MemoryDisk()
    replace_file(disk, PATH, NEW)
    assert disk.calls == [
        ("open", "d/file.tmp"),
        ("truncate", "d/file.tmp"),
        ("write", "d/file.tmp"),
        ("sync", "d/file.tmp"),
        ("close", "d/file.tmp"),
        ("rename", "d/file"),
        ("sync_folder", "d"),
    ]


def test_what_an_earlier_try_left_over_is_overwritten() -> None:
    disk = MemoryDisk({PATH + ".tmp": bytearray(b"longer than what comes")})
    replace_file(disk, PATH, NEW)
    assert disk.files == {PATH: NEW}


@pytest.mark.parametrize("write_bytes_max", [1, 3])
def test_a_disk_that_takes_little_gets_all(write_bytes_max: int) -> None:
    disk = MemoryDisk(write_bytes_max=write_bytes_max)
    replace_file(disk, PATH, NEW)
    assert disk.files == {PATH: NEW}


def test_a_disk_that_takes_nothing_is_an_error() -> None:
    with pytest.raises(OSError, match="took no bytes"):
        replace_file(MemoryDisk(write_bytes_max=0), PATH, NEW)


@pytest.mark.parametrize("fails_at", range(1, 8))
def test_whichever_call_fails_the_file_is_whole(fails_at: int) -> None:
    disk = MemoryDisk({PATH: bytearray(OLD)}, fails_at)
    with pytest.raises(OSError, match="told to fail"):
        replace_file(disk, PATH, NEW)
    assert disk.files == {PATH: OLD if fails_at <= 6 else NEW}


def test_a_failed_sync_is_not_tried_again() -> None:
    disk = MemoryDisk(fails_at=4)
    with pytest.raises(OSError, match="told to fail"):
        replace_file(disk, PATH, NEW)
    assert [call for call, _ in disk.calls].count("sync") == 1


@pytest.mark.parametrize("fails_at", range(1, 6))
def test_whichever_call_fails_nothing_is_read_by_half(fails_at: int) -> None:
    disk = MemoryDisk({PATH: bytearray(OLD)}, fails_at)
    with pytest.raises(OSError, match="told to fail"):
        read_file(disk, PATH, bytes)


def test_a_file_is_closed_also_if_reading_fails() -> None:
    disk = MemoryDisk({PATH: bytearray(OLD)}, fails_at=4)
    with pytest.raises(OSError, match="told to fail"):
        read_file(disk, PATH, bytes)
    assert disk.calls[-1] == ("close", PATH)


def test_a_fault_names_the_file_and_the_line() -> None:
    disk = MemoryDisk({PATH: bytearray(b"0\n1\norders 0 x\n")})
    with pytest.raises(InvalidValue) as caught:
        read_file(disk, PATH, parse_offsets)
    assert str(caught.value) == "d/file, line 3: the offset is not a number: 'x'"


def test_a_fault_names_the_file_and_the_byte() -> None:
    disk = MemoryDisk({PATH: bytearray(b"0\n1\norders \xff 5\n")})
    with pytest.raises(InvalidValue) as caught:
        read_file(disk, PATH, parse_offsets)
    assert str(caught.value) == "d/file at byte 11: not UTF-8: invalid start byte"


def test_a_file_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small_files, "FILE_BYTES_MAX", len(OLD) - 1)
    disk = MemoryDisk({PATH: bytearray(OLD)})
    with pytest.raises(LimitExceeded, match="d/file: 21 bytes, where 20 are read at most"):
        read_file(disk, PATH, bytes)
    assert ("read", PATH) not in disk.calls


def test_a_file_that_shrinks_meanwhile_is_not_read_by_half(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = MemoryDisk({PATH: bytearray(OLD)})
    monkeypatch.setattr("tests.unit.storage.memory_disk.MemoryFile.size", lambda _: 100)
    with pytest.raises(Truncated, match="d/file: 21 bytes came of 100"):
        read_file(disk, PATH, bytes)


def test_a_removed_file_is_removed_on_the_device() -> None:
    disk = MemoryDisk({PATH: bytearray(OLD)})
    remove_file(disk, PATH)
    assert disk.files == {}
    assert disk.calls == [("remove", PATH), ("sync_folder", "d")]


@pytest.mark.parametrize(("path", "folder"), [("a/b/c", "a/b"), ("/c", "/"), ("c", ".")])
def test_folder_of(path: str, folder: str) -> None:
    assert folder_of(path) == folder


@pytest.mark.parametrize(
    ("content", "epoch"), [(b'{"version":0,"brokerEpoch":42}', 42), (b"", None), (b"x", None)]
)
def test_a_clean_shutdown_counts_once(content: bytes, epoch: int | None) -> None:
    disk = MemoryDisk({"d/.kafka_cleanshutdown": bytearray(content)})
    assert take_clean_shutdown(disk, "d") == CleanShutdown(epoch)
    assert disk.calls[-1] == ("sync_folder", "d")
    assert take_clean_shutdown(disk, "d") is None
