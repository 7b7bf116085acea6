"""A disk in memory that fails and forgets as disks do.

It answers as the operating system would, until told otherwise: `inject` lets calls go wrong
(`ottla.sim.faults`), a capacity lets it become full, and after a power cut it is one of
`crash_images` (`ottla.sim.crash`). Time and chance are given, so a run can be had again.
"""

import errno
from collections.abc import Callable, Iterator
from functools import partial
from random import Random

from ottla.ports import FileStatus
from ottla.sim import crash
from ottla.sim.content import Content
from ottla.sim.crash import CrashModel
from ottla.sim.device import Device
from ottla.sim.faults import Fault, IsIgnored, Operation, Outcome
from ottla.sim.file import SimulatedFile
from ottla.sim.image import Image, Unread, none_unread
from ottla.sim.names import Folder, Names, normal, refuse


class SimulatedLock:
    """A lock that a process holds."""

    __slots__ = ("_content", "_locked")

    def __init__(self, locked: set[Content], content: Content) -> None:
        self._locked = locked
        self._content: Content | None = content

    def release(self) -> None:
        # Not twice: by then it may be another's.
        if self._content is not None:
            self._locked.discard(self._content)
            self._content = None


class SimulatedDisk:
    """Files and folders in memory, at first only the root."""

    def __init__(
        self,
        now_ms: Callable[[], int],
        chance: Random,
        *,
        capacity_bytes: int | None = None,
        record: Callable[[str], None] | None = None,
    ) -> None:
        """Make an empty disk; `record` is told every call in one line, and what went wrong."""
        self._device = Device(now_ms, chance, capacity_bytes, record)
        self._names = Names(Folder(now_ms()))
        self._locked: set[Content] = set()

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> SimulatedFile:
        self._begin(Operation.OPEN, path)
        content = self._content(path, create=create)
        return SimulatedFile(self._device, normal(path), content, read_only=read_only)

    def status(self, path: str) -> FileStatus | None:
        self._begin(Operation.STATUS, path)
        try:
            node = self._names.find(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        if isinstance(node, Folder):
            return FileStatus(0, node.modified_ms, is_folder=True)
        return FileStatus(node.size_bytes, node.modified_ms, is_folder=False)

    def set_modified(self, path: str, modified_ms: int) -> None:
        self._begin(Operation.SET_MODIFIED, path)
        self._names.find(path).modified_ms = modified_ms

    def names(self, folder: str) -> list[str]:
        self._begin(Operation.NAMES, folder)
        return sorted(self._names.folder(folder).entries)

    def make_folder(self, path: str) -> None:
        self._begin(Operation.MAKE_FOLDER, path)
        if normal(path) == "/":
            return
        above, name = self._names.place(path)
        there = above.entries.get(name)
        if there is None:
            self._names.put(above, name, Folder(self._device.now_ms()))
            above.modified_ms = self._device.now_ms()
        elif not isinstance(there, Folder):
            refuse(errno.EEXIST, path)

    def rename(self, old: str, new: str) -> None:
        self._begin(Operation.RENAME, old, new)
        above_old, _ = self._names.place(old)
        above_new, name = self._names.place(new)
        replaced = above_new.entries.get(name)
        self._names.move(old, new)
        above_old.modified_ms = above_new.modified_ms = self._device.now_ms()
        if isinstance(replaced, Content):
            self._device.free_if_gone(replaced)

    def remove(self, path: str) -> None:
        self._begin(Operation.REMOVE, path)
        try:
            above, name = self._names.place(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        node = above.entries.get(name)
        if node is None:
            return
        if isinstance(node, Folder) and node.entries:
            refuse(errno.ENOTEMPTY, path)
        self._names.put(above, name, None)
        above.modified_ms = self._device.now_ms()
        if isinstance(node, Content):
            self._device.free_if_gone(node)

    def sync_folder(self, path: str) -> None:
        def lose() -> None:
            self._names.lose(self._names.folder(path))

        outcome = self._begin(Operation.SYNC_FOLDER, path, lose=lose)
        folder = self._names.folder(path)
        if not isinstance(outcome, IsIgnored):
            self._names.sync(folder)

    def free_bytes(self, path: str) -> int:
        self._begin(Operation.FREE_BYTES, path)
        self._names.find(path)
        return self._device.free_bytes()

    def lock(self, path: str) -> SimulatedLock | None:
        self._begin(Operation.LOCK, path)
        content = self._content(path, create=True)
        if content in self._locked:
            return None
        self._locked.add(content)
        return SimulatedLock(self._locked, content)

    def inject(self, fault: Fault) -> None:
        """Let calls go wrong, counted from now."""
        self._device.inject(fault)

    def heal(self) -> None:
        """Let no more calls go wrong; what was lost stays lost."""
        self._device.heal()

    def set_capacity(self, capacity_bytes: int | None) -> None:
        """Make the disk larger or smaller, to less than it holds if need be."""
        self._device.capacity_bytes = capacity_bytes

    def flip_bit(self, path: str, position: int, bit: int) -> None:
        """Let one bit of a synced file rot."""
        self._content(path, create=False).flip_bit(position, bit)

    def forget(self) -> None:
        """Drop from memory what the device could give again, as a kernel short of memory does.

        Only a sync that failed can be noticed by that: what it lost was still read from memory.
        """
        for content in self._names.files():
            content.forget(self._device.chance)

    def end_process(self) -> None:
        """Close files and release locks as the end of their process does; nothing is lost."""
        for file in list(self._device.opened):
            file.close()
        self._locked.clear()

    def crash(self, chance: Random, model: CrashModel = CrashModel.POSIX) -> "SimulatedDisk":
        """The disk after a power cut now: one of its legal states, healthy and with no file open.

        This one stays as it is, so that it can be cut off again.
        """
        return self._after(crash.draw_image(self._names, model, chance).build(), chance)

    def crash_images(
        self,
        model: CrashModel = CrashModel.POSIX,
        images_max: int = 1000,
        chance: Random | None = None,
        unread: Unread = none_unread,
    ) -> "Iterator[SimulatedDisk]":
        """All legal states after a power cut now, or if there are more, so many drawn by chance.

        Of files that are `unread` only one content is shown.
        """
        for _, make in self.crash_states(model, images_max, chance, unread):
            yield make()

    def crash_states(
        self,
        model: CrashModel = CrashModel.POSIX,
        images_max: int = 1000,
        chance: Random | None = None,
        unread: Unread = none_unread,
    ) -> "Iterator[tuple[bytes, Callable[[], SimulatedDisk]]]":
        """The same, not made yet: what tells a state from others, also of other disks, and how."""
        drawn = Random(0) if chance is None else chance
        for image in crash.images(self._names, model, images_max, drawn, unread):
            yield image.identity, partial(self._made, image, drawn)

    def count_crash_images(
        self, model: CrashModel, at_most: int, unread: Unread = none_unread
    ) -> int:
        """How many states there are, at the most; `at_most` + 1 says that `crash_images` draws."""
        return crash.count_images(self._names, model, at_most, unread)

    def contents(self) -> dict[str, bytes | None]:
        """All there is, by path; None is a folder. No fault strikes here."""
        found: dict[str, bytes | None] = {}
        waiting = [("", self._names.root)]
        while waiting:
            above, folder = waiting.pop()
            for name, node in folder.entries.items():
                path = f"{above}/{name}"
                if isinstance(node, Folder):
                    found[path] = None
                    waiting.append((path, node))
                else:
                    found[path] = node.read(0, node.size_bytes)
        return dict(sorted(found.items()))

    def _begin(
        self, operation: Operation, *paths: str, lose: Callable[[], None] | None = None
    ) -> Outcome | None:
        return self._device.begin(operation, [normal(path) for path in paths], lose=lose)

    def _content(self, path: str, *, create: bool) -> Content:
        """The file of a path, made if need be and wanted."""
        if normal(path) == "/":
            refuse(errno.EISDIR, path)
        above, name = self._names.place(path)
        node = above.entries.get(name)
        if isinstance(node, Folder):
            refuse(errno.EISDIR, path)
        if node is None:
            if not create:
                refuse(errno.ENOENT, path)
            node = Content(self._device.now_ms())
            self._names.put(above, name, node)
            above.modified_ms = self._device.now_ms()
        return node

    def _made(self, image: Image, chance: Random) -> "SimulatedDisk":
        return self._after(image.build(), chance)

    def _after(self, root: Folder, chance: Random) -> "SimulatedDisk":
        """A disk of its own that holds a tree."""
        old = self._device
        made = SimulatedDisk(old.now_ms, Random(chance.random()), capacity_bytes=old.capacity_bytes)
        made._names = Names(root)
        made._device.used_bytes = sum({c: c.room_bytes for c in made._names.files()}.values())
        return made
