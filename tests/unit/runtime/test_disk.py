"""The real disk makes few calls of the system, and hides nothing that they say."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ottla.runtime import disk as module
from ottla.runtime.disk import SystemDisk, SystemFile

DISK = SystemDisk()


@pytest.fixture
def file(tmp_path: Path) -> SystemFile:
    return DISK.open(str(tmp_path / "a"), create=True)


def test_one_call_writes_many_parts(file: SystemFile, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    real = os.pwritev

    def counted(descriptor: int, parts: list[bytes], position: int) -> int:
        calls.append(len(parts))
        return real(descriptor, parts, position)

    monkeypatch.setattr(os, "pwritev", counted)
    most = os.sysconf("SC_IOV_MAX")
    file.write([b"x"] * most, 0)
    file.write([b"y"] * (2 * most + 1), 0)
    assert calls == [most, most, most, 1]


def test_a_short_write_is_told(file: SystemFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pwritev", lambda *_: 3)
    assert file.write([b"12345"], 0) == 3
    assert file.write([b"12"] * 5000, 0) == 3


def test_an_error_behind_what_went_is_told_by_the_next_call(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.pwritev

    def full(descriptor: int, parts: list[bytes], position: int) -> int:
        if position:
            raise OSError(errno.ENOSPC, "full")
        return real(descriptor, parts, position)

    monkeypatch.setattr(os, "pwritev", full)
    most = os.sysconf("SC_IOV_MAX")
    assert file.write([b"x"] * (most + 1), 0) == most
    with pytest.raises(OSError, match="full"):
        file.write([b"x"], most)


def test_a_read_that_the_kernel_cuts_goes_on(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write([b"0123456789"], 0)
    real_pread, real_preadv = os.pread, os.preadv
    monkeypatch.setattr(os, "pread", lambda d, count, p: real_pread(d, min(count, 4), p))
    monkeypatch.setattr(os, "preadv", lambda d, views, p: real_preadv(d, [views[0][:3]], p))
    assert file.read(0, 9) == b"012345678"
    assert file.read(1, 90) == b"123456789"


def test_a_failed_sync_comes_up_and_is_not_tried_again(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[int] = []

    def fails(descriptor: int) -> None:
        calls.append(descriptor)
        raise OSError(errno.EIO, "gone")

    monkeypatch.setattr(module, "_sync", fails)
    with pytest.raises(OSError, match="gone"):
        file.sync()
    assert calls == [file.descriptor]


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ESPIPE, errno.EINVAL])
def test_what_cannot_write_back_early_does_without(
    file: SystemFile, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_write_back_call", lambda: lambda *_: -1)
    monkeypatch.setattr("ctypes.get_errno", lambda: number)
    file.start_writeback(0, 10)


def test_an_error_of_early_write_back_comes_up(
    file: SystemFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter([errno.EINTR, errno.EIO])
    monkeypatch.setattr(module, "_write_back_call", lambda: lambda *_: -1)
    monkeypatch.setattr("ctypes.get_errno", lambda: next(numbers))
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        file.start_writeback(0, 10)
    assert list(numbers) == []


def test_room_is_there_after_allocating(file: SystemFile) -> None:
    file.allocate(1 << 20)
    descriptor = file.descriptor
    assert descriptor is not None
    assert os.fstat(descriptor).st_blocks * 512 >= 1 << 20


def test_a_descriptor_is_not_inherited(file: SystemFile) -> None:
    descriptor = file.descriptor
    assert descriptor is not None
    assert not os.get_inheritable(descriptor)


def test_closing_gives_the_number_back_once(file: SystemFile) -> None:
    descriptor = file.descriptor
    assert descriptor is not None
    file.close()
    again = os.open("/dev/null", os.O_RDONLY)
    assert again == descriptor
    file.close()
    assert fcntl.fcntl(again, fcntl.F_GETFD) >= 0
    os.close(again)


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = str(tmp_path / ".lock")
    code = "import sys; from ottla.runtime.disk import SystemDisk; "
    code += "lock = SystemDisk().lock(sys.argv[1]); print(lock is not None, flush=True); input()"
    command = [sys.executable, "-W", "ignore", "-c", code, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"True\n"
        assert DISK.lock(path) is None
        process.kill()
        process.wait()
        lock = DISK.lock(path)
        assert lock is not None
        lock.release()


def test_no_descriptor_is_left_behind_by_an_error(tmp_path: Path) -> None:
    lowest = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest)
    for call in (
        lambda: DISK.open(str(tmp_path), read_only=True),
        lambda: DISK.sync_folder(str(tmp_path / "none")),
    ):
        with pytest.raises(OSError, match=r"directory"):
            call()
    lock = DISK.lock(str(tmp_path / "lock"))
    assert lock is not None
    assert DISK.lock(str(tmp_path / "lock")) is None
    lock.release()
    again = os.open("/dev/null", os.O_RDONLY)
    os.close(again)
    assert again == lowest
