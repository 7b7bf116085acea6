"""What goes wrong on a simulated disk goes wrong where, when and as often as was said."""

import errno
from collections.abc import Callable
from random import Random

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import (
    CutsPower,
    Fails,
    Fault,
    FlipsBit,
    IsIgnored,
    Operation,
    PowerCut,
    WritesShort,
)
from tests.unit.ports.disks import NOW_MS, answer, simulated

S = 512
A, B = b"A" * S, b"B" * S
IO = Fails(errno.EIO)
MODELS = pytest.mark.parametrize("model", CrashModel)

CALLS: dict[Operation, Callable[[SimulatedDisk], object]] = {
    Operation.OPEN: lambda disk: disk.open("/a"),
    Operation.STATUS: lambda disk: disk.status("/a"),
    Operation.SET_MODIFIED: lambda disk: disk.set_modified("/a", 1),
    Operation.NAMES: lambda disk: disk.names("/"),
    Operation.MAKE_FOLDER: lambda disk: disk.make_folder("/f"),
    Operation.RENAME: lambda disk: disk.rename("/a", "/b"),
    Operation.REMOVE: lambda disk: disk.remove("/a"),
    Operation.SYNC_FOLDER: lambda disk: disk.sync_folder("/"),
    Operation.FREE_BYTES: lambda disk: disk.free_bytes("/"),
    Operation.LOCK: lambda disk: disk.lock("/lock"),
    Operation.WRITE: lambda disk: disk.open("/a").write([b"x"], 0),
    Operation.READ: lambda disk: disk.open("/a").read(0, 1),
    Operation.SIZE: lambda disk: disk.open("/a").size(),
    Operation.TRUNCATE: lambda disk: disk.open("/a").truncate(1),
    Operation.ALLOCATE: lambda disk: disk.open("/a").allocate(9000),
    Operation.START_WRITEBACK: lambda disk: disk.open("/a").start_writeback(0, 1),
    Operation.SYNC: lambda disk: disk.open("/a").sync(),
}


def with_file(capacity_bytes: int | None = None) -> SimulatedDisk:
    """A disk that surely has one file."""
    disk = simulated(capacity_bytes=capacity_bytes)
    file = disk.open("/a", create=True)
    file.write([A], 0)
    file.sync()
    file.close()
    disk.sync_folder("/")
    return disk


def after_power_cut(disk: SimulatedDisk, model: CrashModel) -> set[bytes | None]:
    return {image.contents().get("/a") for image in disk.crash_images(model)}


@pytest.mark.parametrize("operation", Operation)
def test_every_operation_can_fail_and_then_does_nothing(operation: Operation) -> None:
    disk = with_file()
    disk.inject(Fault(IO, operation))
    before = disk.contents()
    assert answer(lambda: CALLS[operation](disk)) == "EIO"
    assert disk.contents() == before
    assert answer(lambda: CALLS[operation](disk)) != "EIO"


def test_only_the_calls_that_were_meant_fail() -> None:
    disk = with_file()
    disk.inject(Fault(IO, Operation.READ, paths="/a", first=3, count=2))
    disk.open("/b", create=True).read(0, 1)
    file = disk.open("/a")
    answers = [answer(lambda: file.read(0, 1)) for _ in range(6)]
    assert answers == [b"A", b"A", "EIO", "EIO", b"A", b"A"]


def test_any_operation_may_be_meant() -> None:
    disk = with_file()
    disk.inject(Fault(IO, first=2))
    file = disk.open("/a")
    assert answer(lambda: disk.names("/")) == "EIO"
    assert file.read(0, 1) == b"A"


def test_a_rename_is_met_by_both_its_names() -> None:
    for pattern in ("/a", "/b"):
        disk = with_file()
        disk.inject(Fault(IO, Operation.RENAME, paths=pattern))
        assert answer(lambda disk=disk: disk.rename("/a", "/b")) == "EIO"


