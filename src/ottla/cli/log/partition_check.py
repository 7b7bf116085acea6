"""Check one partition's folder: its segments in order, and all that is derived from them."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import PurePath
from typing import TypeVar

from ottla.api.partition_files import ProducerSnapshot
from ottla.cli.log.batches import Batch, Batches, Damage
from ottla.cli.log.choices import FileKind
from ottla.cli.log.files import LogFile
from ottla.cli.log.findings import Findings
from ottla.cli.log.index_checks import OffsetIndexCheck, TimeIndexCheck
from ottla.cli.log.record_checks import fault_of, records_count
from ottla.cli.log.replay_checks import EpochCheck, ReplayCheck, Snapshot
from ottla.cli.log.small_contents import content_of, objects_of
from ottla.cli.progress import Progress
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.storage.checkpoints import EpochEntry, parse_epochs
from ottla.storage.file_names import LEADER_EPOCHS
from ottla.storage.producer_snapshot import parse_producer_snapshot
from ottla.storage.transaction_index import AbortedTransaction

_T = TypeVar("_T")
SEGMENT_OFFSETS_MAX = 2**31 - 1


@dataclass
class Seen:
    """What was counted in a partition, and where its log begins and ends."""

    segments_count: int = 0
    batches_count: int = 0
    records_count: int = 0
    size_bytes: int = 0
    start_offset: int = 0
    end_offset: int = 0


@dataclass
class PartitionCheck:
    """The check of one folder."""

    disk: Disk
    files: list[LogFile]
    findings: Findings
    progress: Progress
    log_start_offset: int = 0
    is_folder: bool = True
    recovery_point: int | None = None
    """From where on the next start recovers the log; None if it recovers nothing."""
    seen: Seen = field(default_factory=Seen)

    def run(self) -> Seen:
        """Check all files of the folder."""
        logs = sorted(self._of(FileKind.LOG), key=lambda file: file.base_offset or 0)
        start_offset = logs[0].base_offset or 0 if logs else 0
        self.seen.start_offset = self.seen.end_offset = start_offset
        replay = ReplayCheck(start_offset, self._snapshots(), self.findings)
        epochs = self._epoch_check()
        for log, after in zip_longest(logs, logs[1:]):
            try:
                self._check_segment(log, after, replay, epochs)
            except OSError as fault:
                self._say_unreadable(log, fault)
        if logs:
            replay.end()
            epochs.end(self.seen.end_offset)
        self._check_strays({log.base_offset for log in logs})
        return self.seen

    def _of(self, kind: FileKind) -> list[LogFile]:
        return [file for file in self.files if file.kind is kind and not file.stage]

    def _snapshots(self) -> Iterator[Snapshot]:
        for file in self._of(FileKind.PRODUCERS):
            entries = self._parsed(
                file, lambda f: content_of(self.disk, f, parse_producer_snapshot)
            )
            if entries is not None and file.base_offset is not None:
                yield Snapshot(file.path, file.base_offset, entries)

    def _producers(self, file: LogFile) -> list[ProducerSnapshot.ProducerEntry]:
        return content_of(self.disk, file, parse_producer_snapshot)

    def _epoch_check(self) -> EpochCheck:
        entries: list[EpochEntry] | None = None
        path = str(PurePath(self.files[0].parent) / LEADER_EPOCHS)
        is_broken = not self.is_folder
        for file in self._of(FileKind.EPOCHS):
            entries = self._parsed(file, lambda f: content_of(self.disk, f, parse_epochs))
            is_broken = entries is None
        check = EpochCheck(path, entries, self.log_start_offset, self.findings)
        check.is_silent = is_broken
        return check

    def _check_segment(
        self, log: LogFile, after: LogFile | None, replay: ReplayCheck, epochs: EpochCheck
    ) -> None:
        is_last, is_recovered = after is None, self._is_recovered(after)
        indexes = [*self._index_checks(log, is_recovered=is_recovered)]
        aborted, aborted_path = self._aborted(log)
        replay.begin_segment(aborted)
        self.seen.segments_count += 1
        with closing(self.disk.open(log.path, read_only=True)) as opened:
            size_bytes = opened.size()
            offset_min = max(self.seen.end_offset, log.base_offset or 0)
            counted = 0
            for found in Batches(opened, 0, size_bytes, offset_min):
                self.progress.advance(found.position - counted, log.path)
                counted = found.position
                if isinstance(found, Damage):
                    self._see_damage(log, found, is_last=is_last)
                    replay.skip()
                    for index in indexes:
                        index.skip(found)
                    continue
                for index in indexes:
                    index.see(found)
                if self._see_batch(log, found):
                    replay.see(log.path, found)
                    epochs.see(log.path, found, is_recovered=is_recovered)
                else:
                    replay.skip()
            self.progress.advance(size_bytes - counted, log.path)
        self.seen.size_bytes += size_bytes
        for index in indexes:
            index.end()
            index.close()
        replay.end_segment(aborted_path, self.seen.end_offset, is_recovered=is_recovered)

    def _is_recovered(self, after: LogFile | None) -> bool:
        """Does the next start read a segment anew, and make all that is derived from it?"""
        if self.recovery_point is None:
            return False
        return after is None or (after.base_offset or 0) > self.recovery_point

    def _see_batch(self, log: LogFile, batch: Batch) -> bool:
        """Check a batch by itself; answer whether its header can be trusted."""
        row = batch.row
        for fault in batch.faults:
            self.findings.bad(log.path, batch.position, fault)
        if batch.faults:
            return False
        if row.last_offset - (log.base_offset or 0) > SEGMENT_OFFSETS_MAX:
            reason = f"offset {row.last_offset} is too far from the segment's base for 31 bits"
            self.findings.bad(log.path, batch.position, reason)
        reason_of_records = fault_of(batch)
        if reason_of_records is not None:
            self.findings.bad(log.path, batch.position, reason_of_records)
        self.seen.batches_count += 1
        self.seen.records_count += records_count(batch)
        self.seen.end_offset = max(self.seen.end_offset, row.last_offset + 1)
        return True

    def _see_damage(self, log: LogFile, damage: Damage, *, is_last: bool) -> None:
        if damage.is_zeros and is_last:
            self.findings.note(log.path, f"{damage.size_bytes:,} {damage.reason}")
            return
        reason = f"{damage.size_bytes:,} bytes: {damage.reason}"
        # Below the recovery point everything was on the device, so there nothing explains it.
        recovered_from = self.recovery_point
        is_recovered = recovered_from is not None and recovered_from <= self.seen.end_offset
        if damage.is_torn_end and is_last and is_recovered:
            self.findings.note(log.path, f"{reason}, which was being written; recovery cuts it off")
        else:
            self.findings.bad(log.path, damage.position, reason)

    def _index_checks(
        self, log: LogFile, *, is_recovered: bool
    ) -> Iterator[OffsetIndexCheck | TimeIndexCheck]:
        """The checks of the indexes that are there; they are opened before the log is measured.

        What is appended meanwhile comes into the log first, so every entry has its batch.
        """
        for kind, check in (
            (FileKind.INDEX, OffsetIndexCheck),
            (FileKind.TIME_INDEX, TimeIndexCheck),
        ):
            file = self._beside(log, kind)
            if file is not None:
                yield check(self.disk, file, self.findings)
            elif self.is_folder and log.size_bytes:
                self._say_missing(log, kind, is_recovered=is_recovered)

    def _say_missing(self, log: LogFile, kind: FileKind, *, is_recovered: bool) -> None:
        reason = f"it has no .{kind} beside it"
        if is_recovered:
            self.findings.note(log.path, f"{reason} yet: recovery makes it")
        else:
            self.findings.bad(log.path, None, reason)

    def _aborted(self, log: LogFile) -> tuple[list[AbortedTransaction], str]:
        file = self._beside(log, FileKind.TXN_INDEX)
        if file is None:
            return [], log.path.removesuffix(".log") + ".txnindex"
        found = self._parsed(file, lambda f: list(objects_of(self.disk, f))) or []
        names = AbortedTransaction._fields
        entries = [
            AbortedTransaction._make(int(str(entry[name])) for name in names)
            for entry in found
            if entry["type"] == "aborted_transaction"
        ]
        for before, entry in pairwise(entries):
            if entry.last_offset <= before.last_offset:
                reason = f"the transaction that ends at {entry.last_offset} does not come last"
                self.findings.bad(file.path, None, reason)
        return entries, file.path

    def _beside(self, log: LogFile, kind: FileKind) -> LogFile | None:
        stem = str(PurePath(log.path).with_suffix(""))
        same = (file for file in self._of(kind) if str(PurePath(file.path).with_suffix("")) == stem)
        return next(same, None)

    def _check_strays(self, base_offsets: set[int | None]) -> None:
        """Indexes without their log."""
        for kind in (FileKind.INDEX, FileKind.TIME_INDEX, FileKind.TXN_INDEX):
            for file in self._of(kind):
                if file.base_offset not in base_offsets:
                    self.findings.bad(file.path, None, "there is no log beside it")

    def _parsed(self, file: LogFile, parse: Callable[[LogFile], _T]) -> _T | None:
        """What a file says; None, and a finding, if it cannot be read."""
        try:
            return parse(file)
        except Malformed as fault:
            self.findings.bad(file.path, max(fault.position, 0), fault.reason)
        except OSError as fault:
            self._say_unreadable(file, fault)
        return None

    def _say_unreadable(self, file: LogFile, fault: OSError) -> None:
        if isinstance(fault, FileNotFoundError):
            self.findings.note(file.path, "it has gone since it was listed")
        else:
            self.findings.bad(file.path, None, f"it cannot be read: {fault.strerror or fault}")
