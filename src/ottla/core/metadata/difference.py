"""What is different between two images: for a node that got a snapshot instead of the records."""

from collections.abc import Mapping
from typing import TypeVar

from ottla.core.metadata.access import Access, AccessKey
from ottla.core.metadata.changes import Changes
from ottla.core.metadata.image import Image
from ottla.core.metadata.partition import Partition, PartitionId
from ottla.core.metadata.topics import Topics
from ottla.wire.fields import Message, Uuid

_K = TypeVar("_K")
_V = TypeVar("_V")


def difference(before: Image, after: Image) -> Changes:
    """The changes that lead from one image to the other, as if records had made them."""
    old, new = _names(before.topics), _names(after.topics)
    return Changes(
        features=_differing(before.features.finalized(), after.features.finalized()),
        brokers=_differing(before.cluster.brokers, after.cluster.brokers),
        controllers=_differing(before.cluster.controllers, after.cluster.controllers),
        topics_created={key: name for key, name in new.items() if key not in old},
        topics_deleted={key: name for key, name in old.items() if key not in new},
        partitions=_differing(_partitions(before.topics), _partitions(after.topics)),
        configs=_emptied(before.configs.by_resource, after.configs.by_resource),
        quotas=_emptied(before.quotas.by_entity, after.quotas.by_entity),
        access=_differing(_access(before.access), _access(after.access)),
        has_producer_ids=before.next_producer_id != after.next_producer_id,
    )


def _differing(before: Mapping[_K, _V], after: Mapping[_K, _V]) -> dict[_K, _V | None]:
    """What stood before under each key that has another value now, or none."""
    keys = dict.fromkeys((*before, *after))
    return {key: before.get(key) for key in keys if before.get(key) != after.get(key)}


def _emptied(
    before: Mapping[_K, Mapping[str, _V]], after: Mapping[_K, Mapping[str, _V]]
) -> dict[_K, Mapping[str, _V]]:
    return {key: texts or {} for key, texts in _differing(before, after).items()}


def _names(topics: Topics) -> dict[Uuid, str]:
    return {topic.id: topic.name for topic in topics.by_id.values()}


def _partitions(topics: Topics) -> dict[PartitionId, Partition]:
    return {PartitionId(topic.id, number): partition for topic, number, partition in topics}


def _access(access: Access) -> dict[AccessKey, Message]:
    found: dict[AccessKey, Message] = {}
    for part in (access.acls, access.scram, access.tokens):
        found.update(part.items())
    return found
