"""Stand for election in a new epoch, with this replica's own vote stored first.

A candidate that lost waits until its time is over, which chance has drawn, so that two that took
each other's votes do not do so again; then it asks in advance again.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.core.quorum.election import Ballot
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


@dataclass(slots=True)
class Candidate:
    """See the module."""

    election_deadline_ms: int
    ballot: Ballot
    voted: ReplicaKey | None
    leader_id: int | None = None
    leader_endpoints: tuple[Endpoint, ...] = ()
    name: str = "candidate"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Its vote is its own; whom it would vote for in another epoch is another matter."""
        return is_pre_vote and is_up_to_date

    def tick(self, quorum: "Quorum") -> None:
        """Become the leader, or start over."""
        if self.ballot.is_won:
            quorum.become_leader(self.ballot)
        elif not quorum.is_stopping and quorum.now_ms >= self.election_deadline_ms:
            quorum.become_prospective()
        elif not self.ballot.is_lost:
            quorum.voting.ask_voters(self.ballot, is_pre_vote=False)

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The end of the election, or the next one to ask."""
        if self.ballot.is_lost:
            return self.election_deadline_ms
        return min(self.election_deadline_ms, quorum.voting.next_asking_ms(self.ballot))
