"""The legal states after a power cut, listed by hand for small cases."""

from collections.abc import Callable

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.file import SimulatedFile
from tests.unit.ports.disks import simulated

ORDERED, POSIX = CrashModel.ORDERED, CrashModel.POSIX
S = 512
Z = bytes(S)
A, B, C = b"A" * S, b"B" * S, b"C" * S
MODELS = pytest.mark.parametrize("model", CrashModel)


def states(disk: SimulatedDisk, model: CrashModel) -> list[dict[str, bytes | None]]:
    """What there may be after a power cut, every state once."""
    assert disk.count_crash_images(model, 1000) <= 1000, "not every state would be seen"
    return [image.contents() for image in disk.crash_images(model)]


def files(disk: SimulatedDisk, model: CrashModel, path: str = "/a") -> set[bytes | None]:
    """What there may be of one file; None is no file."""
    return {state.get(path) for state in states(disk, model)}


def same(found: list[dict[str, bytes | None]], *expected: dict[str, bytes | None]) -> bool:
    """Whether the states are these, each once, in any order."""
    return len(found) == len(expected) and all(state in found for state in expected)


def synced(data: bytes, path: str = "/a") -> tuple[SimulatedDisk, SimulatedFile]:
    """A disk that surely has a file."""
    disk = simulated()
    file = disk.open(path, create=True)
    file.write([data], 0)
    file.sync()
    disk.sync_folder("/")
    return disk, file


@MODELS
def test_what_is_synced_is_sure(model: CrashModel) -> None:
    disk, _ = synced(A + B)
    assert states(disk, model) == [{"/a": A + B}]


@MODELS
def test_append_without_sync(model: CrashModel) -> None:
    disk, file = synced(A)
    file.write([B, b"ccc"], S)
    assert files(disk, model) == {
        A,
        A + B, A + Z,
        A + B + b"ccc", A + Z + b"ccc", A + B + bytes(3), A + Z + bytes(3),
    }  # fmt: skip


@MODELS
def test_append_within_a_sector(model: CrashModel) -> None:
    disk, file = synced(b"aa")
    file.write([b"bb"], 2)
    file.write([b"cc"], 4)
    assert files(disk, model) == {
        b"aa",
        b"aabb", b"aa\0\0",
        b"aabbcc", b"aabb\0\0", b"aa\0\0\0\0",
    }  # fmt: skip


@MODELS
def test_append_and_sync(model: CrashModel) -> None:
    disk, file = synced(A)
    file.write([B], S)
    file.sync()
    file.write([b"c"], 2 * S)
    assert files(disk, model) == {A + B, A + B + b"\0", A + B + b"c"}


@MODELS
def test_a_synced_file_without_a_synced_name(model: CrashModel) -> None:
    disk = simulated()
    file = disk.open("/a", create=True)
    file.write([A], 0)
    file.sync()
    assert same(states(disk, model), {}, {"/a": A})
    disk.sync_folder("/")
    assert states(disk, model) == [{"/a": A}]


@MODELS
def test_a_synced_name_without_synced_bytes(model: CrashModel) -> None:
    disk = simulated()
    file = disk.open("/a", create=True)
    file.write([A], 0)
    disk.sync_folder("/")
    assert same(states(disk, model), {"/a": b""}, {"/a": Z}, {"/a": A})


@MODELS
def test_a_synced_name_in_a_folder_without_one(model: CrashModel) -> None:
    disk = simulated()
    disk.make_folder("/f")
    disk.open("/f/a", create=True).sync()
    disk.sync_folder("/f")
    lost: dict[str, bytes | None] = {}
    kept = {"/f": None, "/f/a": b""}
    # In order, the folder was made first, so it is there as well.
    assert same(states(disk, model), *([kept] if model is ORDERED else [lost, kept]))


def replaced() -> SimulatedDisk:
    """A small file written as it should be: beside, synced, renamed; all but the folder's sync."""
    disk, _ = synced(b"old")
    file = disk.open("/a.tmp", create=True)
    file.write([b"new"], 0)
    file.sync()
    disk.rename("/a.tmp", "/a")
    return disk


