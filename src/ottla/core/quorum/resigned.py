"""Led in this epoch and does so no longer: tell the voters, then wait for the next epoch.

So begins, too, whoever led when it stopped. It must not vote in this epoch, and what it had
appended and not flushed may have been lost, so that it must not append in it either.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.core.quorum.requests import end_request
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.api.end_quorum_epoch import EndQuorumEpochRequest
    from ottla.core.quorum.machine import Quorum


@dataclass(slots=True)
class Resigned:
    """See the module."""

    leader_id: int | None
    leader_endpoints: tuple[Endpoint, ...]
    election_deadline_ms: int
    unaware: list[int]
    """The voters that do not know yet."""
    successors: list[ReplicaKey]
    voted: ReplicaKey | None = None
    name: str = "resigned"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """In advance only."""
        return is_pre_vote and is_up_to_date

    def tick(self, quorum: "Quorum") -> None:
        """Tell the others, and in the end leave the epoch."""
        if not quorum.is_stopping and quorum.now_ms >= self.election_deadline_ms:
            quorum.become_unattached(quorum.epoch + 1, None)
            return
        for id_ in self.unaware:
            quorum.send_to_voter(id_, self._request(quorum))

    def _request(self, quorum: "Quorum") -> "EndQuorumEpochRequest":
        return end_request(quorum.options, quorum.epoch, self.successors)

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The end of the epoch, or the next one to tell."""
        telling = [quorum.ready_ms(id_) for id_ in self.unaware]
        return min([self.election_deadline_ms, *telling])
