"""The state of the cluster that the metadata log's records make, one after the other.

Everything that a cluster agrees on is a record of one log; the image is what they add up to. Every
node has the same one, as far as it has read: a broker replays what is committed and acts on the
changes, a controller replays what it appends, at once, and decides on that.

I-META-1  `replay` is the only thing that changes an image. A record that could not have been
          written upon it is refused, and leaves it as it was.
I-META-2  Of every partition: replicas are distinct, as many as its directories; those in sync are
          replicas, each once.
I-META-3  The leader is a replica, or -1.
I-META-4  A partition's epoch rises by one with every change of it, its leader's epoch by one with
          every change that names a leader, even the same one; a broker's epoch never falls.
I-META-5  A topic's name and its id name the same topic; no id and no name is there twice.
I-META-6  What is set for a topic, and no setting of anything else, goes when the topic goes.
I-META-7  The records of `snapshot`, replayed on an empty image, make an equal one, if nothing was
          lost to a lower metadata.version and eligible leader replicas are there only while
          their feature is on; equal images give the same records.
I-META-8  metadata.version is known from the first records on (they are the bootstrap records).
I-META-9  Records between a BeginTransaction and its end count only once it has ended, then all of
          them together; after an abort none does.
I-META-10 Producer ids are handed out once: the next one only rises.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from ottla.api import metadata_records as told
from ottla.core.metadata.access import Access
from ottla.core.metadata.changes import Changes
from ottla.core.metadata.cluster import Cluster
from ottla.core.metadata.configs import Configs
from ottla.core.metadata.features import Features
from ottla.core.metadata.levels import ELIGIBLE_LEADER_REPLICAS
from ottla.core.metadata.quotas import Quotas
from ottla.core.metadata.topics import Topics
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Message

NO_PRODUCER_IDS: Final = -1


class Image:
    """What the records replayed so far say. Read its parts; change them by `replay` alone."""

    __slots__ = (
        "_has_producer_ids",
        "_held",
        "_replays",
        "access",
        "cluster",
        "configs",
        "features",
        "next_producer_id",
        "quotas",
        "topics",
    )

    def __init__(self) -> None:
        self.features = Features()
        self.cluster = Cluster()
        self.topics = Topics()
        self.configs = Configs()
        self.quotas = Quotas()
        self.access = Access()
        self.next_producer_id = NO_PRODUCER_IDS
        self._has_producer_ids = False
        # The records of a transaction that has not ended; None outside of one.
        self._held: list[Message] | None = None
        self._replays: dict[type[Message], Callable[[Any], object]] = {}

    def replay(self, record: Message) -> None:
        """Take in the next record of the log; InvalidValue if there can be no such one here."""
        if isinstance(record, _TRANSACTIONAL):
            self._replay_transaction(record)
        elif self._held is not None:
            self._held.append(record)
        else:
            self._replay(record)

    @property
    def is_in_transaction(self) -> bool:
        """Whether records wait for their transaction to end; no snapshot may be taken then."""
        return self._held is not None

    def copy(self) -> "Image":
        """The same, to be changed by itself; nothing counts as changed in it."""
        made = Image()
        made.features = self.features.copy()
        made.cluster = self.cluster.copy()
        made.topics = self.topics.copy()
        made.configs = self.configs.copy()
        made.quotas = self.quotas.copy()
        made.access = self.access.copy()
        made.next_producer_id = self.next_producer_id
        made._held = None if self._held is None else self._held.copy()
        return made

    def take_changes(self) -> Changes:
        """What changed since this was last asked, or since the image is there."""
        features, cluster, topics = self.features, self.cluster, self.topics
        taken = Changes(
            features.before,
            cluster.before,
            cluster.before_controllers,
            topics.created,
            topics.deleted,
            topics.partitions_before,
            self.configs.before,
            self.quotas.before,
            self.access.before,
            self._has_producer_ids,
        )
        features.before, cluster.before, cluster.before_controllers = {}, {}, {}
        topics.created, topics.deleted, topics.partitions_before = {}, {}, {}
        self.configs.before, self.quotas.before, self.access.before = {}, {}, {}
        self._has_producer_ids = False
        return taken

    def _replay_transaction(self, record: Message) -> None:
        """Begin to hold records back, or let them count or fall."""
        is_begin = isinstance(record, told.BeginTransactionRecord)
        if is_begin != (self._held is None):
            raise InvalidValue(f"{type(record).__name__} where none can be")
        if is_begin:
            self._held = []
            return
        held, self._held = self._held or [], None
        if isinstance(record, told.EndTransactionRecord):
            for one in held:
                self._replay(one)

    def _replay(self, record: Message) -> None:
        if not self._replays:
            self._replays = self._table()
        replay = self._replays.get(type(record))
        if replay is None:
            raise InvalidValue(f"{type(record).__name__} is no record of the metadata log")
        replay(record)

    def _replay_removal(self, record: told.RemoveTopicRecord) -> None:
        self.configs.forget_topic(self.topics.replay_end(record).name)

    def _replay_producer_ids(self, record: told.ProducerIdsRecord) -> None:
        if record.next_producer_id <= self.next_producer_id:
            raise InvalidValue(f"producer ids from {record.next_producer_id} on are handed out")
        self.next_producer_id = record.next_producer_id
        self._has_producer_ids = True

    def _table(self) -> dict[type[Message], Callable[[Any], object]]:
        """Who takes in which record."""
        cluster, topics, access = self.cluster, self.topics, self.access
        return {
            told.RegisterBrokerRecord: cluster.replay_registration,
            told.UnregisterBrokerRecord: cluster.replay_end,
            told.FenceBrokerRecord: cluster.replay_fencing,
            told.UnfenceBrokerRecord: cluster.replay_fencing,
            told.BrokerRegistrationChangeRecord: cluster.replay_change,
            told.RegisterControllerRecord: cluster.replay_controller,
            told.UnregisterControllerRecord: cluster.replay_controller_end,
            told.TopicRecord: topics.replay_topic,
            told.RemoveTopicRecord: self._replay_removal,
            told.PartitionRecord: topics.replay_partition,
            told.PartitionChangeRecord: topics.replay_change,
            told.ClearElrRecord: topics.replay_cleared,
            told.ConfigRecord: self.configs.replay,
            told.ClientQuotaRecord: self.quotas.replay,
            told.ProducerIdsRecord: self._replay_producer_ids,
            told.FeatureLevelRecord: self.features.replay,
            told.AccessControlEntryRecord: access.replay_rule,
            told.RemoveAccessControlEntryRecord: access.replay_rule_end,
            told.UserScramCredentialRecord: access.replay_credential,
            told.RemoveUserScramCredentialRecord: access.replay_credential_end,
            told.DelegationTokenRecord: access.replay_token,
            told.RemoveDelegationTokenRecord: access.replay_token_end,
            # They say nothing that counts: one moves the log on, the other is of ZooKeeper's time.
            told.NoOpRecord: _pass,
            told.ZkMigrationStateRecord: _pass,
        }


_TRANSACTIONAL: Final = (
    told.BeginTransactionRecord,
    told.EndTransactionRecord,
    told.AbortTransactionRecord,
)


def _pass(record: Message) -> None:
    del record


def snapshot(image: Image, level: int | None = None) -> tuple[list[Message], list[str]]:
    """The records that make this image, in Kafka's order, and what of it they cannot say.

    A level of metadata.version below the image's own gives what an older cluster would read. Within
    each part records are sorted by their keys, so that equal images give equal bytes.
    """
    assert not image.is_in_transaction, "I-META-9"
    lost: list[str] = []
    return [*_records(image, image.features.level if level is None else level, lost)], lost


def _records(image: Image, level: int, lost: list[str]) -> Iterator[Message]:
    yield from image.features.records(level)
    yield from image.cluster.records(level, lost)
    has_elr = image.features.has_elr and level >= ELIGIBLE_LEADER_REPLICAS
    yield from image.topics.records(level, lost, has_elr=has_elr)
    yield from image.configs.records()
    yield from image.quotas.records()
    if image.next_producer_id != NO_PRODUCER_IDS:
        yield told.ProducerIdsRecord(broker_id=-1, next_producer_id=image.next_producer_id)
    yield from image.access.records(level, lost)
