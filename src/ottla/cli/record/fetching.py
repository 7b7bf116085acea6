"""Fetch what partitions hold from their leaders, as a consumer without a group does.

Invariant
  I-FETCH-1  A partition's batches are given in the order of their offsets, each once; what lies
             before the offset that is wanted, and what the reader must not see, is left out by whom
             the batches are given to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.cli import Refused
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.client.connection import Connection, said_error
from ottla.cli.log.batches import Batch
from ottla.errors import ErrorCode
from ottla.records.batch import CONTROL_BIT, TRANSACTIONAL_BIT
from ottla.records.scan import Stop, scan

PARTITION_BYTES_MAX: Final = 4 << 20
ANSWER_BYTES_MAX: Final = 64 << 20
_NEWEST_BY_NAME: Final = 12
_MOVED: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.LEADER_NOT_AVAILABLE,
    }
)
_AbortedTransaction = FetchResponse.Topic.Partition.AbortedTransaction


class Fetched(NamedTuple):
    """A batch of a partition."""

    partition: int
    batch: Batch


@dataclass(slots=True)
class Progress:
    """Where a partition is read, and where to stop; without an end it is followed."""

    offset: int
    end_offset: int | None
    aborted: set[int] = field(default_factory=set[int])

    @property
    def is_done(self) -> bool:
        """Was everything read that is wanted?"""
        return self.end_offset is not None and self.offset >= self.end_offset


class Fetcher:
    """Reads some partitions of one topic."""

    def __init__(
        self, cluster: Cluster, topic: Topic, places: dict[int, Progress], *, is_committed: bool
    ) -> None:
        self.places = places
        self._cluster = cluster
        self._topic = topic
        self._is_committed = is_committed

    def batches(self, wait_ms: int) -> Iterator[Fetched]:
        """What the leaders have now, for which they may wait a little if they have nothing."""
        by_leader: dict[int, list[int]] = {}
        for row in self._topic.partitions:
            place = self.places.get(row.partition_index)
            if place is not None and not place.is_done:
                by_leader.setdefault(row.leader_id, []).append(row.partition_index)
        for leader, indexes in sorted(by_leader.items()):
            # With several leaders none may keep the others waiting.
            wait = wait_ms // len(by_leader)
            yield from self._ask(self._cluster.broker(leader), indexes, wait)

    def _ask(self, connection: Connection, indexes: list[int], wait_ms: int) -> Iterator[Fetched]:
        version = connection.version_for(FetchRequest)
        topic = FetchRequest.Topic(
            partitions=[
                FetchRequest.Topic.Partition(
                    partition=index,
                    fetch_offset=self.places[index].offset,
                    partition_max_bytes=PARTITION_BYTES_MAX,
                )
                for index in indexes
            ]
        )
        if version > _NEWEST_BY_NAME:
            topic.topic_id = self._topic.topic_id
        else:
            topic.topic = self._topic.name or ""
        request = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=1,
            max_bytes=ANSWER_BYTES_MAX,
            isolation_level=int(self._is_committed),
            topics=[topic],
        )
        answer = connection.ask(
            request, FetchResponse, version=version, wait_seconds=wait_ms / 1000
        )
        if answer.error_code:
            raise Refused(f"fetch from {connection.address}: {said_error(answer.error_code)}")
        rows = [row for found in answer.responses for row in found.partitions]
        for row in sorted(rows, key=lambda row: row.partition_index):
            yield from self._take(row)

    def _take(self, row: FetchResponse.Topic.Partition) -> Iterator[Fetched]:
        index, name = row.partition_index, self._topic.name
        place = self.places[index]
        error = ErrorCode.of(row.error_code)
        if error in _MOVED:
            self._topic = self._cluster.topic(name or "")
            return
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            raise Refused(f"{name}-{index} has no offset {place.offset} any more, or not yet")
        if error:
            raise Refused(f"{name}-{index} at offset {place.offset}: {said_error(error)}")
        aborted = sorted(row.aborted_transactions or [], key=lambda one: one.first_offset)
        data = memoryview(row.records or b"")
        position = 0
        while position < len(data):
            found = scan(data, position)
            for batch_row in found.rows:
                view = data[batch_row.position : batch_row.position + batch_row.size_bytes]
                batch = Batch(batch_row.position, batch_row, view, ())
                if batch_row.last_offset >= place.offset:
                    if self._is_visible(batch, place, aborted):
                        yield Fetched(index, batch)
                    place.offset = batch_row.last_offset + 1
            position = found.end_position
            if found.stop not in (Stop.FULL, Stop.END):
                if found.stop is not Stop.TORN:
                    raise Refused(f"{name}-{index}: the broker sent a damaged batch")
                break

    def _is_visible(
        self, batch: Batch, place: Progress, aborted: list[_AbortedTransaction]
    ) -> bool:
        """May the reader see a batch? Markers are nobody's, and who asked for it sees no aborts."""
        row = batch.row
        if row.magic < 2:
            return True
        while aborted and aborted[0].first_offset <= row.last_offset:
            place.aborted.add(aborted.pop(0).producer_id)
        if row.attributes & CONTROL_BIT:
            # The marker of an abort ends it; that of a commit ends none that was aborted.
            place.aborted.discard(row.producer_id)
            return False
        is_transactional = row.attributes & TRANSACTIONAL_BIT != 0
        return not (self._is_committed and is_transactional and row.producer_id in place.aborted)
