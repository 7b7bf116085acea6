"""Open all logs of a node after any end: one job a log, for any threads, and what they found.

The marks of a clean stop are taken first, then the checkpoints are read and the folders listed.
After that each log is opened on its own, so the jobs of a directory may run in any order and beside
each other; a directory is best served by `num.recovery.threads.per.data.dir` threads. When all jobs
have run, `finish` gives the logs. Nothing of it needs room on a disk.

Invariants
  I-LOAD-1  A mark is gone for good before the first log of its directory is touched.
  I-LOAD-2  A log that cannot be opened costs nobody but itself; its batches and indexes stay as
            they are. A disk that fails costs its directory, and the others live.
  I-LOAD-3  No log takes appends while the recovery point on the disk lies past its end: what would
            be torn there later would look like corruption.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Protocol

from ottla.kernels.faults import Malformed
from ottla.storage.clean_shutdown import CleanShutdown
from ottla.storage.directories import Directories, Partitions, Placed
from ottla.storage.directory_logs import DirectoryLogs, HostedLog, SetAside
from ottla.storage.file_names import Kind, Stage
from ottla.storage.history import History
from ottla.storage.leftovers import FolderNames
from ottla.storage.log_options import LogOptions
from ottla.storage.logs import Logs
from ottla.storage.partition_folders import FoundFolder, rename_to_stray
from ottla.storage.recovery import Findings, Opening, open_log
from ottla.storage.watched_disk import DirectoryOffline
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition


class Topics(Protocol):
    """What a node knows of partitions before their logs are open."""

    def is_known(self, found: FoundFolder) -> bool:
        """Should a partition's folder be there, of a topic with its id?"""
        ...

    def options(self, partition: TopicPartition) -> LogOptions:
        """The options of a partition's topic."""
        ...

    def history(self, partition: TopicPartition) -> History:
        """An empty history, which the log will fill."""
        ...


class Progress(NamedTuple):
    """How far the opening of a directory's logs is."""

    logs_done: int
    logs_total: int
    bytes_done: int
    bytes_total: int
    """The bytes that have to be checked; those of logs that were closed cleanly do not."""


class OpenLog:
    """The job that opens one log; it keeps what came of it, and never raises for what it finds."""

    def __init__(
        self,
        home: DirectoryLogs,
        placed: Placed,
        knowledge: tuple[LogOptions, History],
        opening: Opening,
    ) -> None:
        self.home = home
        self.placed = placed
        self.partition = placed.found.folder.partition
        self.is_done = False
        self.checked_bytes = 0
        self.bytes_total = 0 if opening.is_clean else _unsure_bytes(placed, opening.recovery_point)
        self.hosted: HostedLog | None = None
        self.findings: Findings | None = None
        self.set_aside: SetAside | None = None
        self._knowledge = knowledge
        self._opening = replace(opening, progress=self._note)

    def run(self) -> None:
        """Do it, on any thread."""
        try:
            self._open()
        except DirectoryOffline:
            # The directory knows why, and tells it for all of its logs.
            pass
        except (Malformed, OSError) as fault:
            self.set_aside = SetAside(self.partition, self.placed, fault)
        self.checked_bytes = self.bytes_total
        self.is_done = True

    def _open(self) -> None:
        path = self.placed.path
        log, self.findings = open_log(self.home.handles, path, *self._knowledge, self._opening)
        said = self.home.offsets.found(self.partition)
        high_watermark = max(log.log_start_offset, min(said.high_watermark or 0, log.end_offset))
        cleaned = said.cleaned_offset
        if cleaned is not None:
            cleaned = min(cleaned, log.end_offset)
        self.hosted = HostedLog(self.partition, self.placed, log, high_watermark, cleaned)

    def _note(self, count_bytes: int) -> None:
        self.checked_bytes = min(self.checked_bytes + count_bytes, self.bytes_total)


