"""All logs of a node: found by partition, made, cut, deleted, lost with their directories.

`loading` opens them, `upkeep` says what is to be done for them as time goes by, `commits` brings
them to the device, `moves` brings one to another directory, and `stopping` closes them.

Invariants
  I-LOGS-1  A partition is open once, and its copy in another directory at most once.
  I-LOGS-2  Before a log is made or cut, no recovery point past its new end is left on the disk.
  I-LOGS-3  A log of a directory that is offline is none of the node's, and nobody asks its files.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ottla.ports import Disk
from ottla.storage.directories import Directories, Partitions
from ottla.storage.directory import Directory
from ottla.storage.directory_logs import Busy, DirectoryLogs, HostedLog, SetAside
from ottla.storage.folder_names import Purpose, delete_folder
from ottla.storage.history import History
from ottla.storage.log_options import LogOptions
from ottla.storage.partition_folders import RemoveFolder
from ottla.storage.recovery import Opening, open_log
from ottla.storage.writes import DISK_FULL, DiskFull
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition


class RemoveLog(NamedTuple):
    """The job that removes the folder of a log that was deleted."""

    disk: Disk
    root: str
    path: str

    def run(self) -> None:
        """Do it, on any thread; it may be begun again at any time."""
        # The name that says that it is to go comes first, or a half would look like a log.
        self.disk.sync_folder(self.root)
        RemoveFolder(self.disk, self.path).run()


class Logs:
    """The logs of all live directories."""

    def __init__(
        self, directories: Directories, homes: Iterable[DirectoryLogs], partitions: Partitions
    ) -> None:
        """Made by `Loading.finish`."""
        self.directories = directories
        self.homes = [home for home in homes if home.directory.is_live]
        self.current: dict[TopicPartition, HostedLog] = {}
        self.future: dict[TopicPartition, HostedLog] = {}
        """Copies that are to replace the current ones, in other directories."""
        self.leftovers = [
            RemoveLog(placed.directory.disk, placed.directory.path, placed.path)
            for placed in partitions.deleted
        ]
        """Folders that were to be removed before the start."""
        for home in self.homes:
            for partition, hosted in home.hosted.items():
                is_future = hosted.placed.found.folder.purpose is Purpose.FUTURE
                (self.future if is_future else self.current)[partition] = hosted

    def __len__(self) -> int:
        return len(self.current)

    def __getitem__(self, partition: TopicPartition) -> HostedLog:
        return self.current[partition]

    def get(self, partition: TopicPartition) -> HostedLog | None:
        """The log of a partition; None if it is not served here."""
        return self.current.get(partition)

    def all(self) -> Iterator[HostedLog]:
        """Every log that is open, copies too."""
        for home in self.homes:
            yield from home.hosted.values()

    @property
    def set_aside(self) -> list[SetAside]:
        """The logs that could not be opened."""
        return [one for home in self.homes for one in home.set_aside.values()]

    def home_of(self, directory: Directory) -> DirectoryLogs:
        """What is open of a live directory."""
        return next(home for home in self.homes if home.directory is directory)

    def create(
        self,
        partition: TopicPartition,
        topic_id: Uuid,
        knowledge: tuple[LogOptions, History],
        now_ms: int,
    ) -> HostedLog:
        """Make the log of a new partition where there are the fewest.

        Raises `DiskFull`, `Busy` and `OtherTopic`; whatever it raises, it can be asked again.
        """
        assert partition not in self.current, "I-LOGS-1"
        counts = {h.directory.path: len(h.hosted) + len(h.set_aside) for h in self.homes}
        try:
            placed = self.directories.create(partition, topic_id, counts)
            home = self.home_of(placed.directory)
            home.take_back(partition, 0)
            opening = Opening(now_ms, is_clean=True)
            log, _ = open_log(home.handles, placed.path, *knowledge, opening)
        except OSError as fault:
            if fault.errno in DISK_FULL:
                name = f"{partition.topic}-{partition.partition}"
                raise DiskFull(name, fault) from fault
            raise
        hosted = HostedLog(partition, placed, log, log.log_start_offset)
        home.hosted[partition] = self.current[partition] = hosted
        return hosted

    def delete(self, partition: TopicPartition, unique: Uuid) -> RemoveLog:
        """Let a partition go, also one that was set aside; the job may run some time later."""
        hosted = self.current.pop(partition, None)
        if hosted is None:
            return self._delete_set_aside(partition, unique)
        del self.home_of(hosted.directory).hosted[partition]
        hosted.log.abandon()
        return _rename_to_delete(hosted.directory, hosted.placed.path, partition, unique)

    def _delete_set_aside(self, partition: TopicPartition, unique: Uuid) -> RemoveLog:
        home = next(home for home in self.homes if partition in home.set_aside)
        placed = home.set_aside.pop(partition).placed
        return _rename_to_delete(home.directory, placed.path, partition, unique)

    def truncate_to(self, hosted: HostedLog, offset: int, now_ms: int) -> None:
        """Cut off the batch that holds an offset and all after it; the disk is waited for.

        Raises `Busy` while a flush of the log or the checkpoint is under way, or the cleaner
        exchanges segments.
        """
        log = hosted.log
        if log.is_flushing:
            raise Busy(f"{log.files.folder} is flushed")
        if offset >= log.end_offset and not log.is_being_cut:
            return
        hosted.stop_cleaning()
        self._take_back(hosted, log.whole_batches_end(offset))
        log.truncate_to(offset, now_ms)
        hosted.high_watermark = min(hosted.high_watermark, log.end_offset)

    def start_at(self, hosted: HostedLog, offset: int, now_ms: int) -> None:
        """Let go of all that a log holds, and begin anew at an offset. Raises `Busy`."""
        if hosted.log.is_flushing:
            raise Busy(f"{hosted.log.files.folder} is flushed")
        hosted.stop_cleaning()
        self._take_back(hosted, 0)
        hosted.log.start_at(offset, now_ms)
        hosted.high_watermark = offset
        hosted.cleaned_offset = None

    def _take_back(self, hosted: HostedLog, end_offset: int) -> None:
        self.home_of(hosted.directory).take_back(hosted.partition, end_offset)
        if hosted.cleaned_offset is not None:
            hosted.cleaned_offset = min(hosted.cleaned_offset, end_offset)

    def drop_offline(self) -> list[HostedLog]:
        """Forget the logs of directories that are offline by now, and give them."""
        gone: list[HostedLog] = []
        for home in [home for home in self.homes if not home.directory.is_live]:
            self.homes.remove(home)
            gone += home.hosted.values()
        for hosted in gone:
            for served in (self.current, self.future):
                if served.get(hosted.partition) is hosted:
                    del served[hosted.partition]
        return gone


def _rename_to_delete(
    directory: Directory, path: str, partition: TopicPartition, unique: Uuid
) -> RemoveLog:
    gone = f"{directory.path}/{delete_folder(partition, unique)}"
    directory.disk.rename(path, gone)
    return RemoveLog(directory.disk, directory.path, gone)
