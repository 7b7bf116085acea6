"""Where there are too many states after a power cut to see them all, some are drawn."""

from random import Random

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from tests.unit.ports.disks import simulated

MODELS = pytest.mark.parametrize("model", CrashModel)
S = 512


def busy(seed: int, calls: int) -> SimulatedDisk:
    """A disk after some random calls, few enough that every state can be listed."""
    disk, chance = simulated(), Random(seed)
    disk.make_folder("/f")
    for _ in range(calls):
        path = chance.choice(("/a", "/b", "/f/c"))
        file = disk.open(path, create=True)
        match chance.randrange(7):
            case 0 | 1:
                data = bytes([chance.randrange(65, 90)]) * chance.choice((9, S, S + 9))
                file.write([data], chance.choice((0, 100, file.size())))
            case 2:
                file.truncate(chance.choice((0, 100, S, file.size())))
            case 3:
                file.sync()
            case 4:
                disk.sync_folder(chance.choice(("/", "/f")))
            case 5:
                disk.rename(path, chance.choice(("/a", "/b", "/f/c")))
            case _:
                disk.remove(path)
        file.close()
    return disk


def test_what_is_drawn_is_among_all() -> None:
    checked = 0
    for seed in range(60):
        disk = busy(seed, 5)
        for model in CrashModel:
            if disk.count_crash_images(model, 400) > 400:
                continue
            every = [image.contents() for image in disk.crash_images(model, 400)]
            assert len(every) <= disk.count_crash_images(model, 400)
            for draw in range(20):
                assert disk.crash(Random(draw), model).contents() in every
            checked += 1
    assert checked > 60


def test_what_may_come_in_order_may_come_in_any() -> None:
    checked = 0
    for seed in range(60):
        disk = busy(seed, 5)
        if disk.count_crash_images(CrashModel.POSIX, 2000) > 2000:
            continue
        posix = [image.contents() for image in disk.crash_images(CrashModel.POSIX, 2000)]
        ordered = [image.contents() for image in disk.crash_images(CrashModel.ORDERED, 2000)]
        assert all(state in posix for state in ordered)
        assert disk.contents() in ordered
        checked += 1
    assert checked > 30


@MODELS
def test_a_long_write_is_torn_in_many_ways(model: CrashModel) -> None:
    disk = simulated()
    file = disk.open("/a", create=True)
    disk.sync_folder("/")
    file.write([b"x" * (100 * S)], 0)
    assert disk.count_crash_images(model, 300) == 301
    found = [image.contents()["/a"] for image in disk.crash_images(model, 300)]
    assert len(found) == 300
    assert b"" in found
    assert b"x" * (100 * S) in found
    torn = [(b"x" * (kept * S)).ljust(100 * S, b"\0") for kept in range(1, 100)]
    assert any(data in torn for data in found)


@MODELS
def test_many_names_are_drawn(model: CrashModel) -> None:
    disk = simulated()
    for number in range(40):
        disk.open(f"/{number:02}", create=True)
    found = [sorted(image.contents()) for image in disk.crash_images(model, 50)]
    wanted = 41 if model is CrashModel.ORDERED else 50
    assert len(found) == wanted
    assert [] in found
    assert [f"/{number:02}" for number in range(40)] in found


def test_a_seed_gives_the_same_again() -> None:
    def drawn(seed: int) -> list[dict[str, bytes | None]]:
        images = busy(3, 30).crash_images(images_max=20, chance=Random(seed))
        return [image.contents() for image in images]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_an_image_is_a_disk_of_its_own() -> None:
    disk = simulated(capacity_bytes=10 * S)
    file = disk.open("/a", create=True)
    file.write([b"x" * (3 * S)], 0)
    file.sync()
    disk.sync_folder("/")
    assert disk.lock("/a") is not None
    image = disk.crash(Random(1))
    assert image.free_bytes("/") == 7 * S
    again = image.open("/a")
    again.write([b"y"], 0)
    image.remove("/a")
    again.close()
    assert image.free_bytes("/") == 10 * S
    assert image.lock("/a") is not None
    assert disk.contents() == {"/a": b"x" * (3 * S)}
    file.write([b"z"], 0)


def test_the_end_of_a_process_loses_nothing() -> None:
    disk = simulated()
    file = disk.open("/a", create=True)
    file.write([b"x"], 0)
    disk.open("/b", create=True).write([b"y" * S], 0)
    disk.remove("/b")
    assert disk.lock("/lock") is not None
    disk.end_process()
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.read(0, 1)
    assert disk.lock("/lock") is not None
    assert disk.contents() == {"/a": b"x", "/lock": b""}
    # And what may be lost by a power cut afterwards is what could be lost before.
    assert {} in [image.contents() for image in disk.crash_images()]
