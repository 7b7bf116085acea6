"""Find the files of logs under some paths, and tell by their names what they are."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Final

from ottla.cli import Refused
from ottla.cli.log.choices import FileKind
from ottla.kernels.faults import InvalidValue
from ottla.ports import Disk
from ottla.storage import file_names
from ottla.storage.file_names import Kind, parse_remote_index_file, parse_snapshot_file
from ottla.storage.folder_names import PartitionFolder, parse_folder

DEPTH_MAX: Final = 5
"""How deep folders are looked into: a disk, its log directories, their partitions, and more."""


_BY_NAME: Final = {
    file_names.META_PROPERTIES: FileKind.META_PROPERTIES,
    file_names.LOCK: FileKind.LOCK,
    file_names.CLEAN_SHUTDOWN: FileKind.CLEAN_SHUTDOWN,
    file_names.HIGH_WATERMARKS: FileKind.OFFSETS,
    file_names.RECOVERY_POINTS: FileKind.OFFSETS,
    file_names.LOG_START_OFFSETS: FileKind.OFFSETS,
    file_names.CLEANER_OFFSETS: FileKind.OFFSETS,
    file_names.BOOTSTRAP_CHECKPOINT: FileKind.METADATA_SNAPSHOT,
    file_names.PARTITION_METADATA: FileKind.PARTITION_METADATA,
    file_names.LEADER_EPOCHS: FileKind.EPOCHS,
    file_names.QUORUM_STATE: FileKind.QUORUM_STATE,
}
_BY_KIND: Final = {
    Kind.LOG: FileKind.LOG,
    Kind.INDEX: FileKind.INDEX,
    Kind.TIME_INDEX: FileKind.TIME_INDEX,
    Kind.TXN_INDEX: FileKind.TXN_INDEX,
    Kind.PRODUCER_SNAPSHOT: FileKind.PRODUCERS,
}


@dataclass(frozen=True, slots=True)
class LogFile:
    """One file, and what its name and its folder's name say of it.

    `stage` is the suffix of a file that is not, or no longer, what is read: `.deleted` and so on.
    """

    path: str
    kind: FileKind
    size_bytes: int
    base_offset: int | None = None
    stage: str = ""
    folder: PartitionFolder | None = None

    @property
    def name(self) -> str:
        """Its name without its folder."""
        return PurePath(self.path).name

    @property
    def parent(self) -> str:
        """The folder that it lies in."""
        return str(PurePath(self.path).parent)

    @property
    def topic(self) -> str | None:
        """The topic, if it lies in a partition's folder."""
        return self.folder.partition.topic if self.folder else None

    @property
    def partition(self) -> int | None:
        """The partition, if it lies in a partition's folder."""
        return self.folder.partition.partition if self.folder else None


def find_files(disk: Disk, paths: list[str], topic_pattern: str | None = None) -> list[LogFile]:
    """Every file at or under some paths: a folder's own files first, then its folders."""
    found: list[LogFile] = []
    for path in paths:
        status = disk.status(path)
        if status is None:
            raise Refused(f"{path}: there is no such file or folder")
        if status.is_folder:
            found += _files_in(disk, path, 0)
        else:
            found.append(describe(path, status.size_bytes, folder_named(path, is_file=True)))
    if topic_pattern is not None:
        found = [f for f in found if f.topic and fnmatchcase(f.topic, topic_pattern)]
        if not found:
            raise Refused(f"no folder of a topic {topic_pattern!r} lies there")
    return found


def folder_named(path: str, *, is_file: bool) -> PartitionFolder | None:
    """What the name of a path, or of the folder that a file lies in, says of a partition."""
    # Not resolved: a link may have the name that says it.
    absolute = PurePath(os.path.abspath(path))  # noqa: PTH100  `absolute` keeps `..` in a path.
    try:
        return parse_folder(absolute.parent.name if is_file else absolute.name)
    except InvalidValue:
        return None


def describe(path: str, size_bytes: int, folder: PartitionFolder | None) -> LogFile:
    """Say what a file is by its name."""
    name = PurePath(path).name
    segment = file_names.parse_segment_file(name)
    if segment is not None:
        kind = _BY_KIND[segment.kind]
        return LogFile(path, kind, size_bytes, segment.base_offset, segment.stage, folder)
    snapshot = parse_snapshot_file(name)
    if snapshot is not None:
        kind = FileKind.METADATA_SNAPSHOT
        return LogFile(path, kind, size_bytes, snapshot.end_offset, snapshot.stage, folder)
    remote = parse_remote_index_file(name)
    if remote is not None:
        kind = _BY_KIND[remote.kind]
        return LogFile(path, kind, size_bytes, remote.start_offset, remote.stage, folder)
    stem = name.removesuffix(".tmp")
    stage = ".tmp" if stem != name else ""
    return LogFile(path, _kind_of(stem), size_bytes, None, stage, folder)


def _kind_of(name: str) -> FileKind:
    """The kind of a file with a name of its own, or with the suffix of a segment's file at least.

    A segment that was renamed is still worth a look.
    """
    if name in _BY_NAME:
        return _BY_NAME[name]
    suffix = PurePath(name).suffix
    if suffix == ".checkpoint":
        return FileKind.METADATA_SNAPSHOT
    return _BY_KIND[Kind(suffix)] if suffix in tuple(Kind) else FileKind.UNKNOWN


def _files_in(disk: Disk, path: str, depth: int) -> Iterator[LogFile]:
    folder = folder_named(path, is_file=False)
    folders: list[str] = []
    for name in disk.names(path):
        inner = f"{path.rstrip('/')}/{name}"
        status = disk.status(inner)
        if status is None:
            continue
        if status.is_folder:
            folders.append(inner)
        else:
            yield describe(inner, status.size_bytes, folder)
    if depth < DEPTH_MAX:
        for inner in sorted(folders, key=_folder_order):
            yield from _files_in(disk, inner, depth + 1)


def _folder_order(path: str) -> tuple[str, int, str]:
    """Partitions in the order of their numbers: 2 comes before 10."""
    found = folder_named(path, is_file=False)
    if found is None:
        return PurePath(path).name, -1, path
    return found.partition.topic, found.partition.partition, path
