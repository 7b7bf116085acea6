"""Bring to the device what was appended: many appends to many logs share one wait.

A log that has something to be brought waits for the next round. A round takes all logs of one
directory that wait; while it runs, what is appended waits for the one after it. So under any load a
file is synced at most once a round, however many appends came, and an append waits for two rounds
at the most.

With `durability=fsync` every append waits for a round, and counts only below `durable_offset`: the
batches alone are synced, as recovery makes everything else anew from them. Otherwise logs wait
whose options ask for a flush, by messages or time or since they were rolled, and their recovery
point moves too.

Invariants
  I-COM-1  At most one flush of a log is under way, and at most one round of a directory.
  I-COM-2  A log's durable offset moves only when its sync has come back without an error, and only
           to where the log ended when the round was planned. Of very many segments only the first
           are in a round, and the rest in the next.
  I-COM-3  After a failed sync nothing of its directory is synced any more: the directory is
           offline, and what waited there is never acknowledged.
  I-COM-4  What is waiting when a round ends is in the next one, so nothing waits for ever.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ottla.storage.directory import Directory
from ottla.storage.directory_logs import HostedLog
from ottla.storage.flush import Flush
from ottla.storage.watched_disk import DirectoryOffline
from ottla.storage.writes import DISK_FULL


class PlannedFlush(NamedTuple):
    """A flush, and the log that it is of."""

    hosted: HostedLog
    flush: Flush


class FlushLogs:
    """The job of a round, or of a part of it: some flushes, one after the other."""

    __slots__ = ("directory", "flushes", "has_failed")

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.flushes: list[PlannedFlush] = []
        self.has_failed: list[HostedLog] = []
        """Logs of which not all could be written for want of room."""

    def run(self) -> None:
        """Do it, on any thread. Raises `OSError` if the directory is lost."""
        for hosted, flush in self.flushes:
            try:
                flush.run()
            except DirectoryOffline:
                raise
            except OSError:
                # A folder that was deleted meanwhile, or no room for what is not a batch.
                self.has_failed.append(hosted)


class Commits:
    """What waits to be brought to the device, and what is on its way there."""

    def __init__(self, *, is_durable: bool = False, threads_max: int = 1) -> None:
        """Each directory's round is dealt among so many jobs."""
        self.is_durable = is_durable
        self._threads_max = threads_max
        self._waiting: dict[Directory, dict[HostedLog, bool]] = {}  # Is a whole flush wanted?
        self._running: dict[Directory, set[FlushLogs]] = {}

    @property
    def is_idle(self) -> bool:
        """Does nothing wait, and is nothing under way?"""
        return not self._waiting and not self._running

    def appended(self, hosted: HostedLog, now_ms: int) -> None:
        """Hear of an append."""
        if self.is_durable:
            waiting = self._waiting.get(hosted.placed.directory)
            if waiting is None or hosted not in waiting:
                self._want(hosted, is_whole=False)
        elif hosted.log.is_flush_due(now_ms):
            self._want(hosted, is_whole=True)

    def look(self, hosted: HostedLog, now_ms: int) -> None:
        """See whether a log is due by its options, though nothing was appended."""
        if hosted.log.is_flush_due(now_ms):
            self._want(hosted, is_whole=True)

    def _want(self, hosted: HostedLog, *, is_whole: bool) -> None:
        waiting = self._waiting.setdefault(hosted.placed.directory, {})
        waiting[hosted] = is_whole or waiting.get(hosted, False)

    def plan(self) -> list[FlushLogs]:
        """The jobs of the rounds that may begin now; for any threads, in any order."""
        jobs: list[FlushLogs] = []
        for directory in [one for one in self._waiting if one not in self._running]:
            waiting = self._waiting.pop(directory)
            if directory.is_live:
                jobs += self._plan_round(directory, waiting)
        return jobs

    def _plan_round(self, directory: Directory, waiting: dict[HostedLog, bool]) -> list[FlushLogs]:
        jobs = [FlushLogs(directory) for _ in range(min(self._threads_max, len(waiting)))]
        planned = 0
        for hosted, is_whole in waiting.items():
            if hosted.is_taken:
                continue
            assert not hosted.log.is_flushing, "I-COM-1"
            try:
                flush = hosted.log.plan_flush(is_commit=not is_whole)
            except OSError as fault:
                if directory.is_live and fault.errno not in DISK_FULL:
                    raise
                # The batches need no more room, so an append that waits is not held up.
                if not directory.is_live or not self.is_durable:
                    continue
                flush = hosted.log.plan_flush(is_commit=True)
            jobs[planned % len(jobs)].flushes.append(PlannedFlush(hosted, flush))
            planned += 1
        jobs = [job for job in jobs if job.flushes]
        if jobs:
            self._running[directory] = set(jobs)
        return jobs

    def ended(self, job: FlushLogs, now_ms: int) -> list[HostedLog]:
        """Take note of a job that has run; give the logs whose durable offset has moved."""
        running = self._running[job.directory]
        running.discard(job)
        if not running:
            del self._running[job.directory]
        if not job.directory.is_live:
            return []  # I-COM-3
        moved: list[HostedLog] = []
        for hosted, flush in job.flushes:
            before = hosted.log.durable_offset
            if hosted in job.has_failed:
                hosted.log.not_flushed(flush)
                if self.is_durable and hosted.log.durable_offset < flush.end_offset:
                    self._want(hosted, is_whole=True)
            else:
                hosted.log.flushed(flush, now_ms)
                if flush.is_partial:
                    self._want(hosted, is_whole=not flush.is_commit)
            if hosted.log.durable_offset > before:
                moved.append(hosted)
        return moved

    def forget(self, gone: Sequence[HostedLog]) -> None:
        """Let logs wait no more that were deleted or are offline."""
        for hosted in gone:
            waiting = self._waiting.get(hosted.directory)
            if waiting is not None:
                waiting.pop(hosted, None)
                if not waiting:
                    del self._waiting[hosted.directory]
