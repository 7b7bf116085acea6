"""What the leader of a partition decides: who may append, what is committed, how far one may read.

A leader knows how far each replica in sync has come; the smallest of these offsets is the high
watermark, and what lies below it is committed: no later leader can lack it. What a replica holds
counts once it has said so, the leader's own once it was appended, or, where appends must reach the
device first, once they have.

Its owner keeps `end_offset`, where the log ends: what was appended does not count by that alone. It
decides and notes; it reads no log and sends nothing. Its owner appends, tells it, and wakes
those who wait if the high watermark has moved.

Invariants
  I-LEAD-1  The high watermark never moves back, and lies at or before the end of the log.
  I-LEAD-2  A record counts as committed only if every replica in sync has it.
  I-LEAD-3  It does not move while fewer replicas are in sync than the topic demands (KIP-966).
  I-LEAD-4  The leader is in sync with itself.
"""

from collections.abc import Iterable
from typing import Final

from ottla.errors import ErrorCode

NO_EPOCH: Final = -1
ALL_IN_SYNC: Final = -1
"""The acks of a producer that waits until a batch is committed."""
_ACKS: Final = (ALL_IN_SYNC, 0, 1)


class PartitionLeader:
    """One partition, as long as this node leads it in one epoch."""

    __slots__ = (
        "end_offset",
        "epoch_start_offset",
        "high_watermark",
        "in_sync_min",
        "leader_epoch",
        "node_id",
        "replica_ends",
    )

    def __init__(
        self, node_id: int, leader_epoch: int, in_sync: Iterable[int], end_offset: int
    ) -> None:
        """Lead from an epoch on; of the others it is not known yet how far they have come."""
        self.node_id = node_id
        self.leader_epoch = leader_epoch
        self.in_sync_min = 1
        self.end_offset = self.epoch_start_offset = end_offset
        self.high_watermark = 0
        self.replica_ends = dict.fromkeys(sorted(in_sync), 0)
        assert node_id in self.replica_ends, "I-LEAD-4"

    def start(self, high_watermark: int, own_end_offset: int) -> None:
        """Begin where a checkpoint says that all was committed, with what is here."""
        self.high_watermark = min(high_watermark, self.end_offset)
        self.reached(self.node_id, own_end_offset)

    def why_not_append(self, acks: int) -> ErrorCode:
        """Why a client's batch is refused before it is looked at, if it is."""
        if acks == ALL_IN_SYNC and len(self.replica_ends) < self.in_sync_min:
            return ErrorCode.NOT_ENOUGH_REPLICAS
        return ErrorCode.NONE

    def reached(self, replica: int, end_offset: int) -> bool:
        """A replica has everything before an offset; answer whether the high watermark moved."""
        ends = self.replica_ends
        if replica in ends:
            ends[replica] = end_offset
        if len(ends) < self.in_sync_min:
            return False
        committed = min(ends.values())
        if committed <= self.high_watermark:
            return False
        assert committed <= self.end_offset, "I-LEAD-1"
        self.high_watermark = committed
        return True

    def is_committed(self, end_offset: int) -> ErrorCode | None:
        """How an append that ended at an offset came out for who waits; None while it is open."""
        if self.high_watermark < end_offset:
            return None
        if len(self.replica_ends) < self.in_sync_min:
            return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
        return ErrorCode.NONE

    def why_not_epoch(self, current_leader_epoch: int) -> ErrorCode:
        """What is wrong with the epoch in which a client takes this node for the leader."""
        if current_leader_epoch in (NO_EPOCH, self.leader_epoch):
            return ErrorCode.NONE
        if current_leader_epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def is_latest_known(self) -> bool:
        """Is the high watermark one of this epoch, so that no later end was told to anyone?"""
        return self.high_watermark >= self.epoch_start_offset


def why_not_acks(acks: int) -> ErrorCode:
    """What is wrong with the acks of a request."""
    return ErrorCode.NONE if acks in _ACKS else ErrorCode.INVALID_REQUIRED_ACKS
