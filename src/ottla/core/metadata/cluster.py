"""Who has registered: brokers with their state, controllers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ottla.api.metadata_records import (
    BrokerRegistrationChangeRecord,
    FenceBrokerRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UnregisterControllerRecord,
)
from ottla.core.metadata.features import Range
from ottla.core.metadata.levels import (
    CONTROLLER_REGISTRATION,
    CORDONED_DIRECTORIES,
    DIRECTORIES,
    ZK_MIGRATION,
)
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Uuid
from ottla.wire.uuids import LOST, MIGRATING, UNASSIGNED

_SIGN_BITS: Final = 1 << 127 | 1 << 63


class EndPoint(NamedTuple):
    """Where a listener of a node is reached."""

    name: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker as it registered, and what became of it; never changed, a change makes another."""

    id: int
    epoch: int
    incarnation_id: Uuid
    end_points: tuple[EndPoint, ...]
    features: dict[str, Range]
    rack: str | None
    is_fenced: bool
    is_shutting_down: bool
    directories: tuple[Uuid, ...] = ()
    cordoned: tuple[Uuid, ...] | None = None
    is_migrating: bool = False

    @property
    def is_active(self) -> bool:
        """Whether it may lead and be in sync."""
        return not self.is_fenced and not self.is_shutting_down

    @property
    def has_room(self) -> bool:
        """Whether any of its directories takes new partitions."""
        return not self.directories or not set(self.directories) <= set(self.cordoned or ())

    def end_point(self, listener: str) -> EndPoint | None:
        """Where it is reached by the listener of a name."""
        return next((one for one in self.end_points if one.name == listener), None)

    def has_online(self, directory: Uuid) -> bool:
        """Whether a replica said to be in a directory can be read, as far as is known.

        A broker that named no directories, or a replica not told of them, gets the benefit.
        """
        if directory == LOST:
            return False
        if directory in (UNASSIGNED, MIGRATING) or not self.directories:
            return True
        return directory in self.directories


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller as it registered."""

    id: int
    incarnation_id: Uuid
    zk_migration_ready: bool
    end_points: tuple[EndPoint, ...]
    features: dict[str, Range]


class Cluster:
    """The nodes that are registered, by their ids."""

    __slots__ = ("before", "before_controllers", "brokers", "controllers")

    def __init__(self) -> None:
        self.brokers: Final[dict[int, Broker]] = {}
        self.controllers: Final[dict[int, Controller]] = {}
        self.before: dict[int, Broker | None] = {}
        self.before_controllers: dict[int, Controller | None] = {}

    def copy(self) -> "Cluster":
        """The same, to be changed by itself."""
        made = Cluster()
        made.brokers.update(self.brokers)
        made.controllers.update(self.controllers)
        return made

    def is_active(self, broker: int) -> bool:
        """Whether a broker is registered and may lead and be in sync."""
        found = self.brokers.get(broker)
        return found is not None and found.is_active

    def replay_registration(self, record: RegisterBrokerRecord) -> None:
        """Take in a broker that registered, for the first time or anew."""
        made = Broker(
            record.broker_id,
            record.broker_epoch,
            record.incarnation_id,
            tuple(_end_point(one) for one in record.end_points),
            {one.name: _range(one) for one in record.features},
            record.rack,
            record.fenced,
            record.in_controlled_shutdown,
            ordered(record.log_dirs),
            None if record.cordoned_log_dirs is None else tuple(record.cordoned_log_dirs),
            record.is_migrating_zk_broker,
        )
        present = self.brokers.get(made.id)
        if present is not None and made.epoch < present.epoch:
            raise InvalidValue(f"broker {made.id} went back to the epoch {made.epoch}")
        self._put(made)

    def replay_end(self, record: UnregisterBrokerRecord) -> None:
        """Forget a broker."""
        present = self._known(record.broker_id, record.broker_epoch)
        self.before.setdefault(present.id, present)
        del self.brokers[present.id]

    def replay_fencing(self, record: FenceBrokerRecord | UnfenceBrokerRecord) -> None:
        """Take in a fence or its end as old releases wrote them."""
        present = self._known(record.id, record.epoch)
        self._put(replace(present, is_fenced=isinstance(record, FenceBrokerRecord)))

    def replay_change(self, record: BrokerRegistrationChangeRecord) -> None:
        """Take in what changed of a registration."""
        present = self._known(record.broker_id, record.broker_epoch)
        if record.fenced not in (-1, 0, 1) or record.in_controlled_shutdown not in (0, 1):
            raise InvalidValue(f"no such change of a broker: {record}")
        made = replace(
            present,
            is_fenced=record.fenced > 0 if record.fenced else present.is_fenced,
            is_shutting_down=present.is_shutting_down or record.in_controlled_shutdown > 0,
            directories=ordered(record.log_dirs) or present.directories,
            cordoned=present.cordoned
            if record.cordoned_log_dirs is None
            else tuple(record.cordoned_log_dirs),
        )
        if made != present:
            self._put(made)

    def replay_controller(self, record: RegisterControllerRecord) -> None:
        """Take in a controller that registered."""
        made = Controller(
            record.controller_id,
            record.incarnation_id,
            record.zk_migration_ready,
            tuple(_end_point(one) for one in record.end_points),
            {one.name: _range(one) for one in record.features},
        )
        self.before_controllers.setdefault(made.id, self.controllers.get(made.id))
        self.controllers[made.id] = made

    def replay_controller_end(self, record: UnregisterControllerRecord) -> None:
        """Forget a controller."""
        present = self.controllers.get(record.controller_id)
        if present is None:
            raise InvalidValue(f"controller {record.controller_id} is not registered")
        self.before_controllers.setdefault(present.id, present)
        del self.controllers[present.id]

    def records(
        self, level: int, lost: list[str]
    ) -> Iterator[RegisterBrokerRecord | RegisterControllerRecord]:
        """What a snapshot at a metadata.version says of them."""
        for _, broker in sorted(self.brokers.items()):
            yield _registration(broker, level, lost)
        if level < CONTROLLER_REGISTRATION:
            lost.extend(["controller registration data"] if self.controllers else [])
            return
        for _, one in sorted(self.controllers.items()):
            made = RegisterControllerRecord
            yield made(
                controller_id=one.id,
                incarnation_id=one.incarnation_id,
                zk_migration_ready=one.zk_migration_ready,
                end_points=[made.EndPoint(**point._asdict()) for point in one.end_points],
                features=[
                    made.Feature(name=name, min_supported_version=low, max_supported_version=high)
                    for name, (low, high) in one.features.items()
                ],
            )

    def _known(self, broker: int, epoch: int) -> Broker:
        """The broker that a record speaks of, in the epoch that it speaks of."""
        present = self.brokers.get(broker)
        if present is None or present.epoch != epoch:
            raise InvalidValue(f"broker {broker} is not registered with the epoch {epoch}")
        return present

    def _put(self, broker: Broker) -> None:
        self.before.setdefault(broker.id, self.brokers.get(broker.id))
        self.brokers[broker.id] = broker


def ordered(directories: list[Uuid]) -> tuple[Uuid, ...]:
    """Directories as Kafka orders them: by two signed numbers of eight bytes."""
    return tuple(sorted(directories, key=lambda one: int.from_bytes(one, "big") ^ _SIGN_BITS))


def _end_point(said: RegisterBrokerRecord.EndPoint | RegisterControllerRecord.EndPoint) -> EndPoint:
    return EndPoint(said.name, said.host, said.port, said.security_protocol)


def _range(said: RegisterBrokerRecord.Feature | RegisterControllerRecord.Feature) -> Range:
    return Range(said.min_supported_version, said.max_supported_version)


def _registration(broker: Broker, level: int, lost: list[str]) -> RegisterBrokerRecord:
    """A broker's state in one record; what its metadata.version has no words for is lost."""
    made = RegisterBrokerRecord
    limits = (
        (broker.is_migrating, ZK_MIGRATION, "isMigratingZkBroker state"),
        (broker.directories, DIRECTORIES, "online log directories"),
        (broker.cordoned is not None, CORDONED_DIRECTORIES, "cordoned log directories"),
    )
    for said, needed, what in limits:
        if said and level < needed:
            lost.append(f"the {what} of one or more brokers")
    tells_cordoned = level >= CORDONED_DIRECTORIES and broker.cordoned is not None
    return made(
        broker_id=broker.id,
        is_migrating_zk_broker=broker.is_migrating and level >= ZK_MIGRATION,
        incarnation_id=broker.incarnation_id,
        broker_epoch=broker.epoch,
        end_points=[made.EndPoint(**point._asdict()) for point in broker.end_points],
        features=[
            made.Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in broker.features.items()
        ],
        rack=broker.rack,
        fenced=broker.is_fenced,
        in_controlled_shutdown=broker.is_shutting_down,
        log_dirs=[*broker.directories] if level >= DIRECTORIES else [],
        cordoned_log_dirs=[*(broker.cordoned or ())] if tells_cordoned else None,
    )
