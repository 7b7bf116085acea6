"""Hold what was derived from a log against a replay of it: producers, aborted ones, epochs.

The cleaner takes away batches and markers that snapshots and indexes of before still speak of. So
where offsets have gaps only what the log contradicts is a finding, and not what it lacks.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.api.control_records import ControlType, read_control_key, read_end_of_transaction
from ottla.api.partition_files import ProducerSnapshot
from ottla.cli.log.batches import Batch
from ottla.cli.log.findings import Findings
from ottla.cli.log.records import is_control, records_of
from ottla.core.partition.leader_epochs import LeaderEpochs
from ottla.core.partition.open_transactions import CompletedTransaction
from ottla.core.partition.producer_state import ProducerState
from ottla.core.partition.producers import Marker, Producers
from ottla.kernels.faults import Malformed
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.transaction_index import AbortedTransaction

_NEVER_MS: Final = 2**62
_ENDS: Final = {ControlType.ABORT: False, ControlType.COMMIT: True}


class Snapshot(NamedTuple):
    """A producer snapshot: what was known below an offset."""

    path: str
    end_offset: int
    entries: list[ProducerSnapshot.ProducerEntry]


class ReplayCheck:
    """Replays a partition, and holds its snapshots and transaction indexes against that."""

    def __init__(
        self, start_offset: int, snapshots: Iterable[Snapshot], findings: Findings
    ) -> None:
        self.findings = findings
        self._snapshots = sorted(snapshots, key=lambda one: one.end_offset)
        self._producers = Producers(_NEVER_MS, must_verify=False)
        self._producers.start_at(start_offset)
        self._is_whole = start_offset == 0
        self._has_gaps = False
        self._aborted: dict[int, CompletedTransaction] = {}
        self._commits: dict[int, int] = {}
        self._entries: dict[int, AbortedTransaction] = {}
        self._reload(start_offset)

    def _reload(self, start_offset: int) -> None:
        """Begin with what a snapshot at the log's first segment says."""
        while self._snapshots and self._snapshots[0].end_offset <= start_offset:
            snapshot = self._snapshots.pop(0)
            if snapshot.end_offset == start_offset and start_offset:
                try:
                    self._producers.reload(snapshot.entries, start_offset, 0)
                    self._is_whole = True
                except Malformed as fault:
                    self.findings.bad(snapshot.path, 0, fault.reason)

    def begin_segment(self, entries: Iterable[AbortedTransaction]) -> None:
        """A segment begins, of which the transaction index has these entries."""
        self._aborted.clear()
        self._commits.clear()
        self._entries = {entry.last_offset: entry for entry in entries}

    def see(self, path: str, batch: Batch) -> None:
        """The next batch; one that goes back was named already."""
        row = batch.row
        producers = self._producers
        if row.base_offset < producers.end_offset:
            return
        if row.magic < 2:
            self._check_snapshots(row.base_offset)
            producers.pass_over(row.last_offset + 1)
            return
        self._has_gaps |= row.base_offset > producers.end_offset
        self._has_gaps |= row.records_count <= row.last_offset - row.base_offset
        self._check_snapshots(row.base_offset)
        try:
            if is_control(batch):
                self._see_control(batch)
            elif row.producer_id >= 0:
                producers.replay(row, row.base_offset, row.max_timestamp)
        except Malformed as fault:
            self.findings.bad(path, batch.position, fault.reason)
        producers.pass_over(row.last_offset + 1)
        producers.move_high_watermark(row.last_offset + 1)

    def skip(self) -> None:
        """Some batch is lost."""
        self._has_gaps = True

    def _see_control(self, batch: Batch) -> None:
        row = batch.row
        for record in records_of(batch):
            number = read_control_key(record.key or b"")
            if number not in _ENDS or row.producer_id < 0:
                continue
            epoch = read_end_of_transaction(record.value or b"")
            is_commit = _ENDS[ControlType(number)]
            marker = Marker(
                row.producer_id,
                row.producer_epoch,
                epoch,
                is_commit,
                record.offset,
                row.max_timestamp,
            )
            completed = self._producers.replay_marker(marker)
            if is_commit:
                if record.offset in self._entries:
                    self._commits[record.offset] = row.producer_id
            elif completed is not None:
                self._aborted[record.offset] = completed

    def end_segment(self, path: str, end_offset: int, *, is_recovered: bool = False) -> None:
        """The segment is over: hold its transaction index against what was seen.

        One that is to be recovered may lack entries, and have none that is wrong.
        """
        for offset, completed in self._aborted.items():
            entry = self._entries.get(offset)
            reason = self._why_not_indexed(completed, entry)
            if reason is not None and entry is None and is_recovered:
                self.findings.note(path, f"{_who(completed)} is not in it yet: recovery adds it")
            elif reason is not None:
                self.findings.bad(path, None, reason)
        for offset, entry in self._entries.items():
            self._judge_entry(path, offset, entry, end_offset)

    def _why_not_indexed(
        self, completed: CompletedTransaction, entry: AbortedTransaction | None
    ) -> str | None:
        """What is wrong with the entry of an aborted transaction."""
        who = _who(completed)
        if entry is None or entry.producer_id != completed.producer_id:
            return f"{who} is missing: it is read as committed"
        if entry.first_offset > completed.first_offset:
            return f"{who} is said to begin at {entry.first_offset}"
        if self._is_sure and entry.last_stable_offset != completed.last_stable_offset:
            stable = f"{entry.last_stable_offset}, not {completed.last_stable_offset}"
            return f"{who} is said to have left a last stable offset of {stable}"
        return None

    @property
    def _is_sure(self) -> bool:
        """Is everything in the log that was ever written to it?"""
        return self._is_whole and not self._has_gaps

    def _judge_entry(
        self, path: str, offset: int, entry: AbortedTransaction, end_offset: int
    ) -> None:
        who = f"the aborted transaction of producer {entry.producer_id}"
        if offset in self._commits:
            self.findings.bad(path, None, f"{who} was committed at offset {offset}")
        elif offset >= end_offset:
            self.findings.bad(path, None, f"{who} ends at {offset}, behind the segment's end")
        elif self._is_sure and offset not in self._aborted:
            self.findings.bad(path, None, f"{who} has no marker at offset {offset}")

    def end(self) -> None:
        """The log is over."""
        end_offset = self._producers.end_offset
        self._check_snapshots(end_offset)
        for snapshot in self._snapshots:
            reason = f"it is of offset {snapshot.end_offset}, where the log ends at {end_offset}"
            self.findings.bad(snapshot.path, 0, reason)

    def _check_snapshots(self, offset: int) -> None:
        """Hold the snapshots up to an offset against what was replayed up to there."""
        while self._snapshots and self._snapshots[0].end_offset <= offset:
            snapshot = self._snapshots.pop(0)
            if snapshot.end_offset < self._producers.end_offset:
                reason = f"it is of offset {snapshot.end_offset}, which lies within a batch"
                self.findings.bad(snapshot.path, 0, reason)
                continue
            for number, entry in enumerate(snapshot.entries):
                state = self._producers.get(entry.producer_id)
                if state is not None:
                    self._compare(snapshot, number, entry, state)

    def _compare(
        self,
        snapshot: Snapshot,
        number: int,
        entry: ProducerSnapshot.ProducerEntry,
        state: ProducerState,
    ) -> None:
        """Hold one producer of a snapshot against the log."""
        replayed = state.to_entry()
        names = [field.name for field in entry.fields]
        if not self._is_sure:
            if replayed.last_offset != entry.last_offset or entry.last_offset < 0:
                return
            names = ["epoch", "last_sequence", "last_offset"]
        differing = [name for name in names if getattr(entry, name) != getattr(replayed, name)]
        for name in differing:
            said, found = getattr(entry, name), getattr(replayed, name)
            reason = f"producer {entry.producer_id} has {name} {said}, by the log it is {found}"
            self.findings.bad(snapshot.path, ENTRIES_START + number * ENTRY_BYTES, reason)


