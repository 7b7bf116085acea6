"""All cleanings of a node: begun when a log is due, kept to a pace, ended with the log.

It has no thread of its own: it gives jobs, one of each cleaning that is under way, of which there
are as many as the options give it threads. So a pace needs no thread that sleeps: the next pieces
are given once their time has come.

Invariants
  I-CLS-1  At most `threads` cleanings are under way, and their maps take no more than `map_bytes`.
  I-CLS-2  A cleaning of a log that is no longer served, or is on its way elsewhere, ends without
           another swap.
  I-CLS-3  A log that is damaged, or whose swap failed midway, is set aside; what failed for want of
           room left the log as it was, and is tried again.
"""

from collections.abc import Callable
from math import ceil
from typing import Final

from ottla.storage.cleaning.cleaner import Cleaner
from ottla.storage.cleaning.cleaning import Cancelled
from ottla.storage.cleaning.hosted_cleaning import (
    CleaningJob,
    CleanPiece,
    HostedCleaning,
    MakeMap,
    Uncleanable,
)
from ottla.storage.cleaning.options import CleanerOptions
from ottla.storage.cleaning.pace import Throttle
from ottla.storage.cleaning.plan import plan_cleaning
from ottla.storage.directory_logs import HostedLog
from ottla.storage.directory_offsets import WriteOffsets
from ottla.storage.file_names import CLEANER_OFFSETS
from ottla.storage.logs import Logs
from ottla.storage.partition_files import Removal
from ottla.wire.topics import TopicPartition

NEVER_MS: Final = 2**63 - 1


class Cleanings:
    """The cleanings of a node's logs; on the thread of the logs."""

    def __init__(
        self,
        logs: Logs,
        options: CleanerOptions,
        make_secret: Callable[[], bytes],
        now_ms: int,
    ) -> None:
        """`make_secret` gives sixteen bytes of chance, for the map of a cleaning."""
        self.cleaner = Cleaner(logs)
        self._logs = logs
        self._options = options
        self._make_secret = make_secret
        self._ready: list[HostedCleaning] = []
        self._running: dict[CleaningJob, HostedCleaning] = {}
        self._has_moved = False  # Is a first dirty offset to be written down at once?
        self._begun = dict[TopicPartition, HostedLog]()
        self._look_ms = self._go_on_ms = self._told_ms = now_ms
        self._throttle = _throttle(options, now_ms)

    @property
    def next_ms(self) -> int:
        """When it wants to be asked; a time in the past says at once."""
        if not self._options.is_enabled:
            return NEVER_MS
        if self._has_moved:
            return 0
        return min([self._look_ms, *(self._due_ms(one) for one in self._ready)])

    def plan(self, now_ms: int) -> list[CleaningJob | WriteOffsets]:
        """The jobs that are due."""
        if not self._options.is_enabled:
            return []
        if now_ms < self._told_ms:
            # The clock was set back; what was waited for would be waited for twice.
            self._look_ms = self._go_on_ms = now_ms
            self._throttle = _throttle(self._options, now_ms)
        self._told_ms = now_ms
        jobs: list[CleaningJob | WriteOffsets] = []
        if self._look_ms <= now_ms or self._has_moved:
            jobs += self._checkpoints()
        if self._look_ms <= now_ms:
            self._look(now_ms)
        for one in [one for one in self._ready if self._due_ms(one) <= now_ms]:
            self._ready.remove(one)
            self._running[one.job] = one
            jobs.append(one.job)
        return jobs

    def _due_ms(self, one: HostedCleaning) -> int:
        """When its next job may begin; a swap that was begun holds others up, and is short."""
        is_paced = isinstance(one.job, CleanPiece)
        return max(one.due_ms, self._go_on_ms) if is_paced else one.due_ms

    def has(self, job: CleaningJob) -> bool:
        """Was a job given here?"""
        return job in self._running

    def ended(
        self, job: CleaningJob, fault: OSError | None, now_ms: int
    ) -> list[tuple[HostedLog, Removal]]:
        """Take note of a job; give those that remove what left the log, for later."""
        one = self._running.pop(job)
        if isinstance(job, CleanPiece):
            waits_ms = self._throttle.wait_ms(job.size_bytes, now_ms)
            self._go_on_ms = max(self._go_on_ms, now_ms + ceil(min(waits_ms, NEVER_MS // 2)))
        if not self._may_go_on(one.hosted):
            one.lose()
        reason: str | None = None
        try:
            one.go_on(fault)
        except Cancelled:
            pass
        except Uncleanable as found:
            reason = None if one.is_cancelled else str(found)
        except OSError as found:
            if one.is_stuck and self._may_go_on(one.hosted):
                reason = f"its segments could not be exchanged: {found}"
        removals = [(one.hosted, removal) for removal in one.removals]
        one.removals.clear()
        if one.is_over:
            self._take_end(one, reason, now_ms)
        else:
            one.due_ms = now_ms + self._options.backoff_ms if one.has_failed else 0
            self._ready.append(one)
        return removals

    def _take_end(self, one: HostedCleaning, reason: str | None, now_ms: int) -> None:
        if one.cleaning is None or not one.is_whole or not self._may_go_on(one.hosted):
            self.cleaner.give_up(one.chosen, reason)
            # What is set aside is in nobody's way; what is not would be tried again at once.
            self._look_ms = now_ms + (self._options.backoff_ms if reason is None else 0)
            return
        self.cleaner.end(one.chosen, one.cleaning)
        self._has_moved = True
        self._look_ms = now_ms

    def _look(self, now_ms: int) -> None:
        """Begin as many cleanings as there may be."""
        self._look_ms = now_ms + self._options.backoff_ms
        self._forget_others()
        while len(self._ready) + len(self._running) < self._options.threads:
            chosen = self.cleaner.choose(_last_stable_offset, now_ms)
            if chosen is None:
                break
            hosted, found = chosen.hosted, chosen.dirtiness
            try:
                plan = plan_cleaning(
                    hosted.log, found.first_dirty_offset, found.upper_offset, now_ms
                )
            except OSError:
                # Its directory is offline by now, or has no room for indexes.
                self.cleaner.give_up(chosen)
                return
            size = self._options.map_size(found.upper_offset - found.first_dirty_offset)
            make_map = MakeMap(size, self._make_secret())
            self._begun[hosted.partition] = hosted
            self._ready.append(HostedCleaning(self.cleaner, chosen, plan, make_map))

    def _checkpoints(self) -> list[WriteOffsets]:
        """What writes down where logs are clean; one that is being written is due at a look."""
        self._has_moved = False
        homes = [home for home in self._logs.homes if home.directory.is_live]
        jobs = [home.plan_offsets(CLEANER_OFFSETS) for home in homes]
        return [job for job in jobs if job is not None]

    def _forget_others(self) -> None:
        """Know nothing of logs that were deleted, though others may have their names now."""
        gone = [name for name, one in self._begun.items() if self._logs.get(name) is not one]
        for name in gone:
            del self._begun[name]
            self.cleaner.forget(name)

    def _may_go_on(self, hosted: HostedLog) -> bool:
        name = hosted.partition
        is_here = self._logs.get(name) is hosted and hosted.directory.is_live
        return is_here and not hosted.is_taken and name not in self._logs.future


def _throttle(options: CleanerOptions, now_ms: int) -> Throttle:
    return Throttle(max(options.bytes_per_second, 1.0), now_ms)


def _last_stable_offset(hosted: HostedLog) -> int:
    log = hosted.log
    return log.history.last_stable_offset(log.log_start_offset, hosted.high_watermark)
