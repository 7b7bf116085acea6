"""What a message must be to be thought of at all, and what every answer says of the leader."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from ottla.core.quorum.options import CLUSTER_METADATA
from ottla.core.quorum.voters import Endpoint
from ottla.errors import ErrorCode


class Said(NamedTuple):
    """What an answer says beside its own matter."""

    error: ErrorCode
    leader_id: int | None
    epoch: int
    endpoints: tuple[Endpoint, ...]


class _Partition(Protocol):
    error_code: int
    leader_id: int
    leader_epoch: int


class _Leader(Protocol):
    leader_id: int
    leader_epoch: int


class _FetchedPartition(Protocol):
    error_code: int

    @property
    def current_leader(self) -> _Leader: ...


class _NamedEndpoint(Protocol):
    name: str
    host: str
    port: int


class _NodeEndpoint(Protocol):
    node_id: int
    host: str
    port: int


def is_metadata(topics: Any) -> bool:
    """Is a message about the one partition of the metadata log, by its name?"""
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        return False
    topic, partition = topics[0], topics[0].partitions[0]
    name = getattr(topic, "topic_name", None) or getattr(topic, "name", None)
    index = getattr(partition, "partition_index", None)
    if index is None:
        index = getattr(partition, "index", getattr(partition, "partition", None))
    return name == CLUSTER_METADATA and index == 0


def endpoints_of(given: Sequence[_NamedEndpoint]) -> tuple[Endpoint, ...]:
    """The endpoints that a message names."""
    return tuple(Endpoint(e.name, e.host, e.port) for e in given)


def said_of_node(partition: _Partition, nodes: Sequence[_NodeEndpoint]) -> Said:
    """What an answer says that has leader and epoch beside its error."""
    return _said(partition.error_code, partition, nodes)


def said_of_fetch(partition: _FetchedPartition, nodes: Sequence[_NodeEndpoint]) -> Said:
    """What an answer says that has leader and epoch in a place of their own."""
    return _said(partition.error_code, partition.current_leader, nodes)


def _said(error_code: int, leader: _Leader, nodes: Sequence[_NodeEndpoint]) -> Said:
    """The address of the leader comes without the name of its listener."""
    id_ = leader.leader_id
    endpoints = tuple(Endpoint("", n.host, n.port) for n in nodes if n.node_id == id_)
    return Said(ErrorCode.of(error_code), None if id_ < 0 else id_, leader.leader_epoch, endpoints)