def test_rename_without_folder_sync_in_order() -> None:
    assert same(
        states(replaced(), ORDERED),
        {"/a": b"old"},
        {"/a": b"old", "/a.tmp": b"new"},
        {"/a": b"new"},
    )


def test_rename_without_folder_sync_in_any_order() -> None:
    # The rename without the creation before it leaves the same as both.
    assert same(
        states(replaced(), POSIX),
        {"/a": b"old"},
        {"/a": b"old", "/a.tmp": b"new"},
        {"/a": b"new"},
    )


@MODELS
def test_rename_with_folder_sync(model: CrashModel) -> None:
    disk = replaced()
    disk.sync_folder("/")
    assert states(disk, model) == [{"/a": b"new"}]


@MODELS
def test_rename_before_the_bytes_are_synced(model: CrashModel) -> None:
    disk, _ = synced(b"old")
    disk.open("/b", create=True).write([b"new"], 0)
    disk.rename("/b", "/a")
    assert files(disk, model) == {b"old", b"", b"\0\0\0", b"new"}


def test_two_names_come_in_order_or_in_any() -> None:
    disk = simulated()
    disk.open("/a", create=True)
    disk.open("/b", create=True)
    a: dict[str, bytes | None] = {"/a": b""}
    b: dict[str, bytes | None] = {"/b": b""}
    assert same(states(disk, ORDERED), {}, a, a | b)
    assert same(states(disk, POSIX), {}, a, b, a | b)


def test_a_sync_of_one_folder_brings_earlier_changes_of_others_only_in_order() -> None:
    disk = simulated()
    for folder in ("/f", "/g"):
        disk.make_folder(folder)
    disk.sync_folder("/")
    disk.open("/f/a", create=True)
    disk.open("/g/b", create=True)
    disk.sync_folder("/g")
    both: dict[str, bytes | None] = {"/f": None, "/f/a": b"", "/g": None, "/g/b": b""}
    only_b = {path: held for path, held in both.items() if path != "/f/a"}
    assert states(disk, ORDERED) == [both]
    assert same(states(disk, POSIX), only_b, both)


def moved_between_folders(synced_folder: str | None) -> SimulatedDisk:
    disk = simulated()
    for folder in ("/f", "/g"):
        disk.make_folder(folder)
    disk.open("/f/a", create=True)
    for folder in ("/", "/f"):
        disk.sync_folder(folder)
    disk.rename("/f/a", "/g/a")
    if synced_folder is not None:
        disk.sync_folder(synced_folder)
    return disk


@pytest.mark.parametrize(
    ("synced_folder", "model", "expected"),
    [
        (None, ORDERED, ["f", "g"]),
        ("/f", ORDERED, ["g"]),
        ("/g", ORDERED, ["g"]),
        (None, POSIX, ["", "f", "g", "fg"]),
        ("/f", POSIX, ["", "g"]),
        ("/g", POSIX, ["g", "fg"]),
    ],
)
def test_rename_between_folders(
    synced_folder: str | None, model: CrashModel, expected: list[str]
) -> None:
    found = states(moved_between_folders(synced_folder), model)
    where = ["".join(x for x in "fg" if f"/{x}/a" in state) for state in found]
    assert sorted(where) == sorted(expected)


@MODELS
def test_a_folder_moves_in_one_step(model: CrashModel) -> None:
    disk = simulated()
    for folder in ("/f", "/g", "/f/h"):
        disk.make_folder(folder)
    for folder in ("/", "/f"):
        disk.sync_folder(folder)
    disk.rename("/f/h", "/g/h")
    before: dict[str, bytes | None] = {"/f": None, "/f/h": None, "/g": None}
    after: dict[str, bytes | None] = {"/f": None, "/g": None, "/g/h": None}
    assert same(states(disk, model), before, after)


@MODELS
def test_remove(model: CrashModel) -> None:
    disk, _ = synced(A)
    disk.remove("/a")
    assert same(states(disk, model), {"/a": A}, {})
    disk.sync_folder("/")
    assert states(disk, model) == [{}]