def test_a_folder_fails_for_ever_and_the_others_live() -> None:
    disk = simulated()
    for folder in ("/d1", "/d10", "/d1/p"):
        disk.make_folder(folder)
    file = disk.open("/d1/p/log", create=True)
    disk.inject(Fault(IO, paths="/d1/*", count=None))
    calls: list[Callable[[], object]] = [
        lambda: file.read(0, 1),
        file.sync,
        lambda: disk.names("/d1"),
        lambda: disk.names("/d1/p"),
        lambda: disk.open("/d1/x", create=True),
    ]
    assert [answer(call) for call in calls * 2] == ["EIO"] * 10
    disk.open("/d10/log", create=True).sync()
    disk.heal()
    assert disk.names("/d1") == ["p"]


@pytest.mark.parametrize(("bytes_max", "expected"), [(1, 1), (700, 700), (9000, 1024)])
def test_a_short_write(bytes_max: int, expected: int) -> None:
    disk = with_file()
    disk.inject(Fault(WritesShort(bytes_max), Operation.WRITE))
    file = disk.open("/a")
    assert file.write([A, B], S) == expected
    assert file.read(S, 9000) == (A + B)[:expected]
    assert file.write([A, B], S) == 1024


def test_a_short_write_by_chance() -> None:
    disk = with_file()
    disk.inject(Fault(WritesShort(), Operation.WRITE, count=None))
    file = disk.open("/a")
    counts = {file.write([b"123456"], 0) for _ in range(200)}
    assert counts == {1, 2, 3, 4, 5}
    assert file.write([b"1"], 0) == 1


def test_a_flipped_bit_is_seen_once() -> None:
    disk = with_file()
    disk.inject(Fault(FlipsBit(), Operation.READ))
    file = disk.open("/a")
    wrong = int.from_bytes(file.read(0, S)) ^ int.from_bytes(A)
    assert wrong.bit_count() == 1
    assert file.read(0, S) == A
    buffer = bytearray(S)
    disk.inject(Fault(FlipsBit(), Operation.READ))
    assert file.read_into(0, buffer) == S
    assert (int.from_bytes(buffer) ^ int.from_bytes(A)).bit_count() == 1


def test_rot_stays() -> None:
    disk = with_file()
    disk.flip_bit("/a", 7, 1)
    rotten = A[:7] + b"C" + A[8:]
    assert disk.open("/a").read(0, S) == rotten
    assert disk.crash(Random(0)).contents() == {"/a": rotten}


@MODELS
def test_what_a_failed_sync_lost_stays_lost(model: CrashModel) -> None:
    disk = with_file()
    file = disk.open("/a")
    file.write([B], 0)
    disk.inject(Fault(IO, Operation.SYNC))
    assert answer(file.sync) == "EIO"
    file.sync()
    assert file.read(0, S) == B
    assert after_power_cut(disk, model) == {A, B}
    file.write([b"C"], 0)
    file.sync()
    assert after_power_cut(disk, model) == {b"C" + B[1:]}


@MODELS
def test_a_later_sync_brings_the_size_of_what_is_lost(model: CrashModel) -> None:
    disk = with_file()
    file = disk.open("/a")
    file.write([B], S)
    disk.inject(Fault(IO, Operation.SYNC))
    assert answer(file.sync) == "EIO"
    assert after_power_cut(disk, model) == {A, A + B, A + bytes(S)}
    file.sync()
    assert after_power_cut(disk, model) == {A + B, A + bytes(S)}


def test_what_a_failed_sync_lost_is_gone_once_memory_is_short() -> None:
    seen: set[bytes] = set()
    for seed in range(20):
        disk = simulated(seed)
        file = disk.open("/a", create=True)
        file.write([A], 0)
        file.sync()
        file.write([B], 0)
        disk.forget()
        assert file.read(0, S) == B
        disk.inject(Fault(IO, Operation.SYNC))
        assert answer(file.sync) == "EIO"
        disk.forget()
        seen.add(file.read(0, S))
    assert seen == {A, B}


