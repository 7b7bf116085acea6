"""End all logs of a node so that the next start believes them without looking.

First every log is closed, by a job each, for any threads. When all of these have run, each
directory writes its checkpoints and at last its mark, by a job too.

Invariants
  I-STOP-1  A directory has the mark only if all of its logs were opened and closed without an
            error, which says that their batches, entries, snapshots and epochs are on the device,
            and all of its checkpoints say so: the mark is written last.
  I-STOP-2  A stop that is cut off at any moment leaves what an unclean end leaves.
"""

from ottla.storage.directory_logs import DirectoryLogs, HostedLog
from ottla.storage.directory_offsets import CHECKPOINTS
from ottla.storage.logs import Logs


class CloseLog:
    """The job that closes a log."""

    __slots__ = ("_now_ms", "hosted", "is_closed")

    def __init__(self, hosted: HostedLog, now_ms: int) -> None:
        self.hosted = hosted
        self.is_closed = False
        self._now_ms = now_ms

    def run(self) -> None:
        """Do it, on any thread; nothing else uses the log any more. Raises `OSError`."""
        if self.hosted.cleaning is not None:
            self.hosted.cleaning.close()
        self.hosted.log.close(self._now_ms)
        self.is_closed = True


class MarkDirectory:
    """The job that ends a directory whose logs are closed."""

    __slots__ = ("_broker_epoch", "_home", "is_clean")

    def __init__(self, home: DirectoryLogs, broker_epoch: int, *, is_clean: bool) -> None:
        self.is_clean = is_clean
        self._home = home
        self._broker_epoch = broker_epoch

    def run(self) -> None:
        """Do it, on any thread. Raises `OSError`, and then there is no mark."""
        for name in CHECKPOINTS:
            job = self._home.plan_offsets(name)
            if job is not None:
                job.run()
                self._home.offsets.ended(job, has_failed=False)
        if self.is_clean:
            self._home.directory.mark_clean(self._broker_epoch)


class Stop:
    """The end of all logs; no job of theirs may be under way any more."""

    def __init__(self, logs: Logs, now_ms: int) -> None:
        self._logs = logs
        self.close_jobs = [CloseLog(hosted, now_ms) for hosted in logs.all()]
        assert not any(hosted.log.is_flushing for hosted in logs.all()), "I-LOG-7"

    def mark_jobs(self, broker_epoch: int) -> list[MarkDirectory]:
        """What is to be done when all close jobs have run, whether they failed or not."""
        unclosed = {job.hosted.directory for job in self.close_jobs if not job.is_closed}
        return [
            MarkDirectory(
                home,
                broker_epoch,
                is_clean=home.directory not in unclosed and not home.set_aside,
            )
            for home in self._logs.homes
            if home.directory.is_live
        ]
