"""What a node does for its logs as time goes by: a list of jobs each time it is asked.

It is asked whenever something is due, and told when a job has ended. Looking at all logs is done in
portions, so that a node of very many logs answers its clients between them.

Invariants
  I-UPK-1  Whatever is planned here is a job, which any thread may run; no device is waited for.
  I-UPK-2  Files that left a log are removed no sooner than `file.delete.delay.ms` later.
  I-UPK-3  A job that failed on a disk that is well is planned again; one that failed with its
           directory is forgotten with it.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Final, Protocol

from ottla.storage.cleaning.cleanings import Cleanings
from ottla.storage.commits import Commits, FlushLogs
from ottla.storage.directory_logs import DirectoryLogs, HostedLog
from ottla.storage.directory_offsets import WriteOffsets
from ottla.storage.file_names import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from ottla.storage.logs import Logs
from ottla.storage.schedule import Schedule, Task
from ottla.storage.watched_disk import DirectoryOffline

LOGS_AT_ONCE: Final = 100
AGAIN_MS: Final = 60_000
"""When a removal that failed is tried again."""
_CHECKPOINT_OF: Final = {
    Task.RECOVERY_POINTS: RECOVERY_POINTS,
    Task.LOG_STARTS: LOG_START_OFFSETS,
    Task.HIGH_WATERMARKS: HIGH_WATERMARKS,
}


class Job(Protocol):
    """Something that may take a device long, and touches nothing that the node's thread does."""

    def run(self) -> None:
        """Do it, on any thread."""
        ...


class Upkeep:
    """The upkeep of a node's logs."""

    def __init__(
        self,
        logs: Logs,
        commits: Commits,
        schedule: Schedule,
        now_ms: int,
        cleanings: Cleanings | None = None,
    ) -> None:
        """Without `cleanings` no log is compacted."""
        self._logs = logs
        self._cleanings = cleanings
        self._commits = commits
        self._schedule = schedule
        self._sweeps: dict[Task, Iterator[HostedLog]] = {}
        self._later: list[tuple[int, int, Job]] = []
        self._planned = 0
        for job in logs.leftovers:
            self.remove_later(job, now_ms)

    @property
    def next_ms(self) -> int:
        """When it wants to be asked; a time in the past says at once."""
        if self._sweeps:
            return 0
        next_ms = [self._schedule.next_ms, *(due_ms for due_ms, *_ in self._later[:1])]
        if self._cleanings is not None:
            next_ms.append(self._cleanings.next_ms)
        return min(next_ms)

    def remove_later(self, job: Job, due_ms: int) -> None:
        """Let a job wait until its time."""
        self._planned += 1
        heappush(self._later, (due_ms, self._planned, job))

    def plan(self, now_ms: int) -> list[Job]:
        """The jobs that are due."""
        jobs: list[Job] = []
        for task in self._schedule.due(now_ms):
            name = _CHECKPOINT_OF.get(task)
            if name is not None:
                jobs += self._plan_offsets(name)
            elif task not in self._sweeps:
                self._sweeps[task] = iter(list(self._logs.all()))
        for task in list(self._sweeps):
            self._sweep(task, now_ms)
        while self._later and self._later[0][0] <= now_ms:
            jobs.append(heappop(self._later)[-1])
        if self._cleanings is not None:
            jobs += self._cleanings.plan(now_ms)
        return [*jobs, *self._commits.plan()]

    def ended(self, job: Job, fault: OSError | None, now_ms: int) -> Sequence[HostedLog]:
        """Take note of a job that was planned here; give the logs that became durable further on.

        The logs of a directory that went offline by it are to be dropped by the caller.
        """
        if isinstance(job, FlushLogs):
            return self._commits.ended(job, now_ms)
        if self._cleanings is not None and self._cleanings.has(job):
            self._clean_on(self._cleanings, job, fault, now_ms)
        elif isinstance(job, WriteOffsets):
            for home in self._logs.homes:
                if home.directory is job.directory:
                    home.offsets.ended(job, has_failed=fault is not None)
        elif fault is not None and not isinstance(fault, DirectoryOffline):
            self.remove_later(job, now_ms + AGAIN_MS)
        return ()

    def _clean_on(self, cleanings: Cleanings, job: Job, fault: OSError | None, now_ms: int) -> None:
        """Remove what a cleaning put others in the place of, once its readers are done."""
        for hosted, removal in cleanings.ended(job, fault, now_ms):
            self.remove_later(removal, now_ms + hosted.log.options.file_delete_delay_ms)

    def _plan_offsets(self, name: str) -> list[WriteOffsets]:
        jobs = [home.plan_offsets(name) for home in self._logs.homes if _is_live(home)]
        return [job for job in jobs if job is not None]

    def _sweep(self, task: Task, now_ms: int) -> None:
        """Go on with a task that looks at every log."""
        for _ in range(LOGS_AT_ONCE):
            hosted = next(self._sweeps[task], None)
            if hosted is None:
                del self._sweeps[task]
                return
            if self._is_there(hosted):
                self._tend(task, hosted, now_ms)

    def _is_there(self, hosted: HostedLog) -> bool:
        """Is a log still one of the node's since the sweep began?"""
        served = (self._logs.current.get(hosted.partition), self._logs.future.get(hosted.partition))
        return hosted in served and not hosted.is_taken and hosted.directory.is_live

    def _tend(self, task: Task, hosted: HostedLog, now_ms: int) -> None:
        if task is Task.FLUSH:
            self._commits.look(hosted, now_ms)
        elif task is Task.PRODUCERS:
            hosted.log.history.expire_producers(now_ms)
        else:
            self._delete_old(hosted, now_ms)

    def _delete_old(self, hosted: HostedLog, now_ms: int) -> None:
        if hosted.is_swapping:
            return  # The next sweep sees.
        try:
            removal = hosted.log.delete_old(hosted.high_watermark, now_ms)
        except OSError:
            # Its directory is offline, or cannot even rename; the next sweep sees.
            return
        if removal is not None:
            self.remove_later(removal, now_ms + hosted.log.options.file_delete_delay_ms)


def _is_live(home: DirectoryLogs) -> bool:
    return home.directory.is_live
