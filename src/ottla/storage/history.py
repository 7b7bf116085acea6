"""What is known over a log by its batches' headers, as far as storage has to do with it.

Producers, their transactions and the leader epochs are meaning, which storage does not know. It
shows every batch to a history once it is in the log, keeps for it what makes starting quick
(snapshots, a checkpoint of epochs), and gives that back when the log is opened or cut. So whatever
a history says can be had anew from the log, and the log alone is true.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from ottla.api.partition_files import ProducerSnapshot
from ottla.records.scan import BatchRow
from ottla.storage.checkpoints import EpochEntry
from ottla.storage.transaction_index import AbortedTransaction
from ottla.wire.fields import Buffer


class History(Protocol):
    """The producers and the leader epochs of one log."""

    def replay(self, data: Buffer, rows: Sequence[BatchRow]) -> Sequence[AbortedTransaction]:
        """Take in batches that are in the log; answer the transactions that they abort.

        Batches may be left out that say nothing which later ones of `rows` do not say as well.

        They may have been taken in before, after `load_producers` or `forget_producers` at or
        below them; an epoch that is known is not made anew.
        """
        ...

    def producers(self) -> list[ProducerSnapshot.ProducerEntry]:
        """What a snapshot at the end of what was taken in holds."""
        ...

    def last_records(self) -> Mapping[int, tuple[int, int]]:
        """What cleaning must keep, by producer: its last offset, or -1, and its epoch."""
        ...

    def last_stable_offset(self, log_start_offset: int, high_watermark: int) -> int:
        """Before which no transaction is open, and all is on enough replicas."""
        ...

    def load_producers(
        self, entries: Iterable[ProducerSnapshot.ProducerEntry], end_offset: int, now_ms: int
    ) -> None:
        """Know of producers what a snapshot at an offset says; Malformed if it cannot be."""
        ...

    def forget_producers(self, end_offset: int) -> None:
        """Know of no producers, at an offset where the log begins anew."""
        ...

    def expire_producers(self, now_ms: int) -> None:
        """Forget producers that have been silent for long."""
        ...

    def epochs(self) -> Sequence[tuple[int, int]]:
        """The leader epochs with their first offsets, which a checkpoint holds."""
        ...

    def load_epochs(self, entries: Iterable[EpochEntry]) -> None:
        """Know of the epochs what a checkpoint says; Malformed if it cannot be."""
        ...

    def cut_epochs(self, log_start_offset: int, end_offset: int) -> None:
        """Forget the epochs outside of a part of the log; the first begins at its start."""
        ...

    def move_log_start(self, log_start_offset: int) -> None:
        """Let nothing before the log's start hold anything back."""
        ...
