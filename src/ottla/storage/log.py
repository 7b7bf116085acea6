"""A partition's log: batches appended at the end, read anywhere, taken away at either end.

It judges nothing: which batches may be appended, up to where they may be read, and when all this
happens is said by its caller, one thread at a time. What takes a device long is planned here and
given away as a job: `Flush`, `Removal`, `Replacement`.

Invariants
  I-LOG-1  Offsets rise from batch to batch and from segment to segment; gaps are allowed.
  I-LOG-2  Log start and recovery point lie at or before the end; either may be the later one.
  I-LOG-3  There is always an active segment, and it is the last.
  I-LOG-4  The history knows exactly the batches of the log below its end.
  I-LOG-5  The recovery point moves forward only by a flush that ended well, and back by a cut. The
           caller writes it to its checkpoint after a flush, and before a cut it writes there what
           `bounds_before_cut` says: a start must neither miss what is going nor begin behind it.
           All below `durable_offset` is on the device too; a commit moves that one alone.
  I-LOG-6  An append is there whole or not at all.
  I-LOG-7  No flush is under way while the log is cut, since it writes what was true before.
  I-LOG-8  A cut that failed is done again before anything is appended, since some of what it was to
           take is still there. Until then readers see the log as it is to be.
"""

from collections.abc import Mapping, Sequence
from errno import EAGAIN
from typing import Final, NamedTuple, TypeAlias
from zlib import crc32

from ottla.api.partition_files import ProducerSnapshot
from ottla.kernels.faults import Malformed
from ottla.records.batch import NO_TIMESTAMP
from ottla.records.scan import BatchRow
from ottla.storage.flush import Flush
from ottla.storage.history import History
from ottla.storage.log_options import LogOptions
from ottla.storage.offset_index import INT32_MAX
from ottla.storage.partition_files import PartitionFiles, Removal
from ottla.storage.producer_snapshots import write_snapshot
from ottla.storage.replaying import restore_producers
from ottla.storage.retention import Bounds, expired
from ottla.storage.segment import Segment, Slice
from ottla.storage.segments import Segments
from ottla.storage.time_index import TimestampOffset
from ottla.storage.transaction_index import AbortedTransaction
from ottla.storage.writes import DISK_FULL, DiskFull
from ottla.wire.fields import Buffer

NO_OFFSET: Final = -1
FLUSHED_SEGMENTS_MAX: Final = 50
"""So many are flushed at once: their files are all open meanwhile, four of each at the most."""
Batches: TypeAlias = tuple[Buffer, Sequence[BatchRow]]
"""Some whole batches, and their rows as a scan of just these bytes gives them."""


class UnfinishedCut(OSError):
    """A cut of the log failed, and was not done again yet."""

    def __init__(self, folder: str) -> None:
        super().__init__(EAGAIN, "the log was to be cut, and that failed; cut it again", folder)


class LogState(NamedTuple):
    """What a log is found to be when it is opened."""

    log_start_offset: int
    recovery_point: int
    end_offset: int
    epochs: Sequence[tuple[int, int]] = ()
    """What the checkpoint of leader epochs says."""
    has_new_names: bool = False
    """Are there names in its folder that may not be on the device?"""
    snapshots: Mapping[int, Sequence[ProducerSnapshot.ProducerEntry]] = {}
    """What is to be said of producers where segments begin that have no snapshot yet."""


class CheckpointedBounds(NamedTuple):
    """What the checkpoints of a log directory say of one log."""

    log_start_offset: int
    recovery_point: int


class LogPlace(NamedTuple):
    """An offset, and where the batch that it lies in begins."""

    offset: int
    segment_base: int
    position: int


