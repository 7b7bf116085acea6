"""One change of one partition: who is wanted in sync and as replicas, and what follows from it.

A change is asked for by saying what shall be (those in sync, replicas, directories, which election)
and `record` says what has to be written, in this order: a reassignment that has become complete
ends; those who leave the in-sync replicas while these are too few become eligible leader replicas;
a leader is looked for; epochs rise where followers have to notice.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from ottla.api.metadata_records import PartitionChangeRecord
from ottla.core.controller.state import State
from ottla.core.metadata.levels import DIRECTORIES, ISR_SHRINK_KEEPS_EPOCH
from ottla.core.metadata.partition import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    Partition,
    PartitionId,
)
from ottla.core.metadata.topics import Topic
from ottla.wire.fields import Uuid


class Election(Enum):
    """Who may be elected."""

    PREFERRED = "the preferred leader if it can, else whoever leads"
    ONLINE = "whoever leads if it can, else the next that is in sync"
    UNCLEAN = "at last anybody alive"


@dataclass(slots=True)
class PartitionChange:
    """What a partition shall become; what is not said stays as it is."""

    place: PartitionId
    present: Partition
    can_lead: Callable[[int], bool]
    level: int
    min_isr: int
    has_elr: bool
    default_directory: Callable[[int], Uuid]
    election: Election = Election.ONLINE
    isr: list[int] = field(init=False)
    replicas: list[int] = field(init=False)
    removing: list[int] = field(init=False)
    adding: list[int] = field(init=False)
    leader_recovery_state: int = field(init=False)
    directories: dict[int, Uuid] = field(init=False)
    unclean: int = NO_LEADER
    """A broker that stopped uncleanly, so that it may lack what it had acknowledged."""
    _elr: list[int] = field(init=False)

    def __post_init__(self) -> None:
        present = self.present
        self.isr, self.replicas = [*present.isr], [*present.replicas]
        self.removing, self.adding = [*present.removing], [*present.adding]
        self.leader_recovery_state = present.leader_recovery_state
        self.directories = dict(zip(present.replicas, present.directories, strict=True))
        self._elr = [*present.elr]

    def record(self) -> PartitionChangeRecord | None:
        """What has to be written; None if nothing."""
        topic_id, partition = self.place
        made = PartitionChangeRecord(partition_id=partition, topic_id=topic_id)
        blank = PartitionChangeRecord(partition_id=partition, topic_id=topic_id)
        self._complete_reassignment()
        self._keep_eligible()
        self._elect(made)
        # Replicas that are taken away have to notice, and they notice a leader's epoch.
        if made.leader == NO_LEADER_CHANGE and not set(self.present.replicas) <= set(self.replicas):
            made.leader = self.present.leader
        self._tell_isr(made)
        self._tell_last_leader(made)
        self._tell_assignment(made)
        if self.leader_recovery_state != self.present.leader_recovery_state:
            made.leader_recovery_state = self.leader_recovery_state
        return None if made == blank else made

    def _complete_reassignment(self) -> None:
        """End a reassignment once all who were added are in sync.

        If replicas become fewer, those who stay must be too, or fewer copies than before are left.
        """
        if not self.removing and not self.adding:
            return
        isr = [one for one in self.isr if one not in self.removing]
        replicas = [one for one in self.replicas if one not in self.removing]
        if self.removing and not (isr and replicas):
            return
        must = {*self.adding, *(replicas if len(self.adding) < len(self.removing) else ())}
        if must <= set(isr):
            self.isr, self.replicas, self.removing, self.adding = isr, replicas, [], []

    def _keep_eligible(self) -> None:
        """Remember who was in sync last, while those in sync are too few to be safe."""
        if not self.has_elr:
            return
        if len(self.isr) >= self.min_isr:
            self._elr = []
            return
        gone = {*self.isr, self.unclean}
        self._elr = sorted({*self._elr, *self.present.isr} - gone)

    def _elect(self, made: PartitionChangeRecord) -> None:
        leader, is_unclean = self._elected()
        if leader == self.present.leader:
            return
        if leader in self._elr:
            self.isr, self._elr = [leader], [one for one in self._elr if one != leader]
        made.leader = leader
        if is_unclean:
            made.isr = [leader]
            if self.present.leader_recovery_state != RECOVERING:
                made.leader_recovery_state = RECOVERING

    def _elected(self) -> tuple[int, bool]:
        """Who shall lead, and whether that may lose records."""
        candidates = [self.present.leader, *self.replicas]
        if self.election is Election.PREFERRED:
            candidates = [self.replicas[0], self.present.leader, *self.replicas[1:]]
        for one in candidates:
            if self._may_lead(one):
                return one, False
        if self._knows_last_leader():
            return self.present.last_known_elr[0], True
        if self.election is Election.UNCLEAN:
            for one in self.replicas:
                if self.can_lead(one):
                    return one, True
        return NO_LEADER, False

    def _may_lead(self, replica: int) -> bool:
        among = self.isr or self._elr
        return replica in among and self.can_lead(replica)

    def _knows_last_leader(self) -> bool:
        """Whether all that is left is the one who led last, and it is back."""
        last = self.present.last_known_elr
        if not self.has_elr or self._elr or self.isr or len(last) != 1:
            return False
        return self.can_lead(last[0])

    def _tell_isr(self, made: PartitionChangeRecord) -> None:
        eligible = self._elr if self.has_elr and made.isr is None else []
        if eligible != [*self.present.elr]:
            made.eligible_leader_replicas = eligible
        changed = self.isr != [*self.present.isr]
        if made.isr is None and changed and (self.isr or self.has_elr):
            made.isr = self.isr
        shrinks = made.isr is not None and not set(self.present.isr) <= set(made.isr)
        if self.level < ISR_SHRINK_KEEPS_EPOCH and shrinks and made.leader == NO_LEADER_CHANGE:
            made.leader = self.present.leader

    def _tell_last_leader(self, made: PartitionChangeRecord) -> None:
        if not self.has_elr:
            return
        if made.leader == NO_LEADER and not self.present.last_known_elr:
            made.last_known_elr = [self.present.leader]
        elif made.leader >= 0 and self.present.last_known_elr:
            made.last_known_elr = []

    def _tell_assignment(self, made: PartitionChangeRecord) -> None:
        present = self.present
        if self.replicas and self.level >= DIRECTORIES:
            directories = [
                self.directories[one] if one in self.directories else self.default_directory(one)
                for one in self.replicas
            ]
            if directories != [*present.directories]:
                made.directories = directories
        if self.replicas and self.replicas != [*present.replicas]:
            made.replicas = self.replicas
        if self.removing != [*present.removing]:
            made.removing_replicas = self.removing
        if self.adding != [*present.adding]:
            made.adding_replicas = self.adding


def change_of(
    state: State,
    topic: Topic,
    partition: int,
    *,
    election: Election = Election.ONLINE,
    is_active: Callable[[int], bool] | None = None,
) -> PartitionChange:
    """A change of a partition upon the controller's state, to be said more of."""
    present = topic.partitions[partition]
    return PartitionChange(
        PartitionId(topic.id, partition),
        present,
        state.leads(present, is_active),
        state.level,
        state.min_isr(topic),
        state.has_elr,
        state.default_directory,
        election,
    )
