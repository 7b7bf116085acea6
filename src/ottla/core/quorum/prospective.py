"""Ask whether an election could be won before disturbing anyone with one (KIP-996).

The epoch stays as it is, and so does what is stored: a replica that was cut off and comes back
does not bring down a leader that the others still hear.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.core.quorum.election import Ballot
from ottla.core.quorum.state import may_vote
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


@dataclass(slots=True)
class Prospective:
    """See the module; who led before is known still, since that may turn out to go on."""

    election_deadline_ms: int
    ballot: Ballot
    leader_id: int | None = None
    leader_endpoints: tuple[Endpoint, ...] = ()
    voted: ReplicaKey | None = None
    name: str = "prospective"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """As if it did not stand itself, since so far it does not."""
        return may_vote(self, for_, is_up_to_date=is_up_to_date, is_pre_vote=is_pre_vote)

    def tick(self, quorum: "Quorum") -> None:
        """Become a candidate, or give up."""
        if self.ballot.is_won:
            quorum.become_candidate()
        elif not quorum.is_stopping and (
            self.ballot.is_lost or quorum.now_ms >= self.election_deadline_ms
        ):
            self.give_up(quorum)
        else:
            quorum.voting.ask_voters(self.ballot, is_pre_vote=True)

    def give_up(self, quorum: "Quorum") -> None:
        """Go back to following, if there is whom."""
        if self.leader_id is not None and self.leader_endpoints:
            quorum.become_follower(quorum.epoch, self.leader_id, self.leader_endpoints)
        else:
            quorum.become_unattached(quorum.epoch, self.leader_id)

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The end of the election, or the next one to ask."""
        return min(self.election_deadline_ms, quorum.voting.next_asking_ms(self.ballot))