@MODELS
def test_a_removed_file_may_be_back_with_what_was_lost_of_it(model: CrashModel) -> None:
    disk, file = synced(A)
    file.write([B], 0)
    disk.remove("/a")
    assert same(states(disk, model), {"/a": A}, {"/a": B}, {})


@MODELS
def test_a_name_taken_by_another_file(model: CrashModel) -> None:
    disk, _ = synced(A)
    disk.remove("/a")
    file = disk.open("/a", create=True)
    file.write([B], 0)
    file.sync()
    assert files(disk, model) == {A, None, B}


@MODELS
@pytest.mark.parametrize("size_bytes", [0, 100, S, S + 100])
def test_cut(model: CrashModel, size_bytes: int) -> None:
    disk, file = synced(A + B)
    file.truncate(size_bytes)
    kept = (A + B)[:size_bytes]
    emptied = {x + y for x in (A, kept[:S].ljust(S, b"\0")) for y in (B, kept[S:].ljust(S, b"\0"))}
    assert files(disk, model) == {kept, A + B} | (emptied if model is POSIX else set())
    file.sync()
    assert files(disk, model) == {(A + B)[:size_bytes]}


@MODELS
def test_lengthened(model: CrashModel) -> None:
    disk, file = synced(b"a")
    file.truncate(3 * S)
    assert files(disk, model) == {b"a", b"a".ljust(3 * S, b"\0")}


@MODELS
def test_allocated(model: CrashModel) -> None:
    disk, file = synced(A)
    file.allocate(3 * S)
    file.write([B], S)
    assert files(disk, model) == {A, A + Z + Z, A + B + Z}
    file.sync()
    assert files(disk, model) == {A + B + Z}


def test_rewritten_after_a_cut() -> None:
    disk, file = synced(A + A)
    file.truncate(0)
    file.write([B + B], 0)
    apart = {A + A, b"", B, Z, B + B, B + Z, Z + B, Z + Z}
    assert files(disk, ORDERED) == apart
    mixed = {A, A + B, B + A, A + Z, Z + A}
    assert files(disk, POSIX) == apart | mixed


def test_what_lies_below_a_cut_may_be_lost_on_both_its_sides() -> None:
    disk, file = synced(A + A)
    file.write([B], 0)
    file.truncate(S + 1)
    file.write([b"c"], S + 1)
    before, after = {A + A, B + A}, {A + b"A", B + b"A"}
    longer = {x + y for x in (A, B) for y in (b"A\0", b"Ac")}
    assert files(disk, ORDERED) == before | after | longer
    assert files(disk, POSIX) == before | after | longer | {
        x + y for x in (A, B) for y in (b"AA", (b"Ac").ljust(S, b"\0"), b"A".ljust(S, b"\0"))
    }


@MODELS
def test_overwritten_in_the_middle(model: CrashModel) -> None:
    disk, file = synced(A + A + A)
    file.write([b"B" * S], 256)
    first, second = b"A" * 256 + b"B" * 256, b"B" * 256 + b"A" * 256
    assert files(disk, model) == {
        x + y + A for x in (A, first) for y in (A, second)
    }  # fmt: skip


@MODELS
def test_a_sector_holds_one_of_its_moments(model: CrashModel) -> None:
    disk, file = synced(A)
    file.write([b"B"], 0)
    file.write([b"C"], 1)
    # The second write is nowhere without the first: the sector goes whole.
    assert files(disk, model) == {A, b"B" + A[1:], b"BC" + A[2:]}


@MODELS
def test_the_files_fail_apart(model: CrashModel) -> None:
    disk, first = synced(A)
    second = disk.open("/b", create=True)
    disk.sync_folder("/")
    first.write([B], 0)
    second.write([C], 0)
    assert same(
        states(disk, model), *({"/a": a, "/b": b} for a in (A, B) for b in (b"", Z, C))
    )  # fmt: skip


@MODELS
@pytest.mark.parametrize("end", [SimulatedFile.close, lambda file: file.start_writeback(0, S)])
def test_what_promises_nothing(model: CrashModel, end: Callable[[SimulatedFile], None]) -> None:
    disk, file = synced(A)
    file.write([B], 0)
    end(file)
    assert files(disk, model) == {A, B}
