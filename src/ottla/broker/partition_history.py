"""The producers and the leader epochs of one partition, fed by the headers of its log.

This joins `core.partition`, which knows what batches mean, to `storage`, which shows them: on a
leader after an append, on a follower, and whenever a log is opened or cut.
"""

from collections.abc import Iterable, Mapping, Sequence

from ottla.api.partition_files import ProducerSnapshot
from ottla.core.partition.leader_epochs import LeaderEpochs
from ottla.core.partition.producers import Marker, Producers
from ottla.kernels.faults import InvalidValue
from ottla.records.batch import CONTROL_BIT, batch_at
from ottla.records.control import ControlKey, ControlType, EndMarker
from ottla.records.reader import read_records
from ottla.records.scan import BatchRow
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.transaction_index import AbortedTransaction
from ottla.wire.fields import Buffer

PRODUCER_EXPIRATION_MS = 24 * 60 * 60 * 1000
_MARKERS = (ControlType.ABORT, ControlType.COMMIT)


class PartitionHistory:
    """What `storage` calls a history, for a partition."""

    def __init__(
        self, producer_expiration_ms: int = PRODUCER_EXPIRATION_MS, *, must_verify: bool = False
    ) -> None:
        self.state = Producers(producer_expiration_ms, must_verify=must_verify)
        self.leader_epochs = LeaderEpochs()

    def replay(self, data: Buffer, rows: Sequence[BatchRow]) -> Sequence[AbortedTransaction]:
        """Take in batches that are in the log; answer the transactions that they abort."""
        producers, epochs = self.state, self.leader_epochs
        latest = epochs.latest_epoch
        aborted: list[AbortedTransaction] = []
        passed_over = -1
        for row in rows:
            epoch = row.partition_leader_epoch
            if epoch >= 0 and (latest is None or epoch > latest):
                epochs.assign(epoch, row.base_offset)
                latest = epoch
            if row.attributes & CONTROL_BIT and row.magic == 2:
                aborted += self._replay_control(data, row)
                passed_over = -1
            elif row.producer_id < 0:
                passed_over = row.last_offset
            else:
                producers.replay(row, row.base_offset, row.max_timestamp)
                passed_over = -1
        if passed_over >= 0:
            producers.pass_over(passed_over + 1)
        return aborted

    def _replay_control(self, data: Buffer, row: BatchRow) -> Sequence[AbortedTransaction]:
        marker = _marker(data, row)
        if marker is None:
            self.state.pass_over(row.last_offset + 1)
            return ()
        completed = self.state.replay_marker(marker)
        if completed is None or not completed.is_aborted:
            return ()
        return (
            AbortedTransaction(
                completed.producer_id,
                completed.first_offset,
                completed.last_offset,
                completed.last_stable_offset,
            ),
        )

    def producers(self) -> list[ProducerSnapshot.ProducerEntry]:
        """What a snapshot at the end of what was taken in holds."""
        return self.state.snapshot()

    def last_records(self) -> Mapping[int, tuple[int, int]]:
        """What cleaning must keep, by producer: its last offset, or -1, and its epoch."""
        return self.state.last_records()

    def last_stable_offset(self, log_start_offset: int, high_watermark: int) -> int:
        """Before which no transaction is open, and all is on enough replicas."""
        return self.state.last_stable_offset(log_start_offset, high_watermark)

    def load_producers(
        self, entries: Iterable[ProducerSnapshot.ProducerEntry], end_offset: int, now_ms: int
    ) -> None:
        """Know of producers what a snapshot at an offset says."""
        self.state.reload(entries, end_offset, now_ms)

    def forget_producers(self, end_offset: int) -> None:
        """Know of no producers, at an offset where the log begins anew."""
        self.state.start_at(end_offset)

    def expire_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for long."""
        self.state.expire(now_ms)

    def epochs(self) -> Sequence[tuple[int, int]]:
        """The leader epochs with their first offsets."""
        return self.leader_epochs.entries()

    def load_epochs(self, entries: Iterable[EpochEntry]) -> None:
        """Know of the epochs what a checkpoint says."""
        given = list(entries)
        self.leader_epochs.clear()
        for before, entry in zip([None, *given], given, strict=False):
            rises = before is None or (
                entry.epoch > before.epoch and entry.start_offset > before.start_offset
            )
            if not rises or entry.epoch < 0 or entry.start_offset < 0:
                self.leader_epochs.clear()
                reason = f"epoch {entry.epoch} from offset {entry.start_offset} is out of order"
                raise InvalidValue(reason)
            self.leader_epochs.assign(*entry)

    def cut_epochs(self, log_start_offset: int, end_offset: int) -> None:
        """Forget the epochs outside of a part of the log."""
        self.leader_epochs.truncate_end(end_offset)
        self.leader_epochs.truncate_start(log_start_offset)

    def move_log_start(self, log_start_offset: int) -> None:
        """Let nothing before the log's start hold anything back."""
        self.state.move_log_start(log_start_offset)


def _marker(data: Buffer, row: BatchRow) -> Marker | None:
    """The end of a transaction that a control batch holds; None if it is another, or emptied."""
    if row.records_count == 0 or row.producer_id < 0:
        return None
    batch = batch_at(data, row.position)
    record = next(iter(read_records(batch, len(batch))))
    type_ = ControlKey.parse(record.key).type
    if type_ not in _MARKERS:
        return None
    return Marker(
        row.producer_id,
        row.producer_epoch,
        EndMarker.parse(record.value).coordinator_epoch,
        type_ == ControlType.COMMIT,
        row.last_offset,
        record.timestamp,
    )
