"""When what is due for the logs of a node: nothing but times, which are given.

Each task comes again one interval after it was begun. Kafka waits with most of them at the start,
so that the start is quick; the high watermarks are written from the first moment on.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from ottla.config.log import (
    LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS,
    LOG_FLUSH_SCHEDULER_INTERVAL_MS,
    LOG_FLUSH_START_OFFSET_CHECKPOINT_INTERVAL_MS,
    LOG_INITIAL_TASK_DELAY_MS,
    LOG_RETENTION_CHECK_INTERVAL_MS,
)
from ottla.config.settings import Settings


class Task(Enum):
    """What comes again and again."""

    RETENTION = "delete old segments"
    FLUSH = "flush the logs that are due"
    RECOVERY_POINTS = "write the recovery points"
    LOG_STARTS = "write the starts of the logs"
    HIGH_WATERMARKS = "write the high watermarks"
    PRODUCERS = "forget silent producers"


HIGH_WATERMARKS_MS: Final = 5_000
PRODUCERS_MS: Final = 600_000
_AT_ONCE: Final = frozenset({Task.HIGH_WATERMARKS})


class Schedule:
    """The next time of each task."""

    def __init__(self, intervals_ms: Mapping[Task, int], first_ms: int, now_ms: int) -> None:
        """`first_ms` is how long the first time of most tasks is waited for."""
        self._intervals_ms = dict(intervals_ms)
        self._next_ms = {
            task: now_ms + (0 if task in _AT_ONCE else first_ms) for task in self._intervals_ms
        }

    @property
    def next_ms(self) -> int:
        """When something is due."""
        return min(self._next_ms.values())

    def due(self, now_ms: int) -> list[Task]:
        """What is due; each is due again an interval from now."""
        found = [task for task in Task if self._next_ms[task] <= now_ms]
        for task in found:
            self._next_ms[task] = now_ms + self._intervals_ms[task]
        return found


def intervals_of(settings: Settings) -> dict[Task, int]:
    """The intervals that the options of a broker ask for."""
    return {
        Task.RETENTION: settings[LOG_RETENTION_CHECK_INTERVAL_MS],
        Task.FLUSH: settings[LOG_FLUSH_SCHEDULER_INTERVAL_MS],
        Task.RECOVERY_POINTS: settings[LOG_FLUSH_OFFSET_CHECKPOINT_INTERVAL_MS],
        Task.LOG_STARTS: settings[LOG_FLUSH_START_OFFSET_CHECKPOINT_INTERVAL_MS],
        Task.HIGH_WATERMARKS: HIGH_WATERMARKS_MS,
        Task.PRODUCERS: PRODUCERS_MS,
    }


def schedule_of(settings: Settings, now_ms: int) -> Schedule:
    """The schedule that the options of a broker ask for."""
    return Schedule(intervals_of(settings), settings[LOG_INITIAL_TASK_DELAY_MS], now_ms)
