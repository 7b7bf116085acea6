"""What a replica of the metadata log is told when it is made, as plain values."""

from dataclasses import dataclass
from typing import Final, Protocol

from ottla.core.quorum.voters import Endpoint, ReplicaKey, Voter, VoterSet

CLUSTER_METADATA: Final = "__cluster_metadata"


class RandomSource(Protocol):
    """Where chance comes from; `random.Random` is one."""

    def randrange(self, stop: int, /) -> int:
        """A whole number from 0 to below `stop`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumOptions:
    """Kafka's defaults, unless said otherwise; names as in `controller.quorum.*`."""

    key: ReplicaKey
    cluster_id: str
    listener: str
    """The name of the listener by which voters are reached."""
    endpoints: tuple[Endpoint, ...] = ()
    """Where this replica listens."""
    static_voters: VoterSet = VoterSet()  # noqa: RUF009  # It never changes.
    """The voters of kraft.version 0, and until the log names others."""
    bootstrap: tuple[tuple[str, int], ...] = ()
    """Where a leader can be asked for; without any, the static voters."""
    can_vote: bool = True
    """Is it a controller? A broker only watches, and need not flush what it fetches."""
    auto_join: bool = False
    election_timeout_ms: int = 1000
    election_backoff_ms_max: int = 1000
    fetch_timeout_ms: int = 2000
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_wait_ms: int = 500
    fetch_bytes_max: int = 1 << 20
    snapshot_bytes_max: int = 1 << 20
    batch_bytes_max: int = 8 << 20

    @property
    def voter(self) -> Voter:
        """This replica, as a voter is described."""
        return Voter(self.key, self.endpoints)
