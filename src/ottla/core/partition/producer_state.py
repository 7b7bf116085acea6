"""What a partition remembers of one producer, and how that looks in a snapshot."""

from collections import deque
from typing import Final, NamedTuple, Self

from ottla.api.partition_files import ProducerSnapshot
from ottla.records.batch import SEQUENCE_MAX

BATCHES_MAX: Final = 5
"""As many batches as a producer may have in flight, so that each of them can be known again."""
NO_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_OFFSET: Final = -1


class KnownBatch(NamedTuple):
    """A batch that was appended; a retry of it is answered with its offsets and time."""

    first_sequence: int
    last_sequence: int
    first_offset: int
    last_offset: int
    timestamp: int


class ProducerState:
    """One producer: all known batches are of its epoch, oldest first."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "open_transaction_offset",
        "producer_id",
    )

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = NO_EPOCH
        self.coordinator_epoch = NO_EPOCH
        self.last_timestamp = -1
        self.open_transaction_offset = NO_OFFSET
        self.batches: deque[KnownBatch] = deque(maxlen=BATCHES_MAX)

    @property
    def is_in_transaction(self) -> bool:
        """Has the producer begun a transaction here that is not ended yet?"""
        return self.open_transaction_offset >= 0

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record of this epoch, or -1 if there is none."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        """The offset of the last record of this epoch, or -1 if there is none."""
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    def to_entry(self) -> ProducerSnapshot.ProducerEntry:
        """This producer in a snapshot, which has room for the newest batch only."""
        newest = self.batches[-1] if self.batches else None
        return ProducerSnapshot.ProducerEntry(
            producer_id=self.producer_id,
            epoch=self.epoch,
            last_sequence=newest.last_sequence if newest else NO_SEQUENCE,
            last_offset=newest.last_offset if newest else NO_OFFSET,
            offset_delta=newest.last_offset - newest.first_offset if newest else 0,
            timestamp=self.last_timestamp,
            coordinator_epoch=self.coordinator_epoch,
            current_txn_first_offset=self.open_transaction_offset,
        )

    @classmethod
    def of_entry(cls, entry: ProducerSnapshot.ProducerEntry) -> Self:
        """A producer as a snapshot has it."""
        state = cls(entry.producer_id)
        state.epoch = entry.epoch
        state.coordinator_epoch = entry.coordinator_epoch
        state.last_timestamp = entry.timestamp
        state.open_transaction_offset = max(entry.current_txn_first_offset, NO_OFFSET)
        if entry.last_offset >= 0:
            known = KnownBatch(
                (entry.last_sequence - entry.offset_delta) & SEQUENCE_MAX,
                entry.last_sequence,
                entry.last_offset - entry.offset_delta,
                entry.last_offset,
                entry.timestamp,
            )
            state.batches.append(known)
        return state
