"""The simulated disk and the real one cannot be told apart while nothing goes wrong."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ottla.ports import Disk, File, FileLock
from ottla.runtime.disk import SystemDisk
from tests.unit.ports.disks import answer, simulated

# Thousands of real syncs would wait for whatever else a device does.
MEMORY: Final = "/dev/shm"

NAME = st.sampled_from(["a", "b", "c"])
PATH = st.lists(NAME, min_size=1, max_size=3).map(lambda names: "/".join(["", *names]))
POSITION = st.integers(0, 3000)
PARTS = st.lists(st.integers(0, 1500), max_size=3)
SLOT = st.integers(0, 3)


class World:
    """A disk, its files that are open, and the locks that are held."""

    def __init__(self, disk: Disk, root: str) -> None:
        self.disk = disk
        self.root = root
        self.files: dict[int, File] = {}
        self.locks: dict[str, FileLock] = {}

    def open(self, slot: int, path: str, *, create: bool, read_only: bool) -> None:
        if slot in self.files:
            self.files.pop(slot).close()
        self.files[slot] = self.disk.open(self.root + path, create=create, read_only=read_only)

    def lock(self, path: str) -> bool:
        lock = self.disk.lock(self.root + path)
        if lock is not None:
            self.locks[path] = lock
        return lock is not None

    def status(self, path: str) -> tuple[int, bool] | None:
        found = self.disk.status(self.root + path)
        return found and (found.size_bytes, found.is_folder)

    def close(self) -> None:
        for held in self.files.values():
            held.close()
        for lock in self.locks.values():
            lock.release()


class Disks(RuleBasedStateMachine):
    """Both disks are asked the same, and answer the same."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.mkdtemp(dir=MEMORY if Path(MEMORY).is_dir() else None)
        memory = simulated()
        memory.make_folder("/data")
        self.worlds = (World(SystemDisk(), self.folder), World(memory, "/data"))
        self.written = 0

    def both(self, call: Callable[[World], object]) -> object:
        real, ours = (answer(lambda world=world: call(world)) for world in self.worlds)
        assert real == ours
        return real

    def with_file(self, slot: int, call: Callable[[File], object]) -> None:
        if all(slot in world.files for world in self.worlds):
            self.both(lambda world: call(world.files[slot]))

    @rule(slot=SLOT, path=PATH, create=st.booleans(), read_only=st.booleans())
    def open(self, slot: int, path: str, create: bool, read_only: bool) -> None:
        self.both(lambda world: world.open(slot, path, create=create, read_only=read_only))

    @rule(slot=SLOT, name=NAME, parts=PARTS, position=POSITION)
    def write(self, slot: int, name: str, parts: list[int], position: int) -> None:
        if any(slot not in world.files for world in self.worlds):
            self.open(slot, f"/{name}", create=True, read_only=False)
        self.written = self.written % 255 + 1
        data = [bytes([self.written]) * count for count in parts]
        self.with_file(slot, lambda file: file.write(data, position))

    @rule(slot=SLOT, position=POSITION, count=POSITION)
    def read(self, slot: int, position: int, count: int) -> None:
        self.with_file(slot, lambda file: file.read(position, count))

    @rule(slot=SLOT, position=POSITION, count=st.integers(0, 600))
    def read_into(self, slot: int, position: int, count: int) -> None:
        def filled(file: File) -> tuple[int, bytearray]:
            buffer = bytearray(count)
            return file.read_into(position, buffer), buffer

        self.with_file(slot, filled)

    @rule(slot=SLOT, size_bytes=POSITION)
    def truncate(self, slot: int, size_bytes: int) -> None:
        self.with_file(slot, lambda file: file.truncate(size_bytes))

    @rule(slot=SLOT, size_bytes=POSITION)
    def allocate(self, slot: int, size_bytes: int) -> None:
        self.with_file(slot, lambda file: file.allocate(size_bytes))

    @rule(slot=SLOT)
    def sync(self, slot: int) -> None:
        self.with_file(slot, lambda file: file.start_writeback(0, 1000))
        self.with_file(slot, lambda file: file.sync())

    @rule(slot=SLOT)
    def close(self, slot: int) -> None:
        self.with_file(slot, lambda file: file.close())

    @rule(path=PATH)
    def make_folder(self, path: str) -> None:
        self.both(lambda world: world.disk.make_folder(world.root + path))

    @rule(old=PATH, new=PATH)
    def rename(self, old: str, new: str) -> None:
        self.both(lambda world: world.disk.rename(world.root + old, world.root + new))

    @rule(path=PATH)
    def remove(self, path: str) -> None:
        self.both(lambda world: world.disk.remove(world.root + path))

    @rule(path=PATH)
    def sync_folder(self, path: str) -> None:
        self.both(lambda world: world.disk.sync_folder(world.root + path))

    @rule(path=PATH)
    def lock(self, path: str) -> None:
        self.both(lambda world: world.lock(path))

    @rule(path=PATH)
    def release(self, path: str) -> None:
        self.both(lambda world: world.locks[path].release() if path in world.locks else None)

    @rule(path=PATH)
    def look(self, path: str) -> None:
        self.both(lambda world: world.status(path))
        self.both(lambda world: world.disk.names(world.root + path))

    @invariant()
    def the_files_are_equal(self) -> None:
        for slot in range(4):
            self.with_file(slot, lambda file: (file.size(), file.read(0, 10_000)))

    @invariant()
    def the_names_are_equal(self) -> None:
        self.both(lambda world: world.disk.names(world.root))

    def teardown(self) -> None:
        for world in self.worlds:
            world.close()
        shutil.rmtree(self.folder)


TestDisks = Disks.TestCase
TestDisks.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
