"""No leader is known: wait for one, ask around for one, and give the vote of this epoch.

A voter that waits too long becomes prospective. An observer only asks.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.core.quorum.state import may_vote
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


@dataclass(slots=True)
class Unattached:
    """See the module."""

    election_deadline_ms: int
    leader_id: int | None = None
    """Known by id only: there is no address to follow it at."""
    voted: ReplicaKey | None = None
    leader_endpoints: tuple[Endpoint, ...] = ()
    name: str = "unattached"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Once an epoch, and not against a leader that it has."""
        return may_vote(self, for_, is_up_to_date=is_up_to_date, is_pre_vote=is_pre_vote)

    def tick(self, quorum: "Quorum") -> None:
        """Stand for election in the end."""
        if quorum.is_stopping:
            return
        if quorum.is_voter and quorum.now_ms >= self.election_deadline_ms:
            quorum.become_prospective()
        else:
            quorum.fetching.ask_around()

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The election, or the next one to ask."""
        asking_ms = quorum.fetching.next_asking_ms()
        return min(self.election_deadline_ms, asking_ms) if quorum.is_voter else asking_ms
