"""Transactions about which the coordinator is being asked, before their first batch (KIP-890).

A partition that does not see a producer's transaction open asks the coordinator whether it is.
Meanwhile the transaction may end, so the answer counts only for the guard that was handed out
before: a marker or an appended batch voids it. Guards are numbers that are never used again.

Several batches may wait for an answer. If the question for an earlier one fails and it is sent
again, a later one must not slip in before it: so nothing past the lowest sequence seen is appended.
"""

from typing import Final

NO_GUARD: Final = 0
"""The guard of a batch for which nobody was asked; it verifies nothing."""


class Verification:
    """One producer's transaction about which the coordinator is asked."""

    __slots__ = ("asked_ms", "epoch", "guard", "lowest_sequence", "supports_epoch_bump")

    def __init__(self, guard: int, sequence: int, epoch: int) -> None:
        self.guard = guard
        self.lowest_sequence = sequence
        self.epoch = epoch
        self.supports_epoch_bump = False
        self.asked_ms = 0

    def meet(self, sequence: int, epoch: int) -> None:
        """Note another batch that waits; a new epoch begins its sequences anew."""
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)


class Verifications:
    """The transactions of a partition that wait for the coordinator's word, by producer id."""

    __slots__ = ("_asked", "_last_guard")

    def __init__(self) -> None:
        self._asked: dict[int, Verification] = {}
        self._last_guard = NO_GUARD

    def __len__(self) -> int:
        return len(self._asked)

    def get(self, producer_id: int) -> Verification | None:
        """The producer's, if the coordinator is being asked."""
        return self._asked.get(producer_id)

    def start(
        self,
        producer_id: int,
        sequence: int,
        epoch: int,
        now_ms: int,
        *,
        supports_epoch_bump: bool,
    ) -> int:
        """Give the guard under which to ask; one that is out already is given again."""
        asked = self._asked.get(producer_id)
        if asked is None:
            self._last_guard += 1
            asked = self._asked[producer_id] = Verification(self._last_guard, sequence, epoch)
            asked.supports_epoch_bump = supports_epoch_bump
            asked.asked_ms = now_ms
        else:
            asked.meet(sequence, epoch)
        return asked.guard

    def is_proven(self, producer_id: int, guard: int) -> bool:
        """Is a guard the one under which the coordinator was asked?"""
        asked = self._asked.get(producer_id)
        return asked is not None and asked.guard == guard

    def void(self, producer_id: int, epoch: int, *, is_marker: bool) -> None:
        """Take back the guard, as a transactional batch or a marker was appended.

        Where every transaction has its own epoch, the marker with the next transaction's epoch
        ends the one before, and the question stands.
        """
        if not self._asked:
            return
        asked = self._asked.get(producer_id)
        is_next = (
            asked is not None and is_marker and asked.supports_epoch_bump and asked.epoch == epoch
        )
        if not is_next:
            self._asked.pop(producer_id, None)

    def expire(self, before_ms: int) -> None:
        """Forget those that were asked at or before a time."""
        self._asked = {one: v for one, v in self._asked.items() if v.asked_ms > before_ms}
