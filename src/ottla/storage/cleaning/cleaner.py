"""Which log of a node is cleaned next, and what is known of its cleanings.

The dirtiest log goes first, of those that are due. One that could not be cleaned is set aside with
the reason, so that it does not keep the others waiting, until somebody lets it be tried again.

Invariants
  I-CLEAN-12  A log is cleaned by one cleaning at a time, and by none while it is paused.
  I-CLEAN-13  A first dirty offset moves forward only when a cleaning has swapped its last group,
              and back when the log is cut below it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ottla.storage.cleaning.cleaning import Cleaning
from ottla.storage.cleaning.dirtiness import Dirtiness, dirtiness_of
from ottla.storage.directory_logs import HostedLog
from ottla.storage.logs import Logs
from ottla.wire.topics import TopicPartition


@dataclass(frozen=True, slots=True)
class Chosen:
    """A log to be cleaned, and how dirty it is."""

    hosted: HostedLog
    dirtiness: Dirtiness


class Cleaner:
    """The cleanings of a node."""

    def __init__(self, logs: Logs) -> None:
        self.uncleanable: dict[TopicPartition, str] = {}
        """The logs that are set aside, and why."""
        self.dirtiest_ratio = 0.0
        """How dirty the dirtiest log was when one was last chosen."""
        self._logs = logs
        self._horizons_ms: dict[TopicPartition, int] = {}
        self._running: dict[TopicPartition, Cleaning | None] = {}
        self._pauses: dict[TopicPartition, int] = {}

    def choose(self, last_stable_offset: Callable[[HostedLog], int], now_ms: int) -> Chosen | None:
        """The dirtiest log that is due, which counts as being cleaned from now on."""
        found: list[Chosen] = []
        for hosted in self._logs.current.values():
            if self._may_be_cleaned(hosted):
                stable = last_stable_offset(hosted)
                dirtiness = dirtiness_of(hosted.log, hosted.cleaned_offset, stable, now_ms)
                found.append(Chosen(hosted, dirtiness))
        self.dirtiest_ratio = max((one.dirtiness.ratio for one in found), default=0.0)
        due = [one for one in found if self._is_due(one, now_ms)]
        if not due:
            return None
        chosen = max(due, key=lambda one: one.dirtiness.ratio)
        self._running[chosen.hosted.partition] = None
        return chosen

    def begin(self, chosen: Chosen, cleaning: Cleaning) -> None:
        """Know the cleaning of the log that was chosen, so that it can be cancelled."""
        assert self._running[chosen.hosted.partition] is None, "I-CLEAN-12"
        self._running[chosen.hosted.partition] = cleaning

    def end(self, chosen: Chosen, cleaning: Cleaning) -> None:
        """Take note of a cleaning whose last group was swapped; it is to be written down."""
        hosted = chosen.hosted
        del self._running[hosted.partition]
        hosted.cleaned_offset = cleaning.end_offset
        self._horizons_ms.pop(hosted.partition, None)
        if cleaning.outcome.next_horizon_ms is not None:
            self._horizons_ms[hosted.partition] = cleaning.outcome.next_horizon_ms

    def give_up(self, chosen: Chosen, reason: str | None = None) -> None:
        """Take note of a cleaning that ended early; with a reason the log is set aside."""
        del self._running[chosen.hosted.partition]
        if reason is not None:
            self.uncleanable[chosen.hosted.partition] = reason

    def pause(self, partition: TopicPartition) -> bool:
        """Let a log not be cleaned until it is resumed as often; is none of it going on?"""
        self._pauses[partition] = self._pauses.get(partition, 0) + 1
        cleaning = self._running.get(partition)
        if cleaning is not None:
            cleaning.cancel()
        return partition not in self._running

    def is_paused(self, partition: TopicPartition) -> bool:
        """May a log not be cleaned for now?"""
        return partition in self._pauses

    def resume(self, partition: TopicPartition) -> None:
        """Take back one pause."""
        self._pauses[partition] -= 1
        if not self._pauses[partition]:
            del self._pauses[partition]

    def forget(self, partition: TopicPartition) -> None:
        """Know nothing of a log that is no longer here, or let one that was set aside be tried."""
        self.uncleanable.pop(partition, None)
        self._horizons_ms.pop(partition, None)

    def _may_be_cleaned(self, hosted: HostedLog) -> bool:
        partition = hosted.partition
        is_held = partition in self._running or partition in self._pauses
        is_held = is_held or hosted.is_taken or partition in self._logs.future
        is_held = is_held or partition in self.uncleanable or not hosted.directory.is_live
        return hosted.log.options.is_compacted and not is_held

    def _is_due(self, one: Chosen, now_ms: int) -> bool:
        """Is a log dirty enough, or has the time of a tombstone come that was left in it?"""
        horizon_ms = self._horizons_ms.get(one.hosted.partition)
        is_over = horizon_ms is not None and horizon_ms <= now_ms
        return is_over or one.dirtiness.is_due(one.hosted.log.options)
