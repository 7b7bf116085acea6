"""Lead: append, let others fetch, and commit what a majority has.

The first record of an epoch says who leads it. Until that one is committed nothing is: a record of
an older epoch on a majority may still be replaced by a leader that does not have it. Whoever is
not fetched from by a majority for one and a half fetch time-outs resigns, since there may be
another leader, and nobody should wait for this one.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ottla.core.quorum.election import Ballot
from ottla.core.quorum.replicas import Replicas
from ottla.core.quorum.requests import begin_request
from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.changes import Change
    from ottla.core.quorum.machine import Quorum
    from ottla.core.quorum.serving import ParkedFetch


@dataclass(slots=True)
class Leader:
    """See the module."""

    leader_id: int | None
    leader_endpoints: tuple[Endpoint, ...]
    voted: ReplicaKey | None
    ballot: Ballot
    start_offset: int
    """Where the epoch begins."""
    replicas: Replicas
    quorum_deadline_ms: int
    begin_ms: int
    """When to tell the voters again."""
    high_watermark: int = -1
    """What this leader has seen committed; -1 before its first record is."""
    heard: set[int] = field(default_factory=set[int])
    """The voters that have fetched since a majority last had."""
    parked: list["ParkedFetch"] = field(default_factory=list["ParkedFetch"])
    change: "Change | None" = None
    must_resign: bool = False
    name: str = "leader"

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Never in the epoch that it leads."""
        return False

    def tick(self, quorum: "Quorum") -> None:
        """Resign, give up what took too long, tell the voters."""
        is_alone = [*self.replicas.voters] == [quorum.options.key.id]
        is_cut_off = not is_alone and quorum.now_ms >= self.quorum_deadline_ms
        if quorum.is_stopping or self.must_resign or is_cut_off:
            quorum.become_resigned()
            return
        quorum.changes.expire(self)
        quorum.serving.expire(self)
        if quorum.now_ms >= self.begin_ms:
            self.begin_ms = quorum.now_ms + quorum.options.fetch_timeout_ms // 2
            for voter in quorum.history.voters.voters:
                if voter.key.id != quorum.options.key.id:
                    request = begin_request(quorum.options, quorum.epoch, voter.key)
                    quorum.send_to_voter(voter.key.id, request)

    def deadline_ms(self, quorum: "Quorum") -> int:
        """The next of all these."""
        times = [parked.deadline_ms for parked in self.parked]
        if self.change is not None:
            times.append(self.change.deadline_ms)
        if [*self.replicas.voters] != [quorum.options.key.id]:
            times += [self.quorum_deadline_ms, self.begin_ms]
        return min(times, default=quorum.never_ms)

    def hear(self, key: ReplicaKey, quorum: "Quorum") -> None:
        """A replica fetches, so it follows; a majority that does so keeps this leader."""
        if self.replicas.is_voter(key):
            self.heard.add(key.id)
        voter_ids = self.replicas.voters
        needed = len(voter_ids) // 2 + 1 - (quorum.options.key.id in voter_ids)
        if len(self.heard) >= needed:
            self.heard.clear()
            self.quorum_deadline_ms = quorum.now_ms + quorum.options.fetch_timeout_ms * 3 // 2

    def committed(self) -> int | None:
        """How far the log is committed, if that is further than was known."""
        offset = self.replicas.majority_offset()
        if offset > self.start_offset and offset > self.high_watermark:
            return offset
        return None