@MODELS
def test_a_sync_of_a_folder_that_failed_stays_so(model: CrashModel) -> None:
    disk = simulated()
    disk.open("/a", create=True)
    disk.inject(Fault(IO, Operation.SYNC_FOLDER))
    assert answer(lambda: disk.sync_folder("/")) == "EIO"
    disk.sync_folder("/")
    assert after_power_cut(disk, model) == {None, b""}


@MODELS
def test_a_disk_that_lies(model: CrashModel) -> None:
    disk = with_file()
    file = disk.open("/a")
    file.write([B], 0)
    disk.inject(Fault(IsIgnored(), Operation.SYNC))
    file.sync()
    assert after_power_cut(disk, model) == {A, B}
    file.sync()
    assert after_power_cut(disk, model) == {B}


def test_the_power_goes_before_a_call() -> None:
    disk = with_file()
    disk.inject(Fault(CutsPower(), first=3))
    file = disk.open("/a")
    file.write([B], 0)
    with pytest.raises(PowerCut):
        file.write([B], S)
    assert disk.contents() == {"/a": B}


def test_a_full_disk() -> None:
    disk = with_file(capacity_bytes=3 * S)
    assert disk.free_bytes("/") == 2 * S
    file = disk.open("/a")
    assert file.write([b"x" * (4 * S)], S + 100) == 2 * S - 100
    assert answer(lambda: file.write([b"x"], 3 * S)) == "ENOSPC"
    assert answer(lambda: file.allocate(4 * S)) == "ENOSPC"
    assert file.size() == 3 * S
    file.truncate(1 << 40)
    assert file.write([A], 0) == S
    file.truncate(S)
    assert disk.free_bytes("/") == 2 * S
    disk.set_capacity(S // 2)
    assert disk.free_bytes("/") == 0
    assert file.read(0, S) == A


def test_allocated_room_is_there_when_the_disk_is_full() -> None:
    disk = with_file(capacity_bytes=4 * S)
    file = disk.open("/a")
    file.allocate(4 * S)
    assert disk.free_bytes("/") == 0
    assert file.write([B] * 3, S) == 3 * S
    assert disk.free_bytes("/") == 0
    file.truncate(2 * S)
    assert disk.free_bytes("/") == 2 * S


def test_room_comes_back_when_a_file_has_neither_name_nor_opening() -> None:
    disk = with_file(capacity_bytes=4 * S)
    file = disk.open("/a", read_only=True)
    writer = disk.open("/b", create=True)
    writer.write([B], 0)
    disk.rename("/b", "/a")
    assert disk.free_bytes("/") == 2 * S
    file.close()
    assert disk.free_bytes("/") == 3 * S
    disk.end_process()
    disk.remove("/a")
    assert disk.free_bytes("/") == 4 * S


def test_every_call_is_recorded_in_a_line() -> None:
    lines: list[str] = []
    disk = SimulatedDisk(lambda: NOW_MS, Random(0), record=lines.append)
    disk.make_folder("f")
    file = disk.open("/f//a", create=True)
    file.write([b"12", b"3"], 5)
    disk.inject(Fault(IO, Operation.SYNC))
    assert answer(file.sync) == "EIO"
    disk.rename("/f/a", "/f/b")
    assert lines == [
        "make-folder /f",
        "open /f/a",
        "write /f/a 5 3",
        "sync /f/a: EIO",
        "rename /f/a /f/b",
    ]


def test_an_outcome_that_suits_no_operation_is_refused() -> None:
    for outcome in (WritesShort(), FlipsBit(), IsIgnored()):
        with pytest.raises(AssertionError):
            Fault(outcome, Operation.OPEN)


def test_a_write_that_would_never_end_is_refused() -> None:
    with pytest.raises(AssertionError):
        WritesShort(0)


def test_times_are_those_of_the_clock() -> None:
    now = iter(range(1, 100))
    disk = SimulatedDisk(lambda: next(now), Random(0))
    file = disk.open("/a", create=True)
    made = disk.status("/a")
    file.write([b"x"], 0)
    changed = disk.status("/a")
    assert made is not None
    assert changed is not None
    assert made.modified_ms < changed.modified_ms
