"""Threads for jobs that may wait for a device; none is started before there is a job."""

import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final

from ottla.broker.events import Job, JobEnded

THREADS_MAX: Final = 4


class DiskThreads:
    """Runs jobs, and keeps what came of them until it is taken."""

    def __init__(self, wake: Callable[[], None], threads_max: int = THREADS_MAX) -> None:
        """`wake` is called, from any thread, whenever there is something to take."""
        self._wake = wake
        self._threads_max = threads_max
        self._threads: list[threading.Thread] = []
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._ended: deque[JobEnded] = deque()
        self._open_count = 0

    def run(self, job: Job) -> None:
        """Have a job run."""
        self._open_count += 1
        self._jobs.put(job)
        if len(self._threads) < min(self._open_count, self._threads_max):
            thread = threading.Thread(target=self._work, name="disk", daemon=True)
            self._threads.append(thread)
            thread.start()

    def take(self) -> list[JobEnded]:
        """What has ended since the last time."""
        taken: list[JobEnded] = []
        while self._ended:
            taken.append(self._ended.popleft())
        self._open_count -= len(taken)
        return taken

    def stop(self) -> None:
        """Wait for the jobs that were given, and end."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()
        self._threads.clear()

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            fault: OSError | None = None
            try:
                job.run()
            except OSError as raised:
                fault = raised
            self._ended.append(JobEnded(job, fault))
            self._wake()
