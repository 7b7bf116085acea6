"""What the metadata log says of one partition."""

from typing import Final, NamedTuple, TypeVar

from ottla.api.metadata_records import PartitionChangeRecord, PartitionRecord
from ottla.core.metadata.levels import DIRECTORIES
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Uuid
from ottla.wire.uuids import MIGRATING

_T = TypeVar("_T")

NO_LEADER: Final = -1
NO_LEADER_CHANGE: Final = -2
RECOVERED: Final = 0
RECOVERING: Final = 1
NO_RECOVERY_CHANGE: Final = -1


class PartitionId(NamedTuple):
    """A partition, by its topic's id."""

    topic_id: Uuid
    partition: int


class Partition(NamedTuple):
    """A partition's replicas and who leads it; it never changes, a change makes another."""

    replicas: tuple[int, ...]
    directories: tuple[Uuid, ...]
    isr: tuple[int, ...]
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    leader: int = NO_LEADER
    leader_recovery_state: int = RECOVERED
    leader_epoch: int = 0
    partition_epoch: int = 0
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @property
    def preferred_leader(self) -> int:
        """Who should lead it, if all are well."""
        return self.replicas[0] if self.replicas else NO_LEADER

    @property
    def is_reassigning(self) -> bool:
        """Whether it is on its way to other replicas."""
        return bool(self.removing or self.adding)

    def directory(self, broker: int) -> Uuid | None:
        """In which directory of a broker it lies; None if that has no replica of it."""
        if broker not in self.replicas:
            return None
        return self.directories[self.replicas.index(broker)]

    def merged(self, change: PartitionChangeRecord) -> "Partition":
        """The partition after a change; its epoch rises, the leader's if one is named."""
        recovery = change.leader_recovery_state
        replicas = _taken(change.replicas, self.replicas)
        leads = change.leader != NO_LEADER_CHANGE
        return Partition(
            replicas,
            _directories(_taken(change.directories, self.directories), len(replicas)),
            _taken(change.isr, self.isr),
            _taken(change.removing_replicas, self.removing),
            _taken(change.adding_replicas, self.adding),
            change.leader if leads else self.leader,
            self.leader_recovery_state if recovery == NO_RECOVERY_CHANGE else recovery,
            self.leader_epoch + leads,
            self.partition_epoch + 1,
            _taken(change.eligible_leader_replicas, self.elr),
            _taken(change.last_known_elr, self.last_known_elr),
        ).checked()

    def checked(self) -> "Partition":
        """Itself, unless no controller could have made it so (I-META-2, I-META-3)."""
        if len(set(self.replicas)) != len(self.replicas) or min(self.replicas, default=0) < 0:
            raise InvalidValue(f"a partition with the replicas {self.replicas}")
        if len(self.directories) != len(self.replicas):
            raise InvalidValue(f"{len(self.directories)} directories of {len(self.replicas)}")
        if len(set(self.isr)) != len(self.isr) or not set(self.isr) <= set(self.replicas):
            raise InvalidValue(f"in sync are {self.isr} of the replicas {self.replicas}")
        if self.leader != NO_LEADER and self.leader not in self.replicas:
            raise InvalidValue(f"the leader {self.leader} is none of {self.replicas}")
        if self.leader_recovery_state not in (RECOVERED, RECOVERING):
            raise InvalidValue(f"a leader recovery state of {self.leader_recovery_state}")
        return self

    def record(self, place: PartitionId, level: int, *, has_elr: bool) -> PartitionRecord:
        """All of it in one record, as far as a metadata.version has words for it."""
        return PartitionRecord(
            partition_id=place.partition,
            topic_id=place.topic_id,
            replicas=[*self.replicas],
            isr=[*self.isr],
            removing_replicas=[*self.removing],
            adding_replicas=[*self.adding],
            leader=self.leader,
            leader_recovery_state=self.leader_recovery_state,
            leader_epoch=self.leader_epoch,
            partition_epoch=self.partition_epoch,
            directories=[*self.directories] if level >= DIRECTORIES else [],
            eligible_leader_replicas=[*self.elr] or None if has_elr else None,
            last_known_elr=[*self.last_known_elr] or None if has_elr else None,
        )


def partition_of(record: PartitionRecord) -> Partition:
    """The partition that a record tells of."""
    return Partition(
        tuple(record.replicas),
        _directories(tuple(record.directories), len(record.replicas)),
        tuple(record.isr),
        tuple(record.removing_replicas),
        tuple(record.adding_replicas),
        record.leader,
        record.leader_recovery_state,
        record.leader_epoch,
        record.partition_epoch,
        tuple(record.eligible_leader_replicas or ()),
        tuple(record.last_known_elr or ()),
    ).checked()


def _taken(said: list[_T] | None, present: tuple[_T, ...]) -> tuple[_T, ...]:
    return present if said is None else tuple(said)


def _directories(said: tuple[Uuid, ...], count: int) -> tuple[Uuid, ...]:
    """Who says none, or only that they are somewhere, means so of as many as there are replicas."""
    if all(directory == MIGRATING for directory in said):
        return (MIGRATING,) * count
    return said