class Log:
    """The log of one partition."""

    def __init__(
        self,
        files: PartitionFiles,
        options: LogOptions,
        history: History,
        segments: Segments,
        state: LogState,
        now_ms: int,
    ) -> None:
        """Take up a log as `recovery.open_log` found it."""
        self.files = files
        self.options = options
        self.history = history
        self.segments = segments
        self.log_start_offset = state.log_start_offset
        self.recovery_point = self.durable_offset = state.recovery_point
        self.end_offset = state.end_offset
        self.flushed_ms = now_ms
        self._active_since_ms = now_ms
        self._jitter_ms = self._drawn_jitter_ms()
        self._has_new_names = state.has_new_names
        self._has_rolled = False
        self._flushing: Flush | None = None
        self.is_being_cut = False  # Did a cut begin that has not ended (I-LOG-8)?
        self._snapshots = dict(state.snapshots)
        self._epochs_written = state.epochs

    @property
    def size_bytes(self) -> int:
        """All its batches."""
        return self.segments.size_bytes

    @property
    def end_place(self) -> LogPlace:
        """Where the next batch will lie, unless it needs a new segment."""
        active = self.segments.active
        return LogPlace(self.end_offset, active.base_offset, active.size_bytes)

    @property
    def is_flushing(self) -> bool:
        """Is a flush under way, before whose end the log cannot be cut?"""
        return self._flushing is not None

    def set_options(self, options: LogOptions) -> None:
        """Keep to other options from now on; those of a segment's files count for new segments."""
        self.options = options
        self._jitter_ms = self._drawn_jitter_ms()

    def append(self, group: Sequence[Batches], now_ms: int) -> None:
        """Append whole batches that have their offsets, in one write. Raises `DiskFull`."""
        if len(group) == 1:
            data, rows = group[0]
            parts, size_bytes = [data], len(data)
        else:
            rows = [row for _, some in group for row in some]
            parts = [data for data, _ in group]
            size_bytes = sum(map(len, parts))
        assert rows[0].base_offset >= self.end_offset, "I-LOG-1"
        self._check_whole()
        try:
            segment = self._segment_for(rows, size_bytes, now_ms)
            segment.append(parts, rows)
        except OSError as fault:
            if fault.errno in DISK_FULL:
                raise DiskFull(self.files.folder, fault) from fault
            raise
        self.end_offset = rows[-1].last_offset + 1
        for data, some in group:
            for aborted in self.history.replay(data, some):
                segment.transactions.append(aborted)

    def _segment_for(self, rows: Sequence[BatchRow], size_bytes: int, now_ms: int) -> Segment:
        segment = self.segments.active
        last_offset = rows[-1].last_offset
        is_within = 0 <= last_offset - segment.base_offset <= INT32_MAX
        if segment.size_bytes == 0:
            must_roll = not is_within
        else:
            must_roll = (
                segment.size_bytes + size_bytes > self.options.segment_bytes
                or not is_within
                or segment.is_full
                or self._waited_ms(segment, rows, now_ms)
                > self.options.segment_ms - self._jitter_ms
            )
        if must_roll:
            self.roll(now_ms, last_offset - INT32_MAX)
            return self.segments.active
        return segment

    def _waited_ms(self, segment: Segment, rows: Sequence[BatchRow], now_ms: int) -> int:
        """How long the segment has been open, by the times of its batches if they have any."""
        first_ms = segment.first_timestamp
        if first_ms is None or first_ms < 0:
            return now_ms - self._active_since_ms
        if len(rows) == 1:
            return rows[0].max_timestamp - first_ms
        return max(row.max_timestamp for row in rows) - first_ms

    def roll(self, now_ms: int, base_offset_min: int = 0, *, seals: bool = True) -> None:
        """Begin a new segment at the end of the log, or further on if offsets demand it.

        A segment that is to go at once need not be sealed, for which there may be no room.
        """
        self._check_whole()
        old = self.segments.active
        base_offset = max(self.end_offset, base_offset_min)
        if old.size_bytes == 0 and old.base_offset == base_offset:
            return
        if self._has_new_names:
            # No segment may be on the device without those before it.
            self.files.disk.sync_folder(self.files.folder)
        if old.size_bytes and base_offset > self.end_offset:
            self._prove_gap(old, base_offset)
        if old.size_bytes:
            if seals:
                old.seal()
            kept = self.segments
        else:
            self.files.retire([old]).run()
            kept = self.segments.without([old])
        new = self.files.segment(base_offset, self.options.segment, 0)
        # From here on it is rolled: if its file cannot be made now, the first append makes it.
        self.segments = kept.adding(new)
        self._snapshots[base_offset] = self.history.producers()
        self._has_new_names = self._has_rolled = True
        self._active_since_ms = now_ms
        self._jitter_ms = self._drawn_jitter_ms()
        new.create()

    def _prove_gap(self, segment: Segment, base_offset: int) -> None:
        """Let recovery know that nothing is missing between a segment and the next (I-REC-4)."""
        segment.sync()
        snapshots = self.files.snapshots
        write_snapshot(self.files.disk, snapshots.path(base_offset), self.history.producers())
        snapshots.note(base_offset)

    def _drawn_jitter_ms(self) -> int:
        """How much earlier the active segment rolls: by its name, so that it can be had again."""
        most = min(self.options.segment_jitter_ms, self.options.segment_ms)
        return crc32(self.segments.active.stem.encode()) % most if most else 0

    def read(self, offset: int, bytes_max: int, end: LogPlace) -> Slice | None:
        """Bytes from the batch that an offset lies in, or the first after it; none at the end.

        They end at a place that the caller may read to, and within one segment. The first batch
        comes whole, however large it is.
        """
        assert self.log_start_offset <= offset <= self.end_offset, "the caller knows the bounds"
        if offset >= end.offset:
            return None
        for segment in self.segments.from_offset(offset):
            if segment.base_offset > end.segment_base:
                break
            is_last = segment.base_offset == end.segment_base
            found = segment.read(offset, bytes_max, end.position if is_last else None)
            if found is not None and found.size_bytes:
                return found
        return None

    def place_of(self, offset: int) -> LogPlace:
        """Where the batch lies that holds an offset, or the first after it."""
        for segment in self.segments.from_offset(offset):
            found = segment.find_offset(offset)
            if found is not None:
                return LogPlace(offset, segment.base_offset, found[0])
        return self.end_place

    def find_timestamp(self, timestamp: int) -> TimestampOffset | None:
        """The first record at or past a time, in the order of offsets."""
        for segment in self.segments:
            if segment.latest.timestamp >= timestamp:
                found = segment.find_timestamp(timestamp, self.log_start_offset)
                if found is not None:
                    return found
        return None

    def find_latest(self) -> TimestampOffset | None:
        """The first record that has the largest time of all; None if none has a time.

        As in Kafka segments count whole, so it may lie before the log's start.
        """
        found = max(self.segments, key=lambda segment: segment.latest.timestamp)
        latest = found.latest.timestamp
        return None if latest == NO_TIMESTAMP else found.find_timestamp(latest, found.base_offset)

    def aborted(self, offset: int, end_offset: int) -> list[AbortedTransaction]:
        """The aborted transactions with records in a range, whose end is exclusive."""
        found: list[AbortedTransaction] = []
        for segment in self.segments.from_offset(offset):
            overlapping = segment.aborted(offset, end_offset)
            found += overlapping.transactions
            if overlapping.is_complete:
                break
        return found

    def move_log_start(self, offset: int) -> None:
        """Let the log begin at an offset, if it does not begin later; no file is touched."""
        assert offset <= self.end_offset, "I-LOG-2"
        if offset <= self.log_start_offset:
            return
        self.log_start_offset = offset
        self.history.move_log_start(offset)
        self.history.cut_epochs(offset, self.end_offset)

    def delete_old(self, high_watermark: int, now_ms: int) -> Removal | None:
        """Let go of the segments that the options no longer keep."""
        bounds = Bounds(self.log_start_offset, high_watermark, self.end_offset)
        gone = expired(self.segments, self.options, bounds, now_ms)
        if not gone:
            return None
        if len(gone) == len(self.segments):
            self.roll(now_ms, seals=False)
        if self._has_new_names:
            # Else the log could end where the first of them begins.
            self.files.disk.sync_folder(self.files.folder)
        paths: list[str] = []
        for segment in gone:
            # One after the other, so that a power cut brings none back without those after it.
            paths += self._retire(segment).paths
            self.move_log_start(self.segments.first.base_offset)
        return Removal(self.files.disk, gone, paths)

    def exchange(self, new: Sequence[Segment], old: Sequence[Segment]) -> Removal:
        """Show other segments in the place of some; a step of `Replacement`."""
        self.segments = self.segments.without(old).adding(*new)
        return self.files.retire(old, kept_snapshots=[segment.base_offset for segment in new])

    def bounds_before_cut(self, offset: int, *, is_reset: bool = False) -> CheckpointedBounds:
        """What the checkpoints must say before `truncate_to` or, with `is_reset`, `start_at`."""
        first = self.segments.first.base_offset
        log_start_offset = min(self.log_start_offset, offset)
        if is_reset or offset < first:
            # All goes, so no part of it may be missed.
            return CheckpointedBounds(log_start_offset, min(first, offset))
        end_offset = self.whole_batches_end(offset)
        recovery_point = min(self.recovery_point, end_offset)
        return CheckpointedBounds(min(self.log_start_offset, end_offset), recovery_point)

    def truncate_to(self, end_offset: int, now_ms: int) -> list[Malformed]:
        """Cut off the batch that holds an offset and all after it; the log ends where it began.

        It waits for the device between segments, so that no power cut leaves a hole. Gives what was
        wrong with snapshots that could not be used. If it fails it is to be done again (I-LOG-8).
        """
        if self.is_being_cut:
            end_offset = min(end_offset, self.end_offset)
        elif end_offset >= self.end_offset:
            return []
        if end_offset < self.segments.first.base_offset:
            self.start_at(end_offset, now_ms)
            return []
        end_offset = self.whole_batches_end(end_offset)
        self._take_back(end_offset)
        gone = [segment for segment in self.segments if segment.base_offset > end_offset]
        for segment in reversed(gone):
            self._retire(segment).run()
        self.segments.active.truncate_to(end_offset)
        # What is appended now must not be found beside what was cut off.
        self.segments.active.sync()
        self._jitter_ms = self._drawn_jitter_ms()
        self._remove_snapshots_past(end_offset)
        bounds = (self.log_start_offset, end_offset)
        snapshots = self.files.snapshots
        refused = restore_producers(self.history, self.segments, snapshots, bounds, now_ms)
        self.is_being_cut = False
        return refused

    def whole_batches_end(self, offset: int) -> int:
        """Where the batch begins that an offset lies in, or the offset itself."""
        for segment in self.segments.between(offset, offset + 1):
            place = segment.find_offset(offset)
            if place is not None:
                for run in segment.runs(place[0], sum(place)):
                    return min(offset, run.rows[0].base_offset)
        return offset

    def start_at(self, offset: int, now_ms: int) -> None:
        """Let go of everything, and begin anew at an offset. If it fails, do it again (I-LOG-8)."""
        self._take_back(min(self.end_offset, self.segments.first.base_offset))
        removals = [self._retire(segment) for segment in reversed(list(self.segments))]
        new = self.files.segment(offset, self.options.segment, 0)
        self.segments = Segments([new])
        self._has_new_names = True
        self._active_since_ms = now_ms
        self._jitter_ms = self._drawn_jitter_ms()
        self.log_start_offset = self.recovery_point = self.durable_offset = offset
        self.end_offset = offset
        new.create()
        for removal in removals:
            removal.run()
        self._remove_snapshots_past(NO_OFFSET)
        self.history.forget_producers(offset)
        self.history.load_epochs([])
        self.is_being_cut = False

    def _take_back(self, end_offset: int) -> None:
        """Say that the log ends earlier, before any file does."""
        assert self._flushing is None, "I-LOG-7"
        self.is_being_cut = True
        self.end_offset = end_offset
        self.log_start_offset = min(self.log_start_offset, end_offset)
        self.recovery_point = min(self.recovery_point, end_offset)
        self.durable_offset = min(self.durable_offset, end_offset)
        self._snapshots = {o: kept for o, kept in self._snapshots.items() if o <= end_offset}
        self.history.cut_epochs(self.log_start_offset, end_offset)

    def _check_whole(self) -> None:
        if self.is_being_cut:
            raise UnfinishedCut(self.files.folder)

    def _retire(self, segment: Segment) -> Removal:
        """Take a segment at either end out of the log, and be sure of it."""
        removal = self.files.retire([segment])
        self.segments = self.segments.without([segment])
        self.files.disk.sync_folder(self.files.folder)
        return removal

    def _remove_snapshots_past(self, end_offset: int) -> None:
        """Remove what would be taken for the truth if it came back once the log has grown again."""
        snapshots = self.files.snapshots
        snapshots.remove([offset for offset in snapshots.offsets if offset > end_offset])
        self.files.disk.sync_folder(self.files.folder)

    def is_flush_due(self, now_ms: int) -> bool:
        """Do the options ask for a flush, or has a segment been rolled since the last one?"""
        unflushed = self.end_offset - self.recovery_point
        return unflushed > 0 and (
            unflushed >= self.options.flush_messages
            or now_ms - self.flushed_ms >= self.options.flush_ms
            or self._has_rolled
        )

    def plan_flush(self, *, is_commit: bool = False) -> Flush:
        """What must be done so that everything up to the end is on the device, or a part of it.

        A commit brings the batches alone, and leaves the recovery point where it is: recovery makes
        all else anew from them. It is a whole flush where a segment was rolled. Raises `OSError`
        with nothing planned, as where there is no room for the entries.
        """
        assert self._flushing is None, "one flush after the other"
        self._check_whole()
        if is_commit and not self._has_new_names:
            flush = self._planned_commit()
        else:
            flush = self._planned_flush()
            self._has_new_names, self._has_rolled = False, flush.is_partial
        self._flushing = flush
        return flush

    def _planned_flush(self) -> Flush:
        epochs = list(self.history.epochs())
        dirty, end_offset = self._dirty(self.recovery_point)
        for segment in dirty:
            segment.write_entries()
        files = [file for segment in dirty for file in segment.unsynced()]
        has_new_names = any(segment.transactions.has_new_name for segment in dirty)
        for segment in dirty:
            segment.note_sync()
        return Flush(
            self.files,
            end_offset,
            files,
            {o: kept for o, kept in self._snapshots.items() if o <= end_offset},
            None if epochs == self._epochs_written else epochs,
            self._has_new_names or has_new_names,
            is_partial=end_offset < self.end_offset,
        )

    def _planned_commit(self) -> Flush:
        dirty, end_offset = self._dirty(self.durable_offset)
        files = [file for segment in dirty for file in segment.unsynced_batches()]
        for segment in dirty:
            segment.note_sync(only_batches=True)
        is_partial = end_offset < self.end_offset
        return Flush(
            self.files, end_offset, files, {}, None, False, is_commit=True, is_partial=is_partial
        )

    def _dirty(self, offset: int) -> tuple[Sequence[Segment], int]:
        """The first segments with batches past an offset, and up to where they reach."""
        # The active one counts even if it is empty: its file may have lost the room that it had.
        dirty = self.segments.from_offset(offset)
        if len(dirty) <= FLUSHED_SEGMENTS_MAX:
            return dirty, self.end_offset
        return dirty[:FLUSHED_SEGMENTS_MAX], dirty[FLUSHED_SEGMENTS_MAX].base_offset

    def flushed(self, flush: Flush, now_ms: int) -> None:
        """Take note of a flush that has run without an error."""
        assert flush is self._flushing, "the flush that was planned"
        self._flushing = None
        for offset in flush.snapshots:
            self.files.snapshots.note(offset)
        self._snapshots = {o: s for o, s in self._snapshots.items() if o not in flush.snapshots}
        if flush.epochs is not None:
            self._epochs_written = flush.epochs
        self.durable_offset = max(self.durable_offset, flush.end_offset)
        if not flush.is_commit:
            self.recovery_point = max(self.recovery_point, flush.end_offset)
            self.flushed_ms = now_ms

    def not_flushed(self, flush: Flush) -> None:
        """Take note of a flush that failed on a disk that is well, so that all of it is due again.

        That is for want of room mostly, when the batches are on the device already.
        """
        assert flush is self._flushing, "the flush that was planned"
        self._flushing = None
        self._has_rolled = True
        if flush.is_durable:
            self.durable_offset = max(self.durable_offset, flush.end_offset)
        else:
            self._has_new_names = True

    def flush(self, now_ms: int) -> None:
        """Bring all to the device, and wait for it."""
        is_partial = True
        while is_partial:
            planned = self.plan_flush()
            try:
                planned.run()
            except OSError:
                self.not_flushed(planned)
                raise
            self.flushed(planned, now_ms)
            is_partial = planned.is_partial

    def close(self, now_ms: int) -> None:
        """End cleanly: the next one to open it need not look at the batches again."""
        self.segments.active.seal()
        self._snapshots[self.end_offset] = self.history.producers()
        self.flush(now_ms)
        for segment in self.segments:
            segment.close()

    def abandon(self) -> None:
        """End at once, since the folder is to go or cannot be reached; nothing is written."""
        for segment in self.segments:
            segment.abandon()
