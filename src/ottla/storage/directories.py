"""The log directories of a node: opened together, one chosen for a new partition, copies moved.

A partition is moved by filling a copy in the other directory, which is then swapped in. The renames
of a swap cannot be one step. So first the old folder becomes a stray one under the unique id of the
copy, then the copy becomes the partition, then the stray one is let go. A start that finds a copy
and a stray folder of one id, and no partition, goes on where the swap ended.

Invariants
  I-DIRS-1  No partition is current in two live directories.
  I-DIRS-2  At any moment of a swap, power cuts included, one of the two folders is the partition or
            becomes it at the next start; and nothing is appended to one that could be the loser.
  I-DIRS-3  The old folder is removed only after the copy is the partition for good. If the disk of
            the copy fails within the swap, the old one stays stray, which nobody removes unasked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.ports import Disk
from ottla.storage.clean_shutdown import CleanShutdown
from ottla.storage.directory import Directory, Owner, open_directory
from ottla.storage.directory_faults import (
    DuplicatePartition,
    MetadataLogOffline,
    MisplacedMetadataLog,
    NoDirectoryLeft,
    OtherCluster,
    SpareCopy,
    WrongDirectoryId,
)
from ottla.storage.folder_names import Purpose, current_folder
from ottla.storage.partition_folders import (
    METADATA_LOG,
    FoundFolder,
    Listing,
    RemoveFolder,
    create_current,
    promote_future,
    rename_folder,
)
from ottla.storage.watched_disk import DirectoryOffline
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition


class Placed(NamedTuple):
    """A folder, and the directory that it is in."""

    directory: Directory
    found: FoundFolder

    @property
    def path(self) -> str:
        """The folder's path."""
        return f"{self.directory.path}/{self.found.name}"


class Swapped(NamedTuple):
    """The partition after a swap, and what it was, to be removed; None if that stays stray."""

    current: Placed
    deleted: Placed | None


@dataclass(slots=True)
class Partitions:
    """What lies in all live directories after a start."""

    current: dict[TopicPartition, Placed] = field(default_factory=dict[TopicPartition, Placed])
    future: dict[TopicPartition, Placed] = field(default_factory=dict[TopicPartition, Placed])
    deleted: list[Placed] = field(default_factory=list[Placed])
    stray: list[Placed] = field(default_factory=list[Placed])
    unknown: list[Placed] = field(default_factory=list[Placed])  # To be made stray by the caller.

    def keep_live(self) -> None:
        """Forget what lies in directories that are offline by now."""
        for placed in (self.current, self.future):
            for partition in [p for p, found in placed.items() if not found.directory.is_live]:
                del placed[partition]
        for folders in (self.deleted, self.stray, self.unknown):
            folders[:] = [found for found in folders if found.directory.is_live]


class Directories:
    """All log directories of a node, in the order of its options."""

    def __init__(self, opened: Sequence[Directory], failed: Mapping[str, OSError]) -> None:
        """Made by `open_directories`."""
        self.opened = tuple(opened)
        self._failed = dict(failed)

    @property
    def live(self) -> list[Directory]:
        """Those whose disks have not failed."""
        return [directory for directory in self.opened if directory.is_live]

    @property
    def offline(self) -> dict[str, OSError]:
        """Those whose disks have failed, and how."""
        later = {d.path: d.disk.fault for d in self.opened if d.disk.fault is not None}
        return self._failed | later

    def check_any_live(self) -> None:
        """Raise `NoDirectoryLeft` if every directory is offline."""
        if not self.live:
            reasons = "; ".join(str(fault) for fault in self.offline.values())
            raise NoDirectoryLeft(f"every log directory is offline: {reasons}", *self.offline)

    def take_clean_epoch(self) -> tuple[dict[str, CleanShutdown | None], int | None]:
        """Take the marks of a clean stop: of each live directory, and the epoch of all.

        There is an epoch only if no directory is missing and all were closed in the same: else
        acknowledged records may be lost, and the controller must not be told otherwise.
        """
        marks: dict[str, CleanShutdown | None] = {}
        for directory in self.live:
            try:
                marks[directory.path] = directory.take_clean_shutdown()
            except DirectoryOffline:
                continue
        self.check_any_live()
        epochs = {mark.broker_epoch if mark else None for mark in marks.values()}
        if self.offline or len(epochs) != 1:
            return marks, None
        (epoch,) = epochs
        return marks, epoch

    def load(self, is_known: Callable[[FoundFolder], bool] = lambda _: True) -> Partitions:
        """List what lies in all live directories, and finish what a power cut left half done.

        Of two folders of a partition one may be of an older topic of that name: what the metadata
        does not know is asked first, and only what it knows cannot be there twice.
        """
        partitions = Partitions()
        for directory in self.live:
            try:
                listing = directory.list_folders()
            except DirectoryOffline:
                continue
            for found in [found for found in listing.current.values() if not is_known(found)]:
                del listing.current[found.folder.partition]
                partitions.unknown.append(Placed(directory, found))
            _merge(partitions, directory, listing)
        _finish_swaps(partitions)
        partitions.keep_live()
        self.check_any_live()
        return partitions

    def emptiest_first(self, log_counts: Mapping[str, int]) -> list[Directory]:
        """Live directories for a new partition, those with the fewest logs first.

        The counts are by path and with copies, as Kafka counts; sizes do not matter.
        """
        return sorted(self.live, key=lambda directory: log_counts.get(directory.path, 0))

    def create(
        self, partition: TopicPartition, topic_id: Uuid, log_counts: Mapping[str, int]
    ) -> Placed:
        """Make the folder of a new partition in the emptiest directory that takes it."""
        self.check_any_live()
        refused: OSError | None = None
        for directory in self.emptiest_first(log_counts):
            try:
                found = create_current(directory.disk, directory.path, partition, topic_id)
            except OSError as fault:
                refused = fault
            else:
                return Placed(directory, found)
        self.check_any_live()
        assert refused is not None, "a live directory was asked"
        raise refused

    def release(self) -> None:
        """Let other processes have all of them."""
        for directory in self.opened:
            directory.release()


