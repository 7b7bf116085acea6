"""What every state of a replica has."""

from typing import TYPE_CHECKING, Protocol

from ottla.core.quorum.voters import Endpoint, ReplicaKey

if TYPE_CHECKING:
    from ottla.core.quorum.machine import Quorum


class State(Protocol):
    """One of unattached, prospective, candidate, leader, follower, resigned."""

    @property
    def name(self) -> str:
        """The state, as Kafka's metric `current-state` calls it."""
        ...

    @property
    def leader_id(self) -> int | None:
        """Who leads in this epoch."""
        ...

    @property
    def leader_endpoints(self) -> tuple[Endpoint, ...]:
        """Where it listens, as far as that is known."""
        ...

    @property
    def voted(self) -> ReplicaKey | None:
        """For whom this replica voted in this epoch."""
        ...

    def would_vote(self, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        """Is a vote to be given?"""
        ...

    def tick(self, quorum: "Quorum") -> None:
        """Do what is due."""
        ...

    def deadline_ms(self, quorum: "Quorum") -> int:
        """When something will be due next, if nothing happens before."""
        ...


def may_vote(state: State, for_: ReplicaKey, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
    """Is a vote to be given by a replica that neither leads nor follows nor stands itself?"""
    if is_pre_vote:
        return is_up_to_date
    if state.voted is not None:
        same_directory = state.voted.directory_id in (bytes(16), for_.directory_id)
        return state.voted.id == for_.id and same_directory
    return state.leader_id is None and is_up_to_date
