"""Folders of partitions in one log directory: found, made, renamed, removed.

A folder's name says what becomes of it, and a rename is one step, so that after a power cut a
partition is as before or as after (I-FOLDER-1). Whatever returned is not undone by one
(I-FOLDER-2). What is removed was renamed first, so that a tree cut down by half is never taken for
a partition (I-FOLDER-3).
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from errno import EEXIST, ENOTEMPTY
from typing import Final, TypeAlias

from ottla.kernels.faults import InvalidValue, Malformed
from ottla.ports import Disk
from ottla.storage.directory_faults import (
    ForeignFolder,
    Notice,
    OtherTopic,
    SpareCopy,
    Unreadable,
)
from ottla.storage.file_names import PARTITION_METADATA, REMOTE_INDEX_CACHE
from ottla.storage.folder_names import (
    PartitionFolder,
    Purpose,
    current_folder,
    delete_folder,
    future_folder,
    parse_folder,
    stray_folder,
)
from ottla.storage.partition_metadata import format_partition_metadata, parse_partition_metadata
from ottla.storage.small_files import read_file, replace_file
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

METADATA_LOG: Final = TopicPartition("__cluster_metadata", 0)

_HAVE_TOPIC_ID: Final = (Purpose.CURRENT, Purpose.FUTURE)


@dataclass(frozen=True, slots=True)
class FoundFolder:
    """A folder of a partition; the id is None if the folder does not say it or is on its way out.

    A folder without an id was made and not finished: before a batch is appended, the id is there.
    """

    name: str
    folder: PartitionFolder
    topic_id: Uuid | None = None


_Folders: TypeAlias = dict[TopicPartition, FoundFolder]


@dataclass(slots=True)
class Listing:
    """All folders of a log directory, by what they are for; the metadata log is told apart."""

    current: _Folders = field(default_factory=dict[TopicPartition, FoundFolder])
    future: _Folders = field(default_factory=dict[TopicPartition, FoundFolder])
    deleted: list[FoundFolder] = field(default_factory=list[FoundFolder])
    stray: list[FoundFolder] = field(default_factory=list[FoundFolder])
    metadata_log: FoundFolder | None = None


@dataclass(frozen=True, slots=True)
class RemoveFolder:
    """A job: remove a folder with all that is in it. It can be begun again at any time."""

    disk: Disk
    path: str

    def run(self) -> None:
        """Do it; this may take long."""
        _remove_tree(self.disk, self.path)


def list_folders(disk: Disk, root: str, notice: Callable[[Notice], None]) -> Listing:
    """Find all folders of a directory; files, which are its own, are not told."""
    listing = Listing()
    for name in disk.names(root):
        status = disk.status(f"{root}/{name}")
        if status is None or not status.is_folder or name == REMOTE_INDEX_CACHE:
            continue
        try:
            folder = parse_folder(name)
        except InvalidValue:
            notice(ForeignFolder(f"{root}/{name}"))
            continue
        topic_id = None
        if folder.purpose in _HAVE_TOPIC_ID:
            topic_id = _topic_id(disk, f"{root}/{name}", notice)
        _add(listing, FoundFolder(name, folder, topic_id), f"{root}/{name}", notice)
    return listing


def create_current(disk: Disk, root: str, partition: TopicPartition, topic_id: Uuid) -> FoundFolder:
    """Make the folder of a new partition, or finish one that was begun; durable on return."""
    return _create(disk, root, current_folder(partition), topic_id)


def create_future(
    disk: Disk, root: str, partition: TopicPartition, topic_id: Uuid, unique: Uuid
) -> FoundFolder:
    """Make the folder of a copy that shall replace the partition of another directory."""
    return _create(disk, root, future_folder(partition, unique), topic_id)


def rename_to_delete(disk: Disk, root: str, found: FoundFolder, unique: Uuid) -> FoundFolder:
    """Let a folder be none of a partition any more; a `RemoveFolder` can follow later."""
    return rename_folder(disk, root, found, delete_folder(found.folder.partition, unique))


def rename_to_stray(disk: Disk, root: str, found: FoundFolder, unique: Uuid) -> FoundFolder:
    """Put aside a partition that the metadata does not know; only a person removes it."""
    return rename_folder(disk, root, found, stray_folder(found.folder.partition, unique))


def promote_future(disk: Disk, root: str, found: FoundFolder) -> FoundFolder:
    """Let a copy be the partition; there must be no other one by now."""
    assert found.folder.purpose is Purpose.FUTURE, found.name
    return rename_folder(disk, root, found, current_folder(found.folder.partition))


def rename_folder(disk: Disk, root: str, found: FoundFolder, name: str) -> FoundFolder:
    """Give a folder another name, durably; one of that name must not be there."""
    disk.rename(f"{root}/{found.name}", f"{root}/{name}")
    disk.sync_folder(root)
    return FoundFolder(name, parse_folder(name), found.topic_id)


def _add(listing: Listing, found: FoundFolder, path: str, notice: Callable[[Notice], None]) -> None:
    partition = found.folder.partition
    match found.folder.purpose:
        case Purpose.CURRENT if partition == METADATA_LOG:
            listing.metadata_log = found
        case Purpose.CURRENT:
            listing.current[partition] = found
        case Purpose.FUTURE if partition not in listing.future:
            listing.future[partition] = found
        case Purpose.FUTURE:
            notice(SpareCopy(path))
        case Purpose.DELETE:
            listing.deleted.append(found)
        case Purpose.STRAY:
            listing.stray.append(found)


def _topic_id(disk: Disk, path: str, notice: Callable[[Notice], None]) -> Uuid | None:
    try:
        return read_file(disk, f"{path}/{PARTITION_METADATA}", parse_partition_metadata)
    except Malformed as fault:
        notice(Unreadable(fault.place, str(fault)))
        return None


def _create(disk: Disk, root: str, name: str, topic_id: Uuid) -> FoundFolder:
    path = f"{root}/{name}"
    metadata = f"{path}/{PARTITION_METADATA}"
    is_new = disk.status(path) is None
    disk.make_folder(path)
    try:
        there = read_file(disk, metadata, parse_partition_metadata)
        if there is None:
            replace_file(disk, metadata, format_partition_metadata(topic_id))
        elif there != topic_id:
            raise OtherTopic("the folder belongs to another topic of this name", path)
        disk.sync_folder(root)
    except OSError:
        if is_new:
            # It holds nothing yet, and where there is no room it must not look like a partition.
            with suppress(OSError):
                disk.remove(path)
        raise
    return FoundFolder(name, parse_folder(name), topic_id)


def _remove_tree(disk: Disk, path: str) -> None:
    # What is tried first is to remove, so that a link is removed and never followed.
    try:
        disk.remove(path)
    except OSError as fault:
        if fault.errno not in (ENOTEMPTY, EEXIST):
            raise
        for name in disk.names(path):
            _remove_tree(disk, f"{path}/{name}")
        disk.remove(path)
