"""Where partitions begin and end, and which of their offsets belong to a time."""

from collections.abc import Iterable, Mapping
from typing import Final

from ottla.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.client.connection import check

LATEST: Final = -1
EARLIEST: Final = -2
NO_OFFSET: Final = -1
_READ_UNCOMMITTED: Final = 0


def offsets_at(
    cluster: Cluster, topic: Topic, timestamp: int, partitions: Iterable[int] | None = None
) -> dict[int, int]:
    """For each partition the first offset at or past a time; -1 if there is none.

    LATEST and EARLIEST are times too: the end and the beginning.
    """
    wanted = None if partitions is None else set(partitions)
    by_leader: dict[int, list[int]] = {}
    for row in topic.partitions:
        if wanted is None or row.partition_index in wanted:
            by_leader.setdefault(row.leader_id, []).append(row.partition_index)
    found: dict[int, int] = {}
    for leader, indexes in sorted(by_leader.items()):
        found |= _asked(cluster, leader, topic.name or "", dict.fromkeys(indexes, timestamp))
    return dict(sorted(found.items()))


def _asked(cluster: Cluster, leader: int, name: str, times: Mapping[int, int]) -> dict[int, int]:
    connection = cluster.broker(leader)
    version = connection.version_for(ListOffsetsRequest)
    partition = ListOffsetsRequest.Topic.Partition
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=_READ_UNCOMMITTED,
        topics=[
            ListOffsetsRequest.Topic(
                name=name,
                partitions=[
                    partition(partition_index=index, timestamp=time)
                    for index, time in sorted(times.items())
                ],
            )
        ],
        timeout_ms=int(cluster.timeout_seconds * 1000),
    )
    answer = connection.ask(request, ListOffsetsResponse, version=version)
    found: dict[int, int] = {}
    for topic in answer.topics:
        for row in topic.partitions:
            check(row.error_code, f"offsets of {name}-{row.partition_index}")
            old = row.old_style_offsets[0] if row.old_style_offsets else NO_OFFSET
            found[row.partition_index] = row.offset if version else old
    return found
