"""The partitions that `ottla log recover` is to look at, and their log directories, locked."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from ottla.cli import Refused
from ottla.cli.log.files import folder_named
from ottla.kernels.faults import InvalidValue, Malformed
from ottla.ports import Disk
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.file_names import (
    CLEAN_SHUTDOWN,
    LOCK,
    LOG_START_OFFSETS,
    META_PROPERTIES,
    RECOVERY_POINTS,
    Kind,
    Stage,
)
from ottla.storage.folder_names import PartitionFolder, Purpose, parse_folder
from ottla.storage.leftovers import FolderNames
from ottla.storage.small_files import read_file
from ottla.wire.topics import TopicPartition

_RECOVERED = (Purpose.CURRENT, Purpose.FUTURE)


@dataclass(slots=True, eq=False)
class Root:
    """A folder that partitions lie in; one that is a log directory has checkpoints and a lock."""

    path: str
    is_log_directory: bool
    recovery_points: dict[TopicPartition, int] = field(default_factory=dict[TopicPartition, int])
    log_starts: dict[TopicPartition, int] = field(default_factory=dict[TopicPartition, int])

    @property
    def mark_path(self) -> str:
        """The mark of a clean stop."""
        return f"{self.path}/{CLEAN_SHUTDOWN}"


@dataclass(frozen=True, slots=True)
class Target:
    """A partition's folder, and what is known of its log."""

    path: str
    root: Root
    partition: TopicPartition
    size_bytes: int

    @property
    def recovery_point(self) -> int | None:
        """Below it all was on the device once; None if nobody says it."""
        return self.root.recovery_points.get(self.partition)

    @property
    def log_start_offset(self) -> int:
        """Where the log begins, if that is not where its first file does."""
        return self.root.log_starts.get(self.partition, 0)


def find_targets(disk: Disk, paths: list[str], topic_pattern: str | None) -> list[Target]:
    """The partitions at or right under some paths."""
    found: dict[str, Target] = {}
    roots: dict[str, Root] = {}
    for path in paths:
        before = len(found)
        for target in _targets_at(disk, path.rstrip("/") or "/", roots):
            if topic_pattern is None or fnmatchcase(target.partition.topic, topic_pattern):
                found[target.path] = target
        if len(found) == before:
            raise Refused(f"{path}: there is no folder of a partition")
    return list(found.values())


def _targets_at(disk: Disk, path: str, roots: dict[str, Root]) -> Iterator[Target]:
    status = disk.status(path)
    if status is None or not status.is_folder:
        raise Refused(f"{path}: there is no such folder")
    folder = folder_named(path, is_file=False)
    if folder is not None and FolderNames.of(disk.names(path)).bases(Stage.CURRENT):
        above = str(Path(path).parent)
        yield _target(disk, path, folder, _root(disk, above, roots))
        return
    root = _root(disk, path, roots)
    for name in disk.names(path):
        inner = f"{path}/{name}"
        status = disk.status(inner)
        if status is None or not status.is_folder:
            continue
        try:
            folder = parse_folder(name)
        except InvalidValue:
            continue
        if folder.purpose in _RECOVERED:
            yield _target(disk, inner, folder, root)


def _target(disk: Disk, path: str, folder: PartitionFolder, root: Root) -> Target:
    sizes = [
        status.size_bytes
        for base in FolderNames.of(disk.names(path)).bases(Stage.CURRENT)
        if (status := disk.status(f"{path}/{base:020}{Kind.LOG}")) is not None
    ]
    return Target(path, root, folder.partition, sum(sizes))


def _root(disk: Disk, path: str, roots: dict[str, Root]) -> Root:
    if path not in roots:
        is_log_directory = disk.status(f"{path}/{META_PROPERTIES}") is not None
        root = Root(path, is_log_directory)
        if is_log_directory:
            root.recovery_points = _offsets(disk, f"{path}/{RECOVERY_POINTS}")
            root.log_starts = _offsets(disk, f"{path}/{LOG_START_OFFSETS}")
        roots[path] = root
    return roots[path]


def _offsets(disk: Disk, path: str) -> dict[TopicPartition, int]:
    try:
        return read_file(disk, path, parse_offsets) or {}
    except Malformed:
        # As at a start: what cannot be read counts as absent.
        return {}


def lock_roots(disk: Disk, targets: list[Target], until_done: ExitStack) -> None:
    """Keep every node away from the directories, or refuse if one has them."""
    for root in dict.fromkeys(target.root for target in targets):
        path = f"{root.path}/{LOCK}"
        if disk.status(path) is None and not root.is_log_directory:
            continue
        lock = disk.lock(path)
        if lock is None:
            raise Refused(f"{root.path}: a broker has it; stop the broker first")
        until_done.callback(lock.release)