def _who(completed: CompletedTransaction) -> str:
    producer_id, first_offset, last_offset = completed[:3]
    return f"the aborted transaction of producer {producer_id}, {first_offset}..{last_offset},"


ENTRIES_START: Final = 10
ENTRY_BYTES: Final = 46
"""Where the producers of a snapshot begin, and what each takes."""


class EpochCheck:
    """Holds a leader epoch checkpoint against the epochs of the batches."""

    def __init__(
        self, path: str, entries: list[EpochEntry] | None, log_start_offset: int, findings: Findings
    ) -> None:
        """`entries` are None if there is no checkpoint."""
        self._path = path
        self._findings = findings
        self.is_silent = False
        self._is_there = entries is not None
        self._log_start_offset = log_start_offset
        self._entries = entries or []
        self._epochs = LeaderEpochs()
        self._last_epoch = -1
        self._named: set[int] = set()
        for before, entry in zip([None, *self._entries], self._entries, strict=False):
            if before is not None and not (
                entry.epoch > before.epoch and entry.start_offset > before.start_offset
            ):
                reason = f"epoch {entry.epoch} from offset {entry.start_offset} does not rise"
                findings.bad(path, None, reason)
            elif entry.epoch < 0 or entry.start_offset < 0:
                findings.bad(path, None, f"epoch {entry.epoch} or its offset is negative")
            else:
                self._epochs.assign(*entry)

    def see(self, path: str, batch: Batch, *, is_recovered: bool = False) -> None:
        """The next batch; an epoch is named once, and by a note where recovery makes it anew."""
        row = batch.row
        epoch = row.partition_leader_epoch
        if row.magic < 2 or epoch < 0:
            return
        if epoch < self._last_epoch:
            reason = f"the leader epoch falls from {self._last_epoch} to {epoch}"
            self._findings.bad(path, batch.position, reason)
        self._last_epoch = epoch
        if self.is_silent or row.last_offset < self._log_start_offset or epoch in self._named:
            return
        fault = self._why_not(batch, epoch)
        if fault is None:
            return
        self._named.add(epoch)
        if is_recovered:
            self._findings.note(self._path, f"{fault}; recovery mends it")
        else:
            self._findings.bad(self._path, None, fault)

    def _why_not(self, batch: Batch, epoch: int) -> str | None:
        """What the checkpoint says of the offsets of a batch, if it is not the batch's epoch."""
        if not self._is_there:
            return f"it is missing, but the log has epoch {epoch}"
        row = batch.row
        for offset in (max(row.base_offset, self._log_start_offset), row.last_offset):
            said = self._epochs.epoch_at(offset)
            if said != epoch:
                known = "no epoch" if said is None else f"epoch {said}"
                return f"offset {offset} is said to be of {known}, its batch is of {epoch}"
        return None

    def end(self, end_offset: int) -> None:
        """The log is over."""
        for epoch, start_offset in self._entries:
            if start_offset > end_offset:
                reason = (
                    f"epoch {epoch} begins at {start_offset}, where the log ends at {end_offset}"
                )
                self._findings.bad(self._path, None, reason)
