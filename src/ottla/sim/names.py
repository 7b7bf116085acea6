"""The names of a simulated disk: folders in memory, and which of their changes a device has."""

import errno
import os
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from ottla.sim.content import Content


class Folder:
    """A folder: its entries in memory, and those that the device surely has."""

    __slots__ = ("entries", "modified_ms", "settled")

    def __init__(self, modified_ms: int) -> None:
        self.modified_ms = modified_ms
        self.entries: dict[str, Node] = {}
        self.settled: dict[str, Node] = {}


Node: TypeAlias = Content | Folder
Assignment: TypeAlias = tuple[Folder, str, Node | None]


@dataclass(slots=True)
class NameChange:
    """Entries that change together. Two changes of one moment are the halves of a rename."""

    moment: int
    entries: tuple[Assignment, ...]
    is_synced: bool = False
    # A sync that should have brought it failed, so no later one will.
    is_lost: bool = False


def refuse(number: int, path: str) -> NoReturn:
    """Fail as the operating system does."""
    raise OSError(number, os.strerror(number), path)


def normal(path: str) -> str:
    """The one spelling of a path; what does not begin at the root is taken to."""
    return posixpath.normpath(f"/{path}").replace("//", "/")


class Names:
    """The tree of folders, and its changes in order from the first that the device may lack."""

    __slots__ = ("_moment", "changes", "root")

    def __init__(self, root: Folder) -> None:
        self.root = root
        self.changes: list[NameChange] = []
        self._moment = 0

    def find(self, path: str) -> Node:
        """What a path leads to."""
        node: Node = self.root
        for name in normal(path).split("/")[1:]:
            if not name:
                continue
            if not isinstance(node, Folder):
                refuse(errno.ENOTDIR, path)
            found = node.entries.get(name)
            if found is None:
                refuse(errno.ENOENT, path)
            node = found
        return node

    def folder(self, path: str) -> Folder:
        """The folder that a path leads to."""
        node = self.find(path)
        if not isinstance(node, Folder):
            refuse(errno.ENOTDIR, path)
        return node

    def place(self, path: str) -> tuple[Folder, str]:
        """The folder that a path's last name is or would be in, and that name."""
        above, name = posixpath.split(normal(path))
        if not name:
            refuse(errno.EBUSY, path)
        return self.folder(above), name

    def put(self, folder: Folder, name: str, node: Node | None) -> None:
        """Give an entry to a node, or take it away."""
        self._change([((folder, name, node),)])

    def move(self, old: str, new: str) -> None:
        """Rename, replacing what may be replaced."""
        old_folder, old_name = self.place(old)
        new_folder, new_name = self.place(new)
        node = old_folder.entries.get(old_name)
        if node is None:
            refuse(errno.ENOENT, old)
        target = new_folder.entries.get(new_name)
        if f"{normal(new)}/".startswith(f"{normal(old)}/") and target is not node:
            refuse(errno.EINVAL, new)
        if f"{normal(old)}/".startswith(f"{normal(new)}/") and target is not node:
            refuse(errno.ENOTEMPTY, new)
        if target is node:
            return
        self._check_replaceable(node, target, new)
        going: Assignment = (old_folder, old_name, None)
        coming: Assignment = (new_folder, new_name, node)
        if old_folder is new_folder or isinstance(node, Folder):
            self._change([(going, coming)])
        else:
            self._change([(coming,), (going,)])

    def sync(self, folder: Folder) -> None:
        """The device has what changed in a folder, but for what an earlier sync failed to bring."""
        for change in self.changes:
            if not change.is_lost and any(entry[0] is folder for entry in change.entries):
                change.is_synced = True
        # What comes after a change that may be lost stays listed, and so do the halves of a rename.
        open_moments = (change.moment for change in self.changes if not change.is_synced)
        first_open = next(open_moments, self._moment + 1)
        while self.changes and self.changes[0].moment < first_open:
            for where, name, node in self.changes.pop(0).entries:
                if node is None:
                    where.settled.pop(name, None)
                else:
                    where.settled[name] = node

    def lose(self, folder: Folder) -> None:
        """A sync of a folder failed."""
        for change in self.changes:
            if any(entry[0] is folder for entry in change.entries):
                change.is_lost = not change.is_synced

    def files(self) -> Iterator[Content]:
        """Every file that has a name, once for each."""
        folders = [self.root]
        while folders:
            for node in folders.pop().entries.values():
                if isinstance(node, Folder):
                    folders.append(node)
                else:
                    yield node

    def _check_replaceable(self, node: Node, target: Node | None, path: str) -> None:
        if isinstance(target, Folder):
            if not isinstance(node, Folder):
                refuse(errno.EISDIR, path)
            if target.entries:
                refuse(errno.ENOTEMPTY, path)
        elif target is not None and isinstance(node, Folder):
            refuse(errno.ENOTDIR, path)

    def _change(self, halves: list[tuple[Assignment, ...]]) -> None:
        self._moment += 1
        for entries in halves:
            self.changes.append(NameChange(self._moment, entries))
            for folder, name, node in entries:
                old = folder.entries.pop(name, None)
                if isinstance(old, Content):
                    old.links -= 1
                if isinstance(node, Content):
                    node.links += 1
                if node is not None:
                    folder.entries[name] = node
