"""Follow the transactions of a log while it is gone through, to know what of them may go.

The records of an aborted transaction may go at once, since nobody reads them. A marker may go when
its transaction has no batch left in the log: then it ends nothing.

Invariant
  I-CLEAN-1  A marker is not let go of by the cleaning that still met a batch of its transaction, so
             no crash between the two can leave the batch without its end.
"""

from collections.abc import Iterable

from ottla.records.batch import batch_at
from ottla.records.control import ControlKey, ControlType
from ottla.records.reader import read_records
from ottla.records.scan import BatchRow
from ottla.storage.transaction_index import AbortedTransaction
from ottla.wire.fields import Buffer


class MetTransactions:
    """The transactions that are open at the place that was come to, by how they will end."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        """Know which transactions of the log were aborted."""
        self._to_come = sorted(aborted, key=lambda one: one.first_offset, reverse=True)
        self._aborting: dict[int, AbortedTransaction] = {}
        self._seen_aborting: set[int] = set()
        self._committing: set[int] = set()
        self._retained: list[AbortedTransaction] = []

    def meet_data(self, row: BatchRow) -> bool:
        """Come to a batch of a transaction: may its records go?"""
        self._go_to(row.last_offset)
        if row.producer_id in self._aborting:
            self._seen_aborting.add(row.producer_id)
            return True
        self._committing.add(row.producer_id)
        return False

    def meet_control(self, data: Buffer, row: BatchRow) -> bool:
        """Come to a control batch: may it go?"""
        self._go_to(row.last_offset)
        if row.records_count == 0:
            return True
        batch = batch_at(data, row.position)
        record = next(iter(read_records(batch, len(batch))))
        match ControlKey.parse(record.key).type:
            case ControlType.ABORT:
                return self._end_aborted(row.producer_id)
            case ControlType.COMMIT:
                was_seen = row.producer_id in self._committing
                self._committing.discard(row.producer_id)
                return not was_seen
            case _:
                return False

    def take_retained(self) -> list[AbortedTransaction]:
        """The aborted transactions whose markers were met since the last time, and stay."""
        retained, self._retained = self._retained, []
        return retained

    def _end_aborted(self, producer_id: int) -> bool:
        aborted = self._aborting.pop(producer_id, None)
        if aborted is None or producer_id not in self._seen_aborting:
            return True
        self._seen_aborting.discard(producer_id)
        self._retained.append(aborted)
        return False

    def _go_to(self, offset: int) -> None:
        """Begin the aborted transactions whose first offset was come to."""
        while self._to_come and self._to_come[-1].first_offset <= offset:
            aborted = self._to_come.pop()
            self._aborting.setdefault(aborted.producer_id, aborted)
