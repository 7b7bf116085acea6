"""A log directory: whose it is, that nobody else uses it, and the small files that it keeps.

A node opens a directory, takes the mark of the last clean stop, reads the checkpoints and lists the
folders, all of which needs no room. When it stops it writes the checkpoints, then the mark, then
gives the directory back.

Invariants
  I-DIR-1  Nothing in a directory is changed before it is locked and known to be this node's.
  I-DIR-2  A start needs no room: what cannot be written then is noticed and done without.
  I-DIR-3  A checkpoint that cannot be read counts as absent, which costs time and never data, and
           is noticed. One that cannot be written stays the old one.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from errno import EDQUOT, ENOSPC
from typing import Final

from ottla.kernels.faults import Malformed
from ottla.ports import Disk, FileLock
from ottla.storage.checkpoints import format_offsets, parse_offsets
from ottla.storage.clean_shutdown import (
    CleanShutdown,
    format_clean_shutdown,
    take_clean_shutdown,
)
from ottla.storage.directory_faults import (
    AlreadyFormatted,
    DirectoryInUse,
    NotFormatted,
    Notice,
    NotWritten,
    OtherCluster,
    OtherNode,
    Unreadable,
    WrongDirectoryId,
)
from ottla.storage.file_names import CLEAN_SHUTDOWN, LOCK, META_PROPERTIES
from ottla.storage.meta_properties import (
    MetaProperties,
    format_meta_properties,
    parse_meta_properties,
)
from ottla.storage.partition_folders import Listing, list_folders
from ottla.storage.small_files import folder_of, read_file, replace_file
from ottla.storage.watched_disk import WatchedDisk
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from ottla.wire.uuids import RESERVED

_NO_ROOM: Final = frozenset({ENOSPC, EDQUOT})


@dataclass(frozen=True, slots=True)
class Owner:
    """To whom a directory must belong; the cluster is None while the node does not know it."""

    node_id: int
    cluster_id: str | None = None


class Directory:
    """A log directory that this process has locked."""

    def __init__(self, disk: WatchedDisk, path: str, lock: FileLock, meta: MetaProperties) -> None:
        """Made by `open_directory`."""
        self.disk = disk
        self.path = path
        self.meta = meta
        self.notices: list[Notice] = []
        self._lock = lock

    @property
    def is_live(self) -> bool:
        """Has its disk not failed?"""
        return self.disk.fault is None

    def take_clean_shutdown(self) -> CleanShutdown | None:
        """The mark of the last clean stop, which is gone afterwards; call it before any log."""
        return take_clean_shutdown(self.disk, self.path)

    def mark_clean(self, broker_epoch: int) -> None:
        """Leave the mark. All logs were opened, are closed, and their checkpoints are written."""
        path = f"{self.path}/{CLEAN_SHUTDOWN}"
        replace_file(self.disk, path, format_clean_shutdown(broker_epoch))

    def read_offsets(self, name: str) -> dict[TopicPartition, int]:
        """What a checkpoint says; nothing if it is not there or cannot be read."""
        path = f"{self.path}/{name}"
        try:
            return read_file(self.disk, path, parse_offsets) or {}
        except Malformed as fault:
            self.notices.append(Unreadable(path, str(fault)))
            return {}

    def write_offsets(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Let a checkpoint say this; if it fails, it says what it said before."""
        replace_file(self.disk, f"{self.path}/{name}", format_offsets(offsets))

    def list_folders(self) -> Listing:
        """All folders of partitions."""
        return list_folders(self.disk, self.path, self.notices.append)

    def give_id(self, make_id: Callable[[], Uuid], written_ms: int) -> None:
        """Let a directory of a time before there were ids have one, if there is room to keep it."""
        if self.meta.directory_id is not None:
            return
        meta = replace(self.meta, directory_id=make_id())
        path = f"{self.path}/{META_PROPERTIES}"
        try:
            replace_file(self.disk, path, format_meta_properties(meta, written_ms))
        except OSError as fault:
            if fault.errno not in _NO_ROOM or not self.is_live:
                raise
            self.notices.append(NotWritten(path, str(fault)))
        else:
            self.meta = meta

    def release(self) -> None:
        """Let other processes have the directory."""
        self._lock.release()


def open_directory(disk: Disk, path: str, owner: Owner) -> Directory:
    """Lock a directory, and see that it is this node's.

    Raises `DirectoryRefused` if it is not or is in use, `Malformed` if it does not say whose it is,
    and `OSError` if its disk fails.
    """
    watched = WatchedDisk(disk, path)
    if watched.status(f"{path}/{META_PROPERTIES}") is None:
        # Looked at first: a lock would leave a file where a person may have mistyped the path.
        raise NotFormatted(f"there is no {META_PROPERTIES}; the directory is not formatted", path)
    lock = watched.lock(f"{path}/{LOCK}")
    if lock is None:
        raise DirectoryInUse("another process has the directory, or it is named twice", path)
    with ExitStack() as until_open:
        until_open.callback(lock.release)
        meta = read_file(watched, f"{path}/{META_PROPERTIES}", parse_meta_properties)
        if meta is None:
            raise NotFormatted(f"{META_PROPERTIES} was removed just now", path)
        _check_owner(path, meta, owner)
        until_open.pop_all()
    return Directory(watched, path, lock, meta)


def format_directory(disk: Disk, path: str, meta: MetaProperties, written_ms: int) -> None:
    """Make a directory a log directory; the folder above must be there."""
    if disk.status(f"{path}/{META_PROPERTIES}") is not None:
        raise AlreadyFormatted(f"there is a {META_PROPERTIES} already", path)
    disk.make_folder(path)
    disk.sync_folder(folder_of(path))
    # Last, since it is what makes the directory count as formatted.
    content = format_meta_properties(meta, written_ms)
    replace_file(disk, f"{path}/{META_PROPERTIES}", content)


def _check_owner(path: str, meta: MetaProperties, owner: Owner) -> None:
    if meta.node_id is None:
        raise OtherNode(f"{META_PROPERTIES} does not say to which node it belongs", path)
    if meta.node_id != owner.node_id:
        reason = f"it belongs to node {meta.node_id}, and this is node {owner.node_id}"
        raise OtherNode(reason, path)
    if meta.cluster_id is None:
        raise OtherCluster(f"{META_PROPERTIES} does not say to which cluster it belongs", path)
    if owner.cluster_id not in (None, meta.cluster_id):
        reason = f"it belongs to cluster {meta.cluster_id!r}, and this is {owner.cluster_id!r}"
        raise OtherCluster(reason, path)
    if meta.directory_id in RESERVED:
        raise WrongDirectoryId(f"its id is a reserved one in {META_PROPERTIES}", path)
