"""What a replica must not forget: its epoch, whom it follows there, for whom it voted."""

from typing import NamedTuple

from ottla.core.quorum.voters import ReplicaKey


class Election(NamedTuple):
    """What stands in `quorum-state`."""

    epoch: int = 0
    leader_id: int | None = None
    voted: ReplicaKey | None = None


class Ballot:
    """The votes for this replica, real ones or asked for in advance."""

    __slots__ = ("granted", "rejected", "voter_ids")

    def __init__(self, voter_ids: tuple[int, ...], own_id: int) -> None:
        self.voter_ids = voter_ids
        self.granted = {own_id} & {*voter_ids}
        self.rejected: set[int] = set()

    @property
    def majority(self) -> int:
        """How many votes decide."""
        return len(self.voter_ids) // 2 + 1

    @property
    def is_won(self) -> bool:
        """Has a majority said yes?"""
        return len(self.granted) >= self.majority

    @property
    def is_lost(self) -> bool:
        """Can a majority not say yes any more?"""
        return len(self.voter_ids) - len(self.rejected) < self.majority

    @property
    def open_ids(self) -> list[int]:
        """Who has not answered yet."""
        return [id_ for id_ in self.voter_ids if id_ not in self.granted | self.rejected]

    def count(self, id_: int, *, is_granted: bool) -> None:
        """Take an answer; the last word of a voter counts, and of others none does."""
        if id_ not in self.voter_ids:
            return
        to, other = self.granted, self.rejected
        if not is_granted:
            to, other = other, to
        other.discard(id_)
        to.add(id_)
