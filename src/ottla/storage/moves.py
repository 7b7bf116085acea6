"""Move a partition to another directory while it is used: a copy is filled, then takes its place.

The copy is a log of its own, in a folder that says so. A job fills it piece by piece; between two
pieces it is brought in line with what happened to the log meanwhile, which may have been cut, or
have lost its oldest segments. Once the copy has all, it is flushed, so that the last step is short:
in that the log is let alone by everybody, and the folders are swapped (`directories.swap`).

Invariants
  I-MOVE-1  From its beginning on a move has its copy alone, and one job of it is under way at most.
  I-MOVE-2  What is copied was checked: bad bytes are not carried over, they end the move.
  I-MOVE-3  Nothing is read from or appended to the log from the moment at which the copy has all
            until the swap has ended.
  I-MOVE-4  The copy is on the device, and its history that of the log, before it takes its place.
  I-MOVE-5  A move that fails leaves the partition as it was, unless a directory was lost in the
            swap: then there is none until the next start, which finds the one that is right.
"""

from typing import Final, TypeAlias

from ottla.kernels.faults import InvalidValue, Malformed
from ottla.records.scan import Stop
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.directories import Placed, Swapped, swap
from ottla.storage.directory import Directory
from ottla.storage.directory_logs import DirectoryLogs, HostedLog, SetAside
from ottla.storage.flush import Flush
from ottla.storage.history import History
from ottla.storage.log_options import LogOptions
from ottla.storage.logs import Logs, RemoveLog
from ottla.storage.partition_folders import create_future
from ottla.storage.recovery import Opening, open_log
from ottla.storage.runs import RUN_BYTES, Runs
from ottla.storage.segment import Slice
from ottla.storage.sound_rows import sound_rows
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition

PIECE_BYTES: Final = 4 << 20
_OFFSET_MAX: Final = 2**63 - 1
_RUN_BYTES_MIN: Final = 64


class CopyPiece:
    """The job that appends some batches of the log to the copy."""

    def __init__(self, copy: HostedLog, piece: Slice, now_ms: int) -> None:
        self._copy = copy
        self._piece = piece
        self._now_ms = now_ms

    def run(self) -> None:
        """Do it. Raises `InvalidValue` at a bad batch, and `OSError`."""
        log, (file, position, size_bytes) = self._copy.log, self._piece
        run_bytes = max(_RUN_BYTES_MIN, min(RUN_BYTES, log.options.segment_bytes))
        for run in Runs(file, position, position + size_bytes, run_bytes):
            rows, stop = sound_rows(run.data, run.rows, (log.end_offset, _OFFSET_MAX))
            if stop is not Stop.END:
                place = run.position + run.rows[len(rows)].position
                raise InvalidValue(f"a batch to be copied is bad ({stop.name})", place)
            log.append([(run.data, rows)], self._now_ms)


class FlushCopy:
    """The job that brings the copy to the device."""

    def __init__(self, flush: Flush) -> None:
        self.flush = flush

    def run(self) -> None:
        """Do it. Raises `OSError`."""
        self.flush.run()


class SwapLogs:
    """The job that lets the copy take the place of the log."""

    def __init__(
        self, hosted: HostedLog, copy: HostedLog, home: DirectoryLogs, history: History, now_ms: int
    ) -> None:
        self.swapped: Swapped | None = None
        self.new: HostedLog | None = None
        self._hosted = hosted
        self._copy = copy
        self._home = home
        self._history = history
        self._now_ms = now_ms

    def run(self) -> None:
        """Do it. Raises `OSError`."""
        log_start_offset = self._hosted.log.log_start_offset
        self._copy.log.close(self._now_ms)
        self.swapped = swap(self._hosted.placed, self._copy.placed)
        opening = Opening(self._now_ms, is_clean=True, log_start_offset=log_start_offset)
        path, options = self.swapped.current.path, self._hosted.log.options
        log, _ = open_log(self._home.handles, path, options, self._history, opening)
        old, placed = self._hosted, self.swapped.current
        self.new = HostedLog(old.partition, placed, log, old.high_watermark, old.cleaned_offset)


MoveJob: TypeAlias = CopyPiece | FlushCopy | SwapLogs


