"""Open a partition's log, however its last process ended.

After a clean end nothing is looked at but the names, the checkpoints and the end of the last
segment. Otherwise every batch from the recovery point on is checked: what was written last may be
torn, so the log is cut at the first bad byte, and what comes after it goes. Below the recovery
point a bad byte is another matter, since all there was on the device once: it is corruption, and
the log is given back as it is with an error, for a replica or a person to decide. The work is
bounded by the bytes since the recovery point, and each log is opened on its own, on any thread.

Invariants
  I-REC-1  Nothing below the recovery point is ever cut.
  I-REC-2  Opening again what was opened and not written to changes nothing.
  I-REC-3  No room on the disk is needed.
  I-REC-4  Above the recovery point no segment is kept behind one that may have lost its end. A gap
           between the two says that it has, unless there is a snapshot of where the later one
           begins: that is written only after all before it was on the device.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ottla.api.partition_files import ProducerSnapshot
from ottla.kernels.faults import InvalidValue, Malformed
from ottla.records.scan import BatchRow, Stop
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.file_names import Kind, Stage
from ottla.storage.handles import Handles
from ottla.storage.history import History
from ottla.storage.later_epochs import LaterEpochs
from ottla.storage.leftovers import FolderNames, settle
from ottla.storage.log import Log, LogState
from ottla.storage.log_options import LogOptions
from ottla.storage.partition_files import PartitionFiles
from ottla.storage.producer_snapshots import ProducerSnapshots
from ottla.storage.replaying import restore_producers
from ottla.storage.segment import Segment
from ottla.storage.segments import Segments
from ottla.storage.transaction_index import AbortedTransaction
from ottla.storage.writes import DISK_FULL


class Corrupt(InvalidValue):
    """A log has bad bytes where all was on the device once; nothing was changed."""

    def __init__(self, path: str, position: int, offset: int, stop: Stop) -> None:
        super().__init__(f"no batch at offset {offset}, but {stop.name.lower()}", position)
        self.path.append(path)
        self.offset = offset
        self.stop = stop


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known of a log before it is opened."""

    now_ms: int
    is_clean: bool
    log_start_offset: int = 0
    recovery_point: int = 0
    checked_from: int | None = None
    """From where on all is checked, if that is not the recovery point."""
    progress: Callable[[int], None] = lambda _: None
    """Told of every bytes that were checked."""


class Cut(NamedTuple):
    """What recovery took away from the end of a log."""

    path: str
    position: int
    size_bytes: int
    stop: Stop


@dataclass(slots=True)
class Findings:
    """What opening a log had to do, for those who watch."""

    checked_bytes: int = 0
    cuts: list[Cut] = field(default_factory=list[Cut])
    removed: list[str] = field(default_factory=list[str])
    refused: list[Malformed] = field(default_factory=list[Malformed])


def open_log(
    handles: Handles, folder: str, options: LogOptions, history: History, opening: Opening
) -> tuple[Log, Findings]:
    """Open the log in a folder, which may be empty. Raises `Corrupt`."""
    return _Opener(handles, folder, options, history, opening).run()