class Loading:
    """All logs of a node while they are being opened."""

    def __init__(
        self,
        directories: Directories,
        homes: Mapping[str, DirectoryLogs],
        partitions: Partitions,
        broker_epoch: int | None,
    ) -> None:
        """Made by `plan_loading`."""
        self.broker_epoch = broker_epoch
        """That of the last stop, if it was clean in all directories; for the controller."""
        self.jobs: dict[str, list[OpenLog]] = {path: [] for path in homes}
        """By directory, the largest first, so that no thread is left alone with it at the end."""
        self.partitions = partitions
        self._directories = directories
        self._homes = dict(homes)

    def progress(self) -> dict[str, Progress]:
        """How far it is, by directory; any thread may ask at any time."""
        return {path: _progress(jobs) for path, jobs in self.jobs.items()}

    def in_turn(self) -> Iterator[OpenLog]:
        """All jobs, as a single thread would take them."""
        for jobs in self.jobs.values():
            yield from jobs

    def finish(self) -> Logs:
        """All jobs have run: the logs, without those of directories that failed meanwhile.

        Waits for a disk where a recovery point has to be taken back. Raises `NoDirectoryLeft`.
        """
        for home in self._homes.values():
            for job in self.jobs[home.directory.path]:
                assert job.is_done, f"{job.placed.path} was not opened"
                if job.hosted is not None:
                    home.hosted[job.partition] = job.hosted
                elif job.set_aside is not None:
                    home.set_aside[job.partition] = job.set_aside
        logs = Logs(self._directories, self._homes.values(), self.partitions)
        for home in logs.homes:
            with suppress(DirectoryOffline):
                home.take_back_all()
        logs.drop_offline()
        self._directories.check_any_live()
        return logs


def plan_loading(
    directories: Directories,
    topics: Topics,
    now_ms: int,
    *,
    make_id: Callable[[], Uuid],
    files_max: int = 10_000,
) -> Loading:
    """List what is there, and give the jobs that open it.

    Folders that the metadata does not know become stray; `files_max` bounds the files that are kept
    open, all directories together. Raises `NoDirectoryLeft` and `DuplicatePartition`.
    """
    marks, broker_epoch = directories.take_clean_epoch()
    homes: dict[str, DirectoryLogs] = {}
    share = max(1, files_max // len(directories.opened))
    for directory in directories.live:
        try:
            homes[directory.path] = DirectoryLogs(directory, share)
        except DirectoryOffline:
            continue
    partitions = directories.load(topics.is_known)
    _put_aside_unknown(partitions, make_id)
    loading = Loading(directories, homes, partitions, broker_epoch)
    for placed in [*partitions.current.values(), *partitions.future.values()]:
        job = _plan_opening(homes[placed.directory.path], placed, topics, marks, now_ms)
        if job is not None:
            loading.jobs[placed.directory.path].append(job)
    for jobs in loading.jobs.values():
        jobs.sort(key=lambda job: -job.bytes_total)
    return loading


def _plan_opening(
    home: DirectoryLogs,
    placed: Placed,
    topics: Topics,
    marks: Mapping[str, CleanShutdown | None],
    now_ms: int,
) -> OpenLog | None:
    partition = placed.found.folder.partition
    said = home.offsets.found(partition)
    opening = Opening(
        now_ms,
        is_clean=marks.get(placed.directory.path) is not None,
        log_start_offset=said.log_start_offset or 0,
        recovery_point=said.recovery_point or 0,
    )
    try:
        return OpenLog(
            home, placed, (topics.options(partition), topics.history(partition)), opening
        )
    except DirectoryOffline:
        return None


def _put_aside_unknown(partitions: Partitions, make_id: Callable[[], Uuid]) -> None:
    """Let folders that the metadata does not know be strays."""
    for placed in list(partitions.unknown):
        directory = placed.directory
        try:
            found = rename_to_stray(directory.disk, directory.path, placed.found, make_id())
        except OSError:
            # It is looked at again at the next start; until then nobody serves it either.
            continue
        partitions.unknown.remove(placed)
        partitions.stray.append(Placed(directory, found))


def _unsure_bytes(placed: Placed, recovery_point: int) -> int:
    """How many bytes of a log have to be checked."""
    disk = placed.directory.disk
    bases = FolderNames.of(disk.names(placed.path)).bases(Stage.CURRENT)
    unsure = [base for base in bases if base > recovery_point]
    unsure += [base for base in bases if base <= recovery_point][-1:]
    statuses = [disk.status(f"{placed.path}/{base:020}{Kind.LOG}") for base in unsure]
    return sum(status.size_bytes for status in statuses if status is not None)


def _progress(jobs: Sequence[OpenLog]) -> Progress:
    return Progress(
        sum(job.is_done for job in jobs),
        len(jobs),
        sum(job.checked_bytes for job in jobs),
        sum(job.bytes_total for job in jobs),
    )
