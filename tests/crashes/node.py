"""A node of one partition in two log directories, which keeps to what `storage` asks of its caller.

It starts as a node does: the directories, the mark of a clean stop, the folders, the checkpoints,
the log. It says nothing itself of what must be found; that is `tests.crashes.written`.
"""

from collections.abc import Sequence
from dataclasses import replace
from errno import EIO
from typing import Final

from ottla.broker.partition_history import PartitionHistory
from ottla.sim.disk import SimulatedDisk
from ottla.storage.directories import Placed, open_directories, removals, swap
from ottla.storage.directory import Directory
from ottla.storage.file_names import HIGH_WATERMARKS, LOG_START_OFFSETS, RECOVERY_POINTS
from ottla.storage.folder_names import Purpose
from ottla.storage.handles import Handles
from ottla.storage.log import Batches, Log
from ottla.storage.log_options import LogOptions
from ottla.storage.partition_folders import RemoveFolder, create_future, rename_folder
from ottla.storage.recovery import Findings, Opening, open_log
from ottla.storage.segment import SegmentOptions
from tests.unit.records.samples import T
from tests.unit.storage.log_directories import ORDERS, OWNER, TOPIC_ID, UNIQUE

PATHS: Final = ("/a", "/b")
FILES_MAX: Final = 16
OPTIONS: Final = LogOptions(
    segment=SegmentOptions(index_interval_bytes=100, index_bytes_max=4096),
    segment_bytes=1 << 20,
    retention_bytes=500,
)
EXPIRED_MS: Final = 30 * 24 * 60 * 60 * 1000


class Node:
    """What runs between a start and the next end of the process."""

    def __init__(self, disk: SimulatedDisk, options: LogOptions = OPTIONS) -> None:
        self.options = options
        self.directories = open_directories(disk, PATHS, OWNER)
        marks, _ = self.directories.take_clean_epoch()
        partitions = self.directories.load()
        for job in removals(partitions.deleted):
            job.run()
        for copy in partitions.future.values():
            self._let_go(copy)
        if ORDERS not in partitions.current and self.directories.offline:
            raise OSError(EIO, "the partition lies in a directory that is offline")
        self.was_clean = any(mark is not None for mark in marks.values())
        self.placed = partitions.current[ORDERS]
        home = self.placed.directory
        self.high_watermark = home.read_offsets(HIGH_WATERMARKS).get(ORDERS, 0)
        opening = Opening(
            T,
            marks[home.path] is not None,
            home.read_offsets(LOG_START_OFFSETS).get(ORDERS, 0),
            home.read_offsets(RECOVERY_POINTS).get(ORDERS, 0),
        )
        self.log, self.findings = self._opened(self.placed, opening)
        self.high_watermark = min(self.high_watermark, self.log.end_offset)

    def _opened(self, placed: Placed, opening: Opening) -> tuple[Log, Findings]:
        handles = Handles(placed.directory.disk, FILES_MAX)
        return open_log(handles, placed.path, self.options, PartitionHistory(), opening)

    def append(self, group: Sequence[Batches]) -> None:
        self.log.append(group, T)

    def commit(self) -> None:
        planned = self.log.plan_flush(is_commit=True)
        try:
            planned.run()
        except OSError:
            self.log.not_flushed(planned)
            raise
        self.log.flushed(planned, T)

    def checkpoint(self) -> None:
        """What is written every few seconds."""
        self._write(self.placed.directory, self.log.recovery_point, self.log.log_start_offset)

    def truncate(self, offset: int) -> None:
        bounds = self.log.bounds_before_cut(offset)
        self._write(self.placed.directory, bounds.recovery_point, bounds.log_start_offset)
        self.log.truncate_to(offset, T)

    def reset(self, offset: int) -> None:
        bounds = self.log.bounds_before_cut(offset, is_reset=True)
        self._write(self.placed.directory, bounds.recovery_point, bounds.log_start_offset)
        self.log.start_at(offset, T)

    def delete_old(self, *, all_expired: bool) -> None:
        log = self.log
        now_ms = T + EXPIRED_MS if all_expired else T
        removal = log.delete_old(log.end_offset, now_ms)
        if removal is not None:
            removal.run()

    def move(self) -> None:
        """Copy the log into the other directory, and let the copy take its place."""
        old, log = self.placed, self.log
        other = next(one for one in self.directories.live if one is not old.directory)
        found = create_future(other.disk, other.path, ORDERS, TOPIC_ID, UNIQUE)
        copy = Placed(other, found)
        first = log.segments.first.base_offset
        copied, _ = self._opened(copy, Opening(T, is_clean=True, log_start_offset=first))
        for segment in log.segments:
            copied.roll(T, segment.base_offset)
            for run in segment.runs():
                copied.append([(bytes(run.data), run.rows)], T)
        copied.close(T)
        log.close(T)
        self._write(other, copied.end_offset, log.log_start_offset)
        swapped = swap(old, copy)
        self.placed = swapped.current
        opening = Opening(T, True, log.log_start_offset, copied.end_offset)
        self.log, _ = self._opened(self.placed, opening)
        if swapped.deleted is not None:
            RemoveFolder(old.directory.disk, swapped.deleted.path).run()

    def stop(self) -> None:
        """Close all, so that the next start need not look at the batches."""
        self.log.close(T)
        self.checkpoint()
        for directory in self.directories.live:
            directory.mark_clean(5)
        self.directories.release()

    def _write(self, home: Directory, recovery_point: int, log_start_offset: int) -> None:
        home.write_offsets(RECOVERY_POINTS, {ORDERS: recovery_point})
        home.write_offsets(LOG_START_OFFSETS, {ORDERS: log_start_offset})
        home.write_offsets(HIGH_WATERMARKS, {ORDERS: self.high_watermark})

    def _let_go(self, copy: Placed) -> None:
        home = copy.directory
        name = copy.found.name.removesuffix(Purpose.FUTURE) + Purpose.DELETE
        going = rename_folder(home.disk, home.path, copy.found, name)
        RemoveFolder(home.disk, f"{home.path}/{going.name}").run()


def with_room(options: LogOptions, allocated_bytes: int) -> LogOptions:
    """The same, with preallocated segments."""
    return replace(options, segment=replace(options.segment, allocated_bytes=allocated_bytes))
