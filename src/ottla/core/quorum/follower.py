"""Follow a leader: fetch, append, flush, fetch again.

A voter that hears nothing for the fetch time-out becomes prospective. An observer looks for another
leader. Until it has fetched once it would vote in advance for others, since a leader that nobody
reaches is none.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


@dataclass(slots=True)
class Download:
    """A snapshot that is being fetched."""

    id: OffsetAndEpoch
    position: int = 0


@dataclass(slots=True)
class Follower:
    """See the module."""

    leader_id: int | None
    leader_endpoints: tuple[Endpoint, ...]
    voted: ReplicaKey | None
    fetch_deadline_ms: int
    voter_update_ms: int
    """When to look next whether the leader describes this voter rightly."""
    has_fetched: bool = False
    download: Download | None = None
    name: str = "follower"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Not while there is a leader; in advance, if it has not been heard yet."""
        return is_pre_vote and is_up_to_date and not self.has_fetched

    def tick(self, quorum: "Quorum") -> None:
        """Fetch, or give the leader up."""
        if quorum.is_stopping:
            return
        if quorum.is_voter and quorum.now_ms >= self.fetch_deadline_ms:
            quorum.become_prospective()
        elif quorum.now_ms >= self.voter_update_ms and quorum.fetching.ask_for_change(self):
            self.voter_update_ms = quorum.now_ms + quorum.options.fetch_timeout_ms
        else:
            quorum.fetching.fetch(self)

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The end of patience, or the next fetch."""
        fetching_ms = quorum.fetching.next_fetch_ms(self)
        return min(self.fetch_deadline_ms, fetching_ms) if quorum.is_voter else fetching_ms
