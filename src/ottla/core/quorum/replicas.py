"""How far each replica has come, as its leader knows it, and so what is committed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ottla.core.quorum.voters import ReplicaKey, VoterSet

OBSERVER_FORGOTTEN_MS: Final = 300_000
CAUGHT_UP_MS: Final = 3_600_000


@dataclass(slots=True)
class Replica:
    """One replica; times are those of the clock on the wall, -1 is never."""

    key: ReplicaKey
    end_offset: int = -1
    fetched_ms: int = -1
    caught_up_ms: int = -1
    leader_end_offset: int = -1
    """Where the leader's log ended when it fetched last."""
    has_acknowledged: bool = False

    def fetched(self, offset: int, leader_end_offset: int, wall_ms: int) -> None:
        """It fetched at an offset, so it has everything below."""
        if offset >= leader_end_offset:
            self.caught_up_ms = max(self.caught_up_ms, wall_ms)
        elif 0 < self.leader_end_offset <= offset:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.fetched_ms = max(self.fetched_ms, wall_ms)
        self.leader_end_offset = leader_end_offset


class Replicas:
    """The voters and the observers."""

    def __init__(self, voters: VoterSet, own: ReplicaKey) -> None:
        self.own = own
        self.voters: dict[int, Replica] = {v.key.id: Replica(v.key) for v in voters.voters}
        self.observers: dict[ReplicaKey, Replica] = {}

    def is_voter(self, key: ReplicaKey) -> bool:
        """Is this replica a voter, whose directory may not be known?"""
        voter = self.voters.get(key.id)
        return voter is not None and voter.key.directory_id in (bytes(16), key.directory_id)

    def find(self, key: ReplicaKey) -> Replica | None:
        """What is known of a replica."""
        return self.voters[key.id] if self.is_voter(key) else self.observers.get(key)

    def get(self, key: ReplicaKey) -> Replica:
        """The same, and from now on something."""
        found = self.find(key)
        return found if found is not None else self.observers.setdefault(key, Replica(key))

    def change(self, voters: VoterSet) -> None:
        """Let others be voters, and know of all what was known."""
        old = self.voters
        self.voters = {}
        for voter in voters.voters:
            known = old.get(voter.key.id)
            if known is None or not voter.is_key(known.key):
                known = self.observers.pop(voter.key, None) or Replica(voter.key)
            else:
                del old[voter.key.id]
            known.key = voter.key
            self.voters[voter.key.id] = known
        for gone in old.values():
            self.observers.setdefault(gone.key, gone)

    def majority_offset(self) -> int:
        """Up to where a majority of the voters has everything; -1 if that is not known."""
        offsets = sorted((v.end_offset for v in self.voters.values()), reverse=True)
        return offsets[len(offsets) // 2] if offsets else -1

    def successors(self) -> list[ReplicaKey]:
        """The other voters by how far they have come, the furthest first."""
        others = [v for v in self.voters.values() if v.key.id != self.own.id]
        return [v.key for v in sorted(others, key=lambda v: (-v.end_offset, v.key.id))]

    def is_caught_up(self, key: ReplicaKey, wall_ms: int) -> bool:
        """Has an observer reached the end, and been heard within the hour?"""
        known = self.observers.get(key)
        return (
            known is not None
            and known.caught_up_ms > 0
            and known.fetched_ms > wall_ms - CAUGHT_UP_MS
        )

    def live_observers(self, wall_ms: int) -> Iterator[Replica]:
        """The observers heard of lately; the others are forgotten."""
        kept = {
            key: known
            for key, known in self.observers.items()
            if wall_ms - known.fetched_ms < OBSERVER_FORGOTTEN_MS or key == self.own
        }
        self.observers = kept
        return iter(kept.values())