class Move:
    """One partition on its way to another directory."""

    def __init__(self, logs: Logs, partition: TopicPartition, history: History) -> None:
        """Go on with a copy that is open, also after a start; `history` is an empty one."""
        self.fault: Malformed | OSError | None = None
        """Why it ended, if it failed."""
        self.is_over = False
        self._logs = logs
        self._hosted = logs.current[partition]
        self._copy = logs.future[partition]
        self._copy.is_taken = True
        self._history = history
        self._is_flushed = False
        self._job: MoveJob | None = None

    def plan(self, now_ms: int) -> MoveJob | None:
        """The next job, if one can be done now; it is asked again when a job has ended.

        Raises `Busy` if the copy has to be cut while a checkpoint is written.
        """
        if self._job is not None or self.is_over:
            return None
        if not (self._hosted.directory.is_live and self._copy.directory.is_live):
            self.is_over = True
            return None
        log, copy = self._hosted.log, self._copy.log
        self._align(now_ms)
        if copy.end_offset < log.end_offset:
            piece = log.read(max(copy.end_offset, log.log_start_offset), PIECE_BYTES, log.end_place)
            if piece is not None:
                self._job = CopyPiece(self._copy, piece, now_ms)
        elif not self._is_flushed:
            self._job = FlushCopy(copy.plan_flush())
            self._is_flushed = not self._job.flush.is_partial
        elif not log.is_flushing and not self._hosted.is_swapping:
            self._job = self._plan_swap(now_ms)
        return self._job

    def _align(self, now_ms: int) -> None:
        """Bring the copy in line with a log that was cut, or deleted from further than it."""
        log, copy = self._hosted.log, self._copy
        first = log.whole_batches_end(log.log_start_offset)
        if copy.log.end_offset < first:
            self._logs.start_at(copy, first, now_ms)
        if copy.log.end_offset > log.end_offset:
            self._logs.truncate_to(copy, log.end_offset, now_ms)

    def _plan_swap(self, now_ms: int) -> SwapLogs:
        log, copy = self._hosted.log, self._copy.log
        # What its batches cannot tell any more, as those are gone that told it to the log.
        copy.history.load_producers(log.history.producers(), log.end_offset, now_ms)
        copy.history.load_epochs(EpochEntry(*entry) for entry in log.history.epochs())
        self._hosted.is_taken = True
        home = self._logs.home_of(self._copy.directory)
        return SwapLogs(self._hosted, self._copy, home, self._history, now_ms)

    def ended(
        self, job: MoveJob, fault: Malformed | OSError | None, now_ms: int
    ) -> RemoveLog | None:
        """Take note of a job that has run; give the job that removes the old folder, for later."""
        assert job is self._job, "I-MOVE-1"
        self._job = None
        if fault is not None:
            self._fail(job, fault)
            return None
        if isinstance(job, FlushCopy):
            self._copy.log.flushed(job.flush, now_ms)
        if isinstance(job, SwapLogs):
            return self._take_place(job)
        return None

    def _fail(self, job: MoveJob, fault: Malformed | OSError) -> None:
        self.is_over = True
        self.fault = fault
        if not isinstance(job, SwapLogs):
            return
        if job.swapped is None and self._copy.directory.is_live:
            self._hosted.is_taken = False
            return
        # Which folder is the partition only the next start can tell.
        hosted = self._hosted
        home = self._logs.home_of(hosted.directory)
        del home.hosted[hosted.partition], self._logs.current[hosted.partition]
        home.set_aside[hosted.partition] = SetAside(hosted.partition, hosted.placed, fault)
        hosted.log.abandon()

    def _take_place(self, job: SwapLogs) -> RemoveLog | None:
        assert job.swapped is not None
        assert job.new is not None
        self.is_over = True
        hosted, partition = self._hosted, self._hosted.partition
        del self._logs.home_of(hosted.directory).hosted[partition], self._logs.future[partition]
        self._logs.home_of(job.new.directory).hosted[partition] = job.new
        self._logs.current[partition] = job.new
        hosted.log.abandon()
        return _removal(job.swapped.deleted)


def start_move(
    logs: Logs,
    partition: TopicPartition,
    directory: Directory,
    unique: Uuid,
    histories: tuple[History, History],
    now_ms: int,
) -> Move:
    """Begin a move; `histories` are empty ones, for the copy and for what it will be.

    Raises `Busy` and `OSError` with nothing begun, but for a folder that a next try takes.
    """
    hosted, home = logs.current[partition], logs.home_of(directory)
    assert partition not in home.hosted, "it lies there already"
    assert partition not in logs.future, "it is on its way already"
    assert hosted.topic_id is not None, "before a batch is appended, the id is there"
    # A key whose tombstone was cleaned away after its record was copied would come back.
    hosted.stop_cleaning()
    home.take_back(partition, 0)
    root = directory.path
    found = create_future(directory.disk, root, partition, hosted.topic_id, unique)
    copy = open_copy(home, Placed(directory, found), hosted.log.options, histories[0], now_ms)
    home.hosted[partition] = logs.future[partition] = copy
    return Move(logs, partition, histories[1])


def open_copy(
    home: DirectoryLogs, placed: Placed, options: LogOptions, history: History, now_ms: int
) -> HostedLog:
    """A new copy, which is empty."""
    log, _ = open_log(home.handles, placed.path, options, history, Opening(now_ms, is_clean=True))
    return HostedLog(placed.found.folder.partition, placed, log, log.log_start_offset)


def _removal(deleted: Placed | None) -> RemoveLog | None:
    if deleted is None:
        return None
    return RemoveLog(deleted.directory.disk, deleted.directory.path, deleted.path)
