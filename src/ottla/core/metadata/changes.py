"""What a run of records changed: for each thing that may be different, what it was before.

What it is now stands in the image that replayed the records, so nothing is kept twice. A thing that
changed and changed back may still be here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.core.metadata.access import AccessKey
from ottla.core.metadata.cluster import Broker, Controller
from ottla.core.metadata.configs import Resource
from ottla.core.metadata.partition import Partition, PartitionId
from ottla.core.metadata.quotas import Entity
from ottla.core.metadata.topics import Topics
from ottla.wire.fields import Message, Uuid


@dataclass(slots=True)
class Changes:
    """Each by its key; None stands for what was not there."""

    features: dict[str, int | None]
    brokers: dict[int, Broker | None]
    controllers: dict[int, Controller | None]
    topics_created: dict[Uuid, str]
    topics_deleted: dict[Uuid, str]
    partitions: dict[PartitionId, Partition | None]
    configs: dict[Resource, Mapping[str, str]]
    quotas: dict[Entity, Mapping[str, float]]
    access: dict[AccessKey, Message | None]
    has_producer_ids: bool = False


@dataclass(slots=True)
class LocalChanges:
    """What one broker has to do about its partitions."""

    deleted: list[PartitionId] = field(default_factory=list[PartitionId])
    """It has no replica of them any more."""
    elected: list[PartitionId] = field(default_factory=list[PartitionId])
    """It leads them in an epoch that it did not lead before."""
    leading: list[PartitionId] = field(default_factory=list[PartitionId])
    """It leads them, and something changed; among them the elected."""
    following: list[PartitionId] = field(default_factory=list[PartitionId])
    """It follows them, and something changed."""
    directories: dict[PartitionId, Uuid] = field(default_factory=dict[PartitionId, Uuid])
    """The directory that it is said to have them in, where that is new."""


def local_changes(broker: int, changes: Changes, now: Topics) -> LocalChanges:
    """The part of some changes that concerns the partitions of one broker."""
    found = LocalChanges()
    for place, before in changes.partitions.items():
        after = now.partition(*place)
        if after is None or broker not in after.replicas:
            if before is not None and broker in before.replicas:
                found.deleted.append(place)
            continue
        if before is None or before.partition_epoch != after.partition_epoch:
            (found.leading if after.leader == broker else found.following).append(place)
        is_elected = before is None or before.leader_epoch != after.leader_epoch
        if after.leader == broker and is_elected:
            found.elected.append(place)
        directory = after.directory(broker)
        if directory and (before is None or before.directory(broker) != directory):
            found.directories[place] = directory
    return found
