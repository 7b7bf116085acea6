"""Who votes: replicas by id and directory, and the sets of them that the log has had."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.api.control_records import VotersRecord
from ottla.wire.fields import NO_ID, Uuid

VOTERS_VERSION: Final = 0
KRAFT_VERSIONS: Final = (0, 1)
"""The lowest and the highest level of the quorum's protocol that this code speaks."""


class ReplicaKey(NamedTuple):
    """A replica of the metadata log; without a directory it is whoever has the id."""

    id: int
    directory_id: Uuid = NO_ID


class Endpoint(NamedTuple):
    """Where a voter listens, by the name of the listener."""

    name: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Voter:
    """A voter as the log describes it."""

    key: ReplicaKey
    endpoints: tuple[Endpoint, ...] = ()
    kraft_versions: tuple[int, int] = KRAFT_VERSIONS

    def is_key(self, key: ReplicaKey) -> bool:
        """Is this the replica meant? A voter whose directory is not known has any."""
        same_directory = self.key.directory_id in (NO_ID, key.directory_id)
        return self.key.id == key.id and same_directory


class VoterSet:
    """The voters at one place of the log, in the order of their ids; it never changes."""

    __slots__ = ("_voters",)

    def __init__(self, voters: Iterable[Voter] = ()) -> None:
        self._voters = {voter.key.id: voter for voter in sorted(voters, key=lambda v: v.key)}

    def __len__(self) -> int:
        return len(self._voters)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VoterSet) and self._voters == other._voters

    def __hash__(self) -> int:
        return hash(tuple(self._voters.values()))

    def __repr__(self) -> str:
        return f"VoterSet({list(self._voters.values())})"

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids, rising."""
        return tuple(self._voters)

    @property
    def voters(self) -> tuple[Voter, ...]:
        """All voters, by rising id."""
        return tuple(self._voters.values())

    def get(self, id_: int) -> Voter | None:
        """The voter of an id."""
        return self._voters.get(id_)

    def has(self, key: ReplicaKey) -> bool:
        """Is this replica a voter?"""
        voter = self._voters.get(key.id)
        return voter is not None and voter.is_key(key)

    def has_only(self, key: ReplicaKey) -> bool:
        """Is this replica the one voter there is?"""
        return len(self._voters) == 1 and self.has(key)

    def endpoints(self, id_: int) -> tuple[Endpoint, ...]:
        """Where a voter listens; nothing if it is none."""
        voter = self._voters.get(id_)
        return voter.endpoints if voter else ()

    def adding(self, voter: Voter) -> "VoterSet | None":
        """The set with one more voter; None if its id is taken."""
        if voter.key.id in self._voters:
            return None
        return VoterSet([*self.voters, voter])

    def removing(self, key: ReplicaKey) -> "VoterSet | None":
        """The set without a voter; None if this replica is none."""
        voter = self._voters.get(key.id)
        if voter is None or voter.key != key:
            return None
        return VoterSet(other for other in self.voters if other is not voter)

    def updating(self, voter: Voter) -> "VoterSet | None":
        """The set with a voter as it is now; None if this replica is none."""
        if not self.has(voter.key):
            return None
        return VoterSet([*(o for o in self.voters if o.key.id != voter.key.id), voter])

    def needs_update(self, voter: Voter) -> bool:
        """Does the set have this voter, but describe it otherwise?"""
        return self.has(voter.key) and self._voters[voter.key.id] != voter

    def to_record(self) -> VotersRecord:
        """The control record that says so."""
        return VotersRecord(
            version=VOTERS_VERSION, voters=[_described(voter) for voter in self.voters]
        )


def voters_of_record(record: VotersRecord) -> VoterSet:
    """The voters that a control record names."""
    return VoterSet(
        Voter(
            ReplicaKey(voter.voter_id, voter.voter_directory_id),
            tuple(Endpoint(e.name, e.host, e.port) for e in voter.endpoints),
            (
                voter.kraft_version_feature.min_supported_version,
                voter.kraft_version_feature.max_supported_version,
            ),
        )
        for voter in record.voters
    )


def _described(voter: Voter) -> VotersRecord.Voter:
    lowest, highest = voter.kraft_versions
    return VotersRecord.Voter(
        voter_id=voter.key.id,
        voter_directory_id=voter.key.directory_id,
        endpoints=[
            VotersRecord.Voter.Endpoint(name=e.name, host=e.host, port=e.port)
            for e in voter.endpoints
        ],
        kraft_version_feature=VotersRecord.Voter.KRaftVersionFeature(
            min_supported_version=lowest, max_supported_version=highest
        ),
    )