def open_directories(
    disk: Disk, paths: Sequence[str], owner: Owner, metadata_path: str | None = None
) -> Directories:
    """Open all directories of a node; one whose disk fails is offline, and the others live.

    Raises `DirectoryRefused` with nothing locked if they are not all this node's, if they disagree,
    or if none is left. `metadata_path` is where the metadata log belongs, the first by default.
    """
    opened: list[Directory] = []
    failed: dict[str, OSError] = {}
    with ExitStack() as until_open:
        for path in paths:
            try:
                directory = open_directory(disk, path, owner)
            except OSError as fault:
                failed[path] = fault
            else:
                until_open.callback(directory.release)
                opened.append(directory)
        directories = Directories(opened, failed)
        directories.check_any_live()
        _check_agreement(opened)
        _check_metadata_log(directories, metadata_path or paths[0])
        until_open.pop_all()
    return directories


def swap(current: Placed, copy: Placed) -> Swapped:
    """Let a copy be the partition; both are closed, and the copy has all that the partition has.

    If it raises, the partition is as it was, unless a directory is offline by that: then there is
    none until the next start.
    """
    home = current.directory
    out = rename_folder(home.disk, home.path, current.found, _with(copy.found, Purpose.STRAY))
    try:
        taken = _promote(copy)
    except OSError:
        # After a failed disk nobody knows which name the copy has.
        if copy.directory.is_live:
            rename_folder(home.disk, home.path, out, current.found.name)
        raise
    return Swapped(taken, _let_go(Placed(home, out)))


def removals(deleted: Iterable[Placed]) -> list[RemoveFolder]:
    """The jobs that remove folders which wait for it."""
    return [RemoveFolder(placed.directory.disk, placed.path) for placed in deleted]


def _promote(copy: Placed) -> Placed:
    found = promote_future(copy.directory.disk, copy.directory.path, copy.found)
    return Placed(copy.directory, found)


def _let_go(out: Placed) -> Placed | None:
    """Let a folder that was replaced wait for its removal; None if its disk does not do it."""
    home = out.directory
    with suppress(OSError):
        going = rename_folder(home.disk, home.path, out.found, _with(out.found, Purpose.DELETE))
        return Placed(home, going)
    return None


def _with(found: FoundFolder, purpose: Purpose) -> str:
    """The name of a folder of the same unique id for another purpose, which is no longer."""
    return found.name.removesuffix(found.folder.purpose) + purpose


def _finish_swaps(partitions: Partitions) -> None:
    """Go on with swaps that a power cut ended after their first step."""
    for out in list(partitions.stray):
        partition = out.found.folder.partition
        copy = partitions.future.get(partition)
        if copy is None or copy.found.folder.unique != out.found.folder.unique:
            continue
        if partition in partitions.current:
            continue
        try:
            partitions.current[partition] = _promote(copy)
        except DirectoryOffline:
            continue
        del partitions.future[partition]
        partitions.stray.remove(out)
        gone = _let_go(out)
        if gone is not None:
            partitions.deleted.append(gone)


def _merge(partitions: Partitions, directory: Directory, listing: Listing) -> None:
    for partition, found in listing.current.items():
        placed = Placed(directory, found)
        other = partitions.current.setdefault(partition, placed)
        if other is not placed:
            raise DuplicatePartition(partition, other.path, placed.path)
    for partition, found in listing.future.items():
        placed = Placed(directory, found)
        if partitions.future.setdefault(partition, placed) is not placed:
            directory.notices.append(SpareCopy(placed.path))
    partitions.deleted += [Placed(directory, found) for found in listing.deleted]
    partitions.stray += [Placed(directory, found) for found in listing.stray]


def _check_agreement(opened: Iterable[Directory]) -> None:
    """Raise unless all directories are of one cluster, and each has an id of its own."""
    clusters: dict[str | None, str] = {}
    ids: dict[Uuid, str] = {}
    for directory in opened:
        clusters.setdefault(directory.meta.cluster_id, directory.path)
        if len(clusters) > 1:
            (one, there), (other, here) = clusters.items()
            raise OtherCluster(f"one belongs to cluster {one!r}, one to {other!r}", there, here)
        if directory.meta.directory_id is not None:
            there = ids.setdefault(directory.meta.directory_id, directory.path)
            if there != directory.path:
                reason = "they have the same directory.id; is one a copy of the other?"
                raise WrongDirectoryId(reason, there, directory.path)


def _check_metadata_log(directories: Directories, metadata_path: str) -> None:
    fault = directories.offline.get(metadata_path)
    if fault is not None:
        reason = f"the directory of the metadata log is offline: {fault}"
        raise MetadataLogOffline(reason, metadata_path)
    name = current_folder(METADATA_LOG)
    for directory in directories.live:
        if directory.path == metadata_path:
            continue
        with suppress(DirectoryOffline):
            if directory.disk.status(f"{directory.path}/{name}") is not None:
                reason = f"it has a {name}, which belongs to {metadata_path}"
                raise MisplacedMetadataLog(reason, directory.path)