class _Opener:
    """One opening of one log."""

    def __init__(
        self,
        handles: Handles,
        folder: str,
        options: LogOptions,
        history: History,
        opening: Opening,
    ) -> None:
        self.options = options
        self.history = history
        self.opening = opening
        self.findings = Findings()
        self.is_new = False
        self.snapshots = dict[int, Sequence[ProducerSnapshot.ProducerEntry]]()
        self.later_epochs = LaterEpochs([], 0)
        self.replayed_from: int | None = None
        """From where on the history has seen all that there is, if it has."""
        self.findings.removed = settle(handles, folder, options.segment)
        names = FolderNames.of(handles.disk.names(folder))
        snapshots = ProducerSnapshots(handles.disk, folder, names.snapshots())
        self.files = PartitionFiles(handles, folder, snapshots)
        self._remove_orphans(names)
        bases = names.bases(Stage.CURRENT)
        self.segments = Segments(self.files.segment(base, options.segment) for base in bases)

    def run(self) -> tuple[Log, Findings]:
        """Find out what the log is."""
        log_start_offset = self.opening.log_start_offset
        if not self.segments:
            self._begin_at(log_start_offset)
        log_start_offset = max(log_start_offset, self.segments.first.base_offset)
        epochs = self._load_epochs()
        end_offset = self._recovered_end(epochs, log_start_offset)
        if end_offset < log_start_offset:
            # All that was left was before the start that somebody was promised.
            self._start_over(log_start_offset)
            end_offset, self.replayed_from = log_start_offset, None
        self.history.cut_epochs(log_start_offset, end_offset)
        self._remove_strays(end_offset)
        if self.replayed_from is None or self.replayed_from < log_start_offset:
            self._restore_producers(log_start_offset, end_offset)
        recovery_point = end_offset
        if not self.opening.is_clean:
            recovery_point = min(self.opening.recovery_point, end_offset)
        has_new_names = self.is_new or not self.opening.is_clean
        waiting = {offset: kept for offset, kept in self.snapshots.items() if offset <= end_offset}
        state = LogState(
            log_start_offset, recovery_point, end_offset, epochs, has_new_names, waiting
        )
        log = Log(self.files, self.options, self.history, self.segments, state, self.opening.now_ms)
        return log, self.findings

    def _begin_at(self, offset: int) -> None:
        self.is_new = True
        # Room that is given now would be taken for a tail to cut at the next start.
        options = replace(self.options.segment, allocated_bytes=0)
        segment = self.files.segment(offset, options, 0)
        try:
            segment.create()
        except OSError as fault:
            # The first append makes the file, once there is room.
            if fault.errno not in DISK_FULL:
                raise
        self.segments = Segments([segment])

    def _start_over(self, offset: int) -> None:
        gone = list(self.segments)
        self.findings.removed += [f"{segment.base_offset:020}{Kind.LOG}" for segment in gone]
        self.files.retire(gone).run()
        self.files.disk.sync_folder(self.files.folder)
        self._begin_at(offset)

    def _load_epochs(self) -> Sequence[EpochEntry]:
        """Let the history know the epochs as far as their checkpoint can be read."""
        try:
            entries = self.files.read_epochs() or []
            self.history.load_epochs(entries)
        except Malformed as fault:
            self.findings.refused.append(fault)
            self.history.load_epochs([])
            return []
        return entries

    def _restore_producers(self, log_start_offset: int, end_offset: int) -> None:
        bounds = (log_start_offset, end_offset)
        self.findings.refused += restore_producers(
            self.history, self.segments, self.files.snapshots, bounds, self.opening.now_ms
        )

    def _recovered_end(self, epochs: Sequence[EpochEntry], log_start_offset: int) -> int:
        """Check what has to be checked, and give where the log ends."""
        if self.opening.is_clean:
            return self.segments.active.next_offset()
        recovery_point, checked_from = self.opening.recovery_point, self.opening.checked_from
        if checked_from is None:
            checked_from = recovery_point
        unsure = self.segments.from_offset(min(recovery_point, checked_from))
        bounds = (max(log_start_offset, self.segments.first.base_offset), unsure[0].base_offset)
        self.history.cut_epochs(self.segments.first.base_offset, bounds[1])
        self.later_epochs = LaterEpochs(epochs, bounds[1])
        self._restore_producers(min(bounds), bounds[1])
        self.replayed_from = bounds[1]
        for number, segment in enumerate(unsure):
            if number and self._is_gap(unsure[number - 1], segment):
                self._drop(unsure[number:])
                break
            if number and segment.base_offset not in self.files.snapshots.offsets:
                self.snapshots[segment.base_offset] = self.history.producers()
            if self._is_cut(segment):
                self._drop(unsure[number + 1 :])
                break
        self.history.load_epochs(self.later_epochs.joined(self.history.epochs()))
        return self.segments.active.next_offset()

    def _is_gap(self, segment: Segment, after: Segment) -> bool:
        """Is the end of a segment missing?"""
        is_sure = after.base_offset <= self.opening.recovery_point
        if is_sure or segment.next_offset() >= after.base_offset:
            return False
        return after.base_offset not in self.files.snapshots.offsets

    def _is_cut(self, segment: Segment) -> bool:
        """Check a segment to its end; was something cut off?"""
        file_bytes = segment.size_bytes
        recovered = segment.recover(self._replay, cuts=False)
        self.findings.checked_bytes += file_bytes
        if not recovered.cut_bytes:
            segment.accept(recovered)
            return False
        position = file_bytes - recovered.cut_bytes
        path = f"{segment.stem}{Kind.LOG}"
        end_offset = segment.next_offset()
        if end_offset < self.opening.recovery_point:
            # Not one of the log's files is touched, nor are its indexes.
            raise Corrupt(path, position, end_offset, recovered.stop)
        segment.accept(recovered)
        self.findings.cuts.append(Cut(path, position, recovered.cut_bytes, recovered.stop))
        return True

    def _replay(self, data: memoryview, rows: Sequence[BatchRow]) -> Sequence[AbortedTransaction]:
        self.opening.progress(len(data))
        self.later_epochs.note(rows)
        return self.history.replay(data, rows)

    def _drop(self, segments: Sequence[Segment]) -> None:
        """Remove segments after a cut, the last one first, so that no hole can be left."""
        for segment in reversed(segments):
            self.findings.removed.append(f"{segment.base_offset:020}{Kind.LOG}")
            self.segments = self.segments.without([segment])
            self.files.retire([segment]).run()
            self.files.disk.sync_folder(self.files.folder)

    def _remove_orphans(self, names: FolderNames) -> None:
        """Remove indexes without a log, which nothing can be found by."""
        current = names.stages[Stage.CURRENT]
        bases = {file.base_offset for file in current if file.kind is Kind.LOG}
        for file in current:
            is_index = file.kind not in {Kind.LOG, Kind.PRODUCER_SNAPSHOT}
            if is_index and file.base_offset not in bases:
                self.findings.removed.append(file.name)
                self.files.disk.remove(f"{self.files.folder}/{file.name}")

    def _remove_strays(self, end_offset: int) -> None:
        """Remove snapshots that are of no use: past the end, or of no segment but the newest."""
        snapshots = self.files.snapshots
        past = [offset for offset in snapshots.offsets if offset > end_offset]
        kept = {segment.base_offset for segment in self.segments}
        strays = [offset for offset in snapshots.offsets[:-1] if offset not in kept]
        with suppress(OSError):
            snapshots.remove([*past, *strays])
