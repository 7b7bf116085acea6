"""Which log of a directory is cleaned next, and up to where each is clean.

The dirtiest log goes first, of those that are due. One that could not be cleaned is set aside with
the reason until somebody lets it be tried again, so that it does not keep the others waiting.

Invariants
  I-CLEAN-12  A log is cleaned by one cleaning at a time, and by none while it is paused.
  I-CLEAN-13  A first dirty offset moves forward only when a cleaning has swapped its last group,
              and back when the log is cut below it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ottla.ports import Disk
from ottla.storage.checkpoints import format_offsets, parse_offsets
from ottla.storage.cleaning.cleaning import Cleaning
from ottla.storage.cleaning.dirtiness import Dirtiness, dirtiness_of
from ottla.storage.file_names import CLEANER_OFFSETS
from ottla.storage.log import Log
from ottla.storage.small_files import read_file, replace_file
from ottla.wire.topics import TopicPartition


class Cleanable(NamedTuple):
    """A compacted log, and before which offset all of it is decided."""

    log: Log
    last_stable_offset: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """A log to be cleaned, and how dirty it is."""

    partition: TopicPartition
    log: Log
    dirtiness: Dirtiness


class Cleaner:
    """The cleanings of one log directory."""

    def __init__(self, disk: Disk, directory: str) -> None:
        """Read up to where the logs are clean. Raises `Malformed` if the checkpoint is."""
        self._disk = disk
        self._path = f"{directory}/{CLEANER_OFFSETS}"
        self._offsets = read_file(disk, self._path, parse_offsets) or {}
        self._horizons_ms: dict[TopicPartition, int] = {}
        self._running: dict[TopicPartition, Cleaning | None] = {}
        self._paused: dict[TopicPartition, int] = {}
        self.uncleanable: dict[TopicPartition, str] = {}
        """The logs that are set aside, and why."""
        self.dirtiest_ratio = 0.0
        """How dirty the dirtiest log was when one was last chosen."""

    @property
    def first_dirty_offsets(self) -> Mapping[TopicPartition, int]:
        """Up to where each log is clean."""
        return self._offsets

    def choose(self, logs: Mapping[TopicPartition, Cleanable], now_ms: int) -> Chosen | None:
        """The dirtiest log that is due, which counts as being cleaned from now on."""
        found: list[Chosen] = []
        for partition, (log, last_stable_offset) in logs.items():
            if not log.options.is_compacted or not self._is_free(partition):
                continue
            checkpoint = self._offsets.get(partition)
            dirtiness = dirtiness_of(log, checkpoint, last_stable_offset, now_ms)
            found.append(Chosen(partition, log, dirtiness))
        self.dirtiest_ratio = max((one.dirtiness.ratio for one in found), default=0.0)
        due = [one for one in found if self._is_due(one, now_ms)]
        if not due:
            return None
        chosen = max(due, key=lambda one: one.dirtiness.ratio)
        self._running[chosen.partition] = None
        return chosen

    def begin(self, partition: TopicPartition, cleaning: Cleaning) -> None:
        """Know the cleaning of a log that was chosen, so that it can be cancelled."""
        assert self._running[partition] is None, "I-CLEAN-12"
        self._running[partition] = cleaning

    def end(self, partition: TopicPartition, cleaning: Cleaning) -> None:
        """Take note of a cleaning whose last group was swapped, and write the checkpoint."""
        del self._running[partition]
        self._offsets[partition] = cleaning.end_offset
        self._horizons_ms.pop(partition, None)
        if cleaning.outcome.next_horizon_ms is not None:
            self._horizons_ms[partition] = cleaning.outcome.next_horizon_ms
        self.write()

    def give_up(self, partition: TopicPartition, reason: str | None) -> None:
        """Take note of a cleaning that ended early; with a reason the log is set aside."""
        del self._running[partition]
        if reason is not None:
            self.uncleanable[partition] = reason

    def pause(self, partition: TopicPartition) -> bool:
        """Let a log not be cleaned until it is resumed as often; is none of it going on?"""
        self._paused[partition] = self._paused.get(partition, 0) + 1
        cleaning = self._running.get(partition)
        if cleaning is not None:
            cleaning.cancel()
        return partition not in self._running

    def resume(self, partition: TopicPartition) -> None:
        """Take back one pause."""
        left = self._paused[partition] - 1
        if left:
            self._paused[partition] = left
        else:
            del self._paused[partition]

    def truncated(self, partition: TopicPartition, end_offset: int) -> None:
        """Know that a log was cut: what comes behind is not clean."""
        if self._offsets.get(partition, 0) > end_offset:
            self._offsets[partition] = end_offset
            self.write()

    def forget(self, partition: TopicPartition) -> None:
        """Know nothing of a log that is no longer here."""
        self.uncleanable.pop(partition, None)
        self._horizons_ms.pop(partition, None)
        if self._offsets.pop(partition, None) is not None:
            self.write()

    def adopt(self, partition: TopicPartition, first_dirty_offset: int) -> None:
        """Know of a log that came from another directory up to where it is clean."""
        self._offsets[partition] = first_dirty_offset
        self.write()

    def write(self) -> None:
        """Write the checkpoint; it is on the device when this returns."""
        replace_file(self._disk, self._path, format_offsets(self._offsets))

    def _is_free(self, partition: TopicPartition) -> bool:
        return not (
            partition in self._running or partition in self._paused or partition in self.uncleanable
        )

    def _is_due(self, one: Chosen, now_ms: int) -> bool:
        """Is a log dirty enough, or has the time of a tombstone come that was left in it?"""
        horizon_ms = self._horizons_ms.get(one.partition)
        is_over = horizon_ms is not None and horizon_ms <= now_ms
        return one.dirtiness.is_due(one.log.options) or is_over
