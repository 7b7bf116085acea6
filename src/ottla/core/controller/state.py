"""What the controller decides upon: the image, its own file, and what follows from both.

I-CTRL-1  No decision changes the image or anything that outlives it, but for what brokers' sessions
          note (I-CTRL-7): the same question upon the same state gets the same records and reply.
I-CTRL-2  The records of a decision can be replayed upon the state it was made on; of each partition
          they leave the leader among those in sync, or none, and no eligible leader replica in
          sync.
I-CTRL-3  A replica joins those in sync or leads only if its broker is registered, neither fenced
          nor shutting down, and has the directory that it is said to lie in.
I-CTRL-4  Nobody leads who was not in sync or an eligible leader replica, but where the topic allows
          an unclean election, one is asked for, or all that is known is who led last.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar

from ottla.config.log import MIN_INSYNC_REPLICAS, UNCLEAN_LEADER_ELECTION_ENABLE
from ottla.config.option import REQUIRED, Option, Scope
from ottla.config.settings import Settings
from ottla.config.table import Table
from ottla.core.metadata.configs import WHOLE_CLUSTER, ResourceType
from ottla.core.metadata.image import Image
from ottla.core.metadata.partition import Partition
from ottla.core.metadata.topics import Topic
from ottla.errors import ErrorCode
from ottla.wire.fields import Uuid
from ottla.wire.uuids import MIGRATING, UNASSIGNED

_T = TypeVar("_T")

RECORDS_MAX: Final = 10_000
"""How many records one request may lead to: what fits a transaction of the log."""


class Refusal(NamedTuple):
    """Why something was not done, as a reply says it."""

    error: ErrorCode
    message: str | None = None


class Chance(Protocol):
    """Where chance comes from; a `random.Random` is one."""

    def randrange(self, stop: int, /) -> int:
        """Draw a number below another."""
        ...

    def randbytes(self, n: int, /) -> bytes:
        """Draw so many bytes."""
        ...


class State:
    """The image, and this controller's own view of what is set."""

    __slots__ = (
        "_settings",
        "_texts",
        "cluster_id",
        "image",
        "node_id",
        "static",
        "table",
        "voters",
    )

    def __init__(
        self,
        image: Image,
        table: Table,
        static: Mapping[str, str],
        *,
        cluster_id: str = "",
        node_id: int = 0,
        voters: tuple[int, ...] = (),
    ) -> None:
        self.image = image
        self.table: Final = table
        self.static: Final = static
        self.cluster_id: Final = cluster_id
        self.node_id: Final = node_id
        self.voters: Final = voters or (node_id,)
        self._texts: tuple[Mapping[str, str], Mapping[str, str]] | None = None
        self._settings: Settings | None = None

    @property
    def level(self) -> int:
        """The metadata.version in force."""
        return self.image.features.level

    @property
    def has_elr(self) -> bool:
        """Whether eligible leader replicas are kept."""
        return self.image.features.has_elr

    def settings(self) -> Settings:
        """This controller's settings, read anew only when something of them was altered."""
        configs = self.image.configs
        cluster = configs.of(*WHOLE_CLUSTER)
        own = configs.of(ResourceType.BROKER, str(self.node_id))
        if self._settings is None or self._texts != (cluster, own):
            self._texts = (dict(cluster), dict(own))
            self._settings = Settings.of_broker(self.table, self.static, cluster, own)
        return self._settings

    def in_force(self, option: Option[_T], topic: str) -> _T:
        """A topic's option as far as this controller knows, without reading all the others."""
        configs = self.image.configs
        for name, texts in (
            (option.topic, configs.of(ResourceType.TOPIC, topic)),
            (option.name, configs.of(ResourceType.BROKER, str(self.node_id))),
            (option.name, configs.of(*WHOLE_CLUSTER)),
            (option.name, self.static),
        ):
            if name is not None and name in texts:
                scope = Scope.TOPIC if name is option.topic else Scope.BROKER
                return option.parse(texts[name], scope)
        assert option.default is not REQUIRED, f"{option.name} has no default"
        return option.default

    def min_isr(self, topic: Topic) -> int:
        """How few in sync let a partition count as safe; never more than it has replicas."""
        replicas = topic.partitions[0].replicas if 0 in topic.partitions else ()
        return min(self.in_force(MIN_INSYNC_REPLICAS, topic.name), len(replicas))

    def allows_unclean(self, topic: str) -> bool:
        """Whether a replica that was not in sync may lead if no other is left."""
        return self.in_force(UNCLEAN_LEADER_ELECTION_ENABLE, topic)

    def leads(
        self, partition: Partition, is_active: Callable[[int], bool] | None = None
    ) -> Callable[[int], bool]:
        """Who could lead a partition: an active broker that has its directory."""
        brokers = self.image.cluster.brokers
        accepts = is_active or self.image.cluster.is_active

        def can_lead(broker: int) -> bool:
            directory = partition.directory(broker)
            known = brokers.get(broker)
            return (
                accepts(broker)
                and known is not None
                and directory is not None
                and known.has_online(directory)
            )

        return can_lead

    def default_directory(self, broker: int) -> Uuid:
        """Where a new replica lies: in the only directory, else the broker has to say it."""
        known = self.image.cluster.brokers.get(broker)
        if known is None:
            return UNASSIGNED
        if not known.directories:
            return MIGRATING
        return known.directories[0] if len(known.directories) == 1 else UNASSIGNED

    def epoch_fault(self, broker: int, epoch: int) -> Refusal | None:
        """What is wrong with a request of a broker that says it has an epoch."""
        known = self.image.cluster.brokers.get(broker)
        if known is None:
            message = f"No broker registration found for broker id {broker}"
        elif known.epoch != epoch:
            message = f"Expected broker epoch {known.epoch}, but got broker epoch {epoch}"
        else:
            return None
        return Refusal(ErrorCode.STALE_BROKER_EPOCH, message)
