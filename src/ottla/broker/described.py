"""What several answers say alike of partitions and of what may be done."""

from typing import Final, NamedTuple

from ottla.core.metadata.image import Image
from ottla.core.metadata.partition import NO_LEADER, Partition
from ottla.errors import ErrorCode

TOPIC_OPERATIONS: Final = 0b1101_1111_1000
"""Read, write, create, delete, alter, describe, and both for configs, as bits."""
CLUSTER_OPERATIONS: Final = 0b1_1111_1010_0000
NOT_ASKED: Final = -0x8000_0000


class Described(NamedTuple):
    """What an answer says of a partition beside what the metadata log does."""

    error_code: ErrorCode
    leader_id: int
    offline_replicas: list[int]


def described(image: Image, partition: Partition, listener: str) -> Described:
    """Say who leads a partition as far as clients of a listener can use it."""
    brokers = image.cluster.brokers
    offline = [
        one
        for one in partition.replicas
        if one not in brokers
        or brokers[one].is_fenced
        or not brokers[one].has_online(partition.directories[partition.replicas.index(one)])
    ]
    leader = brokers.get(partition.leader)
    if leader is None or leader.is_fenced:
        return Described(ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER, offline)
    if leader.end_point(listener) is None:
        return Described(ErrorCode.LISTENER_NOT_FOUND, NO_LEADER, offline)
    return Described(ErrorCode.NONE, partition.leader, offline)
