"""What a real ext4 leaves after a power cut is among what the simulated disk says it may.

The file system lies in a file. A copy of that file is what a device would hold, were the power cut
at that moment; it is mounted beside, which replays its journal, and read.
"""

import os
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn

import pytest

from ottla.ports import Disk, File
from ottla.runtime.disk import SystemDisk
from ottla.sim.crash import CrashModel
from tests.unit.ports.disks import simulated

CUTS: Final = 150
IMAGES_MAX: Final = 30_000
DEVICE_BYTES: Final = 8 << 20
PATHS: Final = ("/a", "/b", "/f/c")


@contextmanager
def mounted(device: Path, folder: Path) -> Iterator[Path]:
    """A file system that lies in a file."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", device, folder], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module")
def blank(
    tmp_path_factory: pytest.TempPathFactory, missing_peer: Callable[[str], NoReturn]
) -> Path:
    """A device with an empty file system."""
    device = tmp_path_factory.mktemp("ext4") / "blank"
    device.write_bytes(b"")
    os.truncate(device, DEVICE_BYTES)
    try:
        command = ["mkfs.ext4", "-q", "-b", "1024", "-F", device]
        subprocess.run(command, check=True, capture_output=True)
        with mounted(device, device.parent / "tried"):
            pass
    except (OSError, subprocess.CalledProcessError):
        missing_peer("a mounted ext4 takes Linux, its administrator and mkfs.ext4")
    return device


def drawn_call(chance: random.Random, letter: bytes) -> Callable[[Disk, str], object]:
    """One random call, to be made on a disk below a folder."""
    path, other = chance.choice(PATHS), chance.choice(PATHS)
    size_bytes, cut_bytes = chance.choice((9, 512, 700)), chance.choice((0, 100, 600, 1500))
    position, folder = chance.choice((0, 100, None)), chance.choice(("/", "/f"))

    def append(file: File) -> None:
        file.write([letter * size_bytes], file.size() if position is None else position)

    def on_file(call: Callable[[File], object]) -> Callable[[Disk, str], object]:
        def with_opening(disk: Disk, root: str) -> None:
            file = disk.open(root + path, create=True)
            call(file)
            file.close()

        return with_opening

    calls: list[tuple[int, Callable[[Disk, str], object]]] = [
        (5, on_file(append)),
        (1, on_file(lambda file: file.truncate(cut_bytes))),
        (1, on_file(lambda file: file.allocate(cut_bytes))),
        (1, on_file(lambda file: file.sync())),
        (2, on_file(lambda file: file.start_writeback(0, 4096))),
        (1, lambda disk, root: disk.sync_folder(root + folder)),
        (2, lambda disk, root: disk.rename(root + path, root + other)),
        (1, lambda disk, root: disk.remove(root + path)),
    ]
    weights, drawn = zip(*calls, strict=True)
    return chance.choices(drawn, weights)[0]


def held(folder: Path) -> dict[str, bytes | None]:
    """All that is in a file system, but for what is not the simulated disk's."""
    found = [path for path in sorted(folder.rglob("*")) if path.name not in ("lost+found", "else")]
    return {
        f"/{path.relative_to(folder)}": None if path.is_dir() else path.read_bytes()
        for path in found
    }


def cut(blank: Path, seed: int) -> tuple[bool, bool]:
    """Whether a power cut lost something; whether what it left is legal in both models."""
    chance, place = random.Random(seed), blank.parent
    device = Path(shutil.copy(blank, place / "device"))
    disk = simulated()
    with mounted(device, place / "live") as live:
        both: list[tuple[Disk, str]] = [(SystemDisk(), str(live)), (disk, "")]
        other = os.open(live / "else", os.O_RDWR | os.O_CREAT)
        for made, root in both:
            made.make_folder(f"{root}/f")
            made.sync_folder(f"{root}/")
        for number in range(chance.randrange(2, 9)):
            letter = bytes([65 + number])
            call = drawn_call(chance, letter)
            for made, root in both:
                with suppress(OSError):
                    call(made, root)
            if chance.random() < 0.3:
                # The sync of a file that is not looked at brings the journal, names and sizes.
                os.pwrite(other, letter, number * 50)
                os.fsync(other)
        os.close(other)
        assert held(live) == disk.contents()
        left_behind = shutil.copy(device, place / "left")
    with mounted(Path(left_behind), place / "after") as after:
        left = held(after)
    for model in CrashModel:
        images = disk.crash_images(model, IMAGES_MAX)
        assert disk.count_crash_images(model, IMAGES_MAX) <= IMAGES_MAX
        if not any(image.contents() == left for image in images):
            return left != disk.contents(), False
    return left != disk.contents(), True


def test_what_ext4_leaves_is_legal(blank: Path) -> None:
    found = Counter(cut(blank, seed) for seed in range(CUTS))
    assert found[True, True] > CUTS // 2, "hardly a cut lost anything"
    assert found[False, True] > 0
    assert found.keys() == {(True, True), (False, True)}
