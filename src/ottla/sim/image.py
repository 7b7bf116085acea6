"""One state that a power cut may leave, told apart from others before it is made.

Most of the many states are met again and again, so one is made only when somebody wants it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple, Self, TypeAlias

from ottla.sim.content import Content
from ottla.sim.names import Folder, Node

Entries: TypeAlias = Mapping[Folder, Mapping[str, Node]]
Chosen: TypeAlias = tuple[int, Mapping[int, bytes]]
"""A size, and the sectors that are not as in memory."""
Unread: TypeAlias = Callable[[Collection[str]], Collection[str]]
"""Of all paths that there are, those of files whose content nobody will look at."""

_DIGEST_BYTES: Final = 16


def none_unread(_: Collection[str]) -> Collection[str]:
    """Every content matters."""
    return ()


class State(NamedTuple):
    """One state of a file; equal contents have one digest."""

    chosen: Chosen
    digest: bytes

    @classmethod
    def of(cls, content: Content, chosen: Chosen) -> Self:
        """A state of a content."""
        size_bytes = chosen[0]
        data = content.image(*chosen).read(0, size_bytes)
        return cls(chosen, blake2b(data, digest_size=_DIGEST_BYTES).digest())


class Tree:
    """Which names there are, whatever the files hold."""

    def __init__(self, root: Folder, entries: Entries, unread: Unread) -> None:
        self._root = root
        self._entries = entries
        paths: dict[str, Node] = {}
        waiting = [("", root)]
        while waiting:
            above, folder = waiting.pop()
            for name, node in entries[folder].items():
                paths[f"{above}/{name}"] = node
                if isinstance(node, Folder):
                    waiting.append((f"{above}/{name}", node))
        ignored = set(unread(paths))
        files = {path: node for path, node in sorted(paths.items()) if isinstance(node, Content)}
        # Each file once, whatever its names.
        self.contents: Final = list(dict.fromkeys(files.values()))
        self._read = {node for path, node in files.items() if path not in ignored}
        places = {content: place for place, content in enumerate(self.contents)}
        listed = [
            (path, places[node] if isinstance(node, Content) else -1)
            for path, node in sorted(paths.items())
        ]
        self.digest: Final = blake2b(repr(listed).encode(), digest_size=_DIGEST_BYTES).digest()

    def is_read(self, content: Content) -> bool:
        """Does it matter what the file holds?"""
        return content in self._read

    def build(self, states: Sequence[State]) -> Folder:
        """A tree of its own, all of it on the device."""
        folders = {folder: Folder(folder.modified_ms) for folder in self._entries}
        contents = {
            content: content.image(*state.chosen)
            for content, state in zip(self.contents, states, strict=True)
        }
        for old, made in folders.items():
            for name, node in self._entries[old].items():
                if isinstance(node, Folder):
                    made.entries[name] = folders[node]
                else:
                    made.entries[name] = contents[node]
                    contents[node].links += 1
            made.settled = dict(made.entries)
        return folders[self._root]


class Image:
    """One state of a disk, which can be made."""

    __slots__ = ("_states", "_tree", "identity")

    def __init__(self, tree: Tree, states: Sequence[State]) -> None:
        self._tree = tree
        self._states = states
        digests = [
            state.digest if tree.is_read(content) else b""
            for content, state in zip(tree.contents, states, strict=True)
        ]
        # Equal for states that no reader could tell apart.
        self.identity = blake2b(
            b"".join((tree.digest, *digests)), digest_size=_DIGEST_BYTES
        ).digest()

    def build(self) -> Folder:
        """Make it."""
        return self._tree.build(self._states)
