"""What a partition answers to every question about its log: asked of Kafka, and of ours.

Kafka is asked over the wire while it runs; a log of ours is asked after it was opened.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ottla.api.describe_producers import DescribeProducersRequest, DescribeProducersResponse
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ottla.api.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)
from ottla.broker.partition_history import PartitionHistory
from ottla.errors import ErrorCode
from ottla.records.scan import Stop, scan
from ottla.storage.log import Log
from tests.conformance.wire_client import WireClient

SMALL_BYTES: Final = 700
ALL_BYTES: Final = 1 << 24
LATEST: Final = -1
EARLIEST: Final = -2
LARGEST_TIME: Final = -3
EPOCHS_ASKED: Final = range(8)
_FETCH_VERSION: Final = 12
_NOTHING: Final = (-1, -1, -1)


class Found(NamedTuple):
    """The answer to a time: the time of the record, its offset, its epoch; -1 if there is none."""

    timestamp: int
    offset: int
    leader_epoch: int


class Producer(NamedTuple):
    """A row of DescribeProducers."""

    producer_id: int
    epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int
    open_transaction_offset: int


@dataclass(slots=True)
class Answers:
    """All that one partition answered."""

    log_start_offset: int
    high_watermark: int
    last_stable_offset: int
    producers: Sequence[Producer]
    epochs: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """By epoch, the answer of OffsetForLeaderEpoch."""
    by_time: dict[int, Found] = field(default_factory=dict[int, Found])
    pieces: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """By offset, what a reader of everything gets with few bytes allowed."""
    committed: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """By offset, what a reader of committed records gets with many bytes allowed."""
    aborted: dict[int, Sequence[tuple[int, int]]] = field(
        default_factory=dict[int, Sequence[tuple[int, int]]]
    )
    """By offset, the producers and first offsets of transactions that such a reader leaves out."""

    def differences(self, other: "Answers") -> list[str]:
        """What another answers in another way, in a few words each."""
        found: list[str] = []
        for name in self.__slots__:
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict):
                keys = sorted(mine.keys() | theirs.keys())
                wrong = [key for key in keys if mine.get(key) != theirs.get(key)]
                found += [f"{name}[{k}]: {_pair(mine.get(k), theirs.get(k))}" for k in wrong[:5]]
            elif mine != theirs:
                found.append(f"{name}: {_pair(mine, theirs)}")
        return found


def _pair(one: object, other: object) -> str:
    if isinstance(one, bytes) and isinstance(other, bytes):
        common = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
        return f"{len(one)} and {len(other)} bytes, the first that differs is {common}"
    return f"{one!r:.300} and {other!r:.300}"


class KafkaPartition(NamedTuple):
    """A partition of a running Kafka."""

    client: WireClient
    topic: str
    partition: int = 0

    def answers(self, times: Iterable[int]) -> Answers:
        """Ask everything."""
        start = self.list_offset(EARLIEST).offset
        first = self.fetch(start, 1, is_committed=False)
        found = Answers(
            start,
            first.high_watermark,
            self.fetch(start, 1, is_committed=True).last_stable_offset,
            self.producers(),
        )
        for epoch in EPOCHS_ASKED:
            found.epochs[epoch] = self.epoch_end(epoch)
        for time in (LARGEST_TIME, *times):
            found.by_time[time] = self.list_offset(time)
        for offset in range(start, found.high_watermark + 1):
            piece = self.fetch(offset, SMALL_BYTES, is_committed=False)
            found.pieces[offset] = bytes(piece.records or b"")
            if offset <= found.last_stable_offset:
                whole = self.fetch(offset, ALL_BYTES, is_committed=True)
                found.committed[offset] = bytes(whole.records or b"")
                end = _end_offset(found.committed[offset])
                rows = whole.aborted_transactions or ()
                found.aborted[offset] = [
                    (row.producer_id, row.first_offset) for row in rows if row.first_offset < end
                ]
        return found

    def fetch(
        self, offset: int, bytes_max: int, *, is_committed: bool
    ) -> FetchResponse.Topic.Partition:
        """Read from an offset on."""
        topic = FetchRequest.Topic
        asked = topic.Partition(
            partition=self.partition, fetch_offset=offset, partition_max_bytes=bytes_max
        )
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=ALL_BYTES,
            isolation_level=int(is_committed),
            topics=[topic(topic=self.topic, partitions=[asked])],
        )
        answer = self.client.ask(request, _FETCH_VERSION, FetchResponse)
        found = answer.responses[0].partitions[0]
        assert found.error_code == ErrorCode.NONE, f"{self.topic} at {offset}: {found}"
        return found

    def is_led(self) -> bool:
        """Does it answer by now?"""
        return self._list_offset(EARLIEST).error_code == ErrorCode.NONE

    def list_offset(self, timestamp: int) -> Found:
        """Find an offset by a time."""
        found = self._list_offset(timestamp)
        assert found.error_code == ErrorCode.NONE, f"{self.topic} at time {timestamp}: {found}"
        return Found(found.timestamp, found.offset, found.leader_epoch)

    def _list_offset(self, timestamp: int) -> ListOffsetsResponse.Topic.Partition:
        topic = ListOffsetsRequest.Topic
        asked = topic.Partition(partition_index=self.partition, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[topic(name=self.topic, partitions=[asked])]
        )
        return self.client.ask(request, 7, ListOffsetsResponse).topics[0].partitions[0]

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """Where an epoch ended."""
        topic = OffsetForLeaderEpochRequest.Topic
        asked = topic.Partition(partition=self.partition, leader_epoch=epoch)
        request = OffsetForLeaderEpochRequest(
            replica_id=-1, topics=[topic(topic=self.topic, partitions=[asked])]
        )
        answer = self.client.ask(request, 4, OffsetForLeaderEpochResponse)
        found = answer.topics[0].partitions[0]
        assert found.error_code == ErrorCode.NONE, f"{self.topic} of epoch {epoch}: {found}"
        return found.leader_epoch, found.end_offset

    def producers(self) -> list[Producer]:
        """Who is remembered to have written."""
        topic = DescribeProducersRequest.Topic
        request = DescribeProducersRequest(
            topics=[topic(name=self.topic, partition_indexes=[self.partition])]
        )
        answer = self.client.ask(request, 0, DescribeProducersResponse)
        return _producers(answer.topics[0].partitions[0].active_producers)


class OurPartition(NamedTuple):
    """A partition's log that we have opened, all of which counts as replicated."""

    log: Log
    history: PartitionHistory

    def answers(self, times: Iterable[int]) -> Answers:
        """Ask everything."""
        log, state = self.log, self.history.state
        end = log.end_offset
        state.move_high_watermark(end)
        stable = state.last_stable_offset(log.log_start_offset, end)
        epochs = self.history.leader_epochs
        found = Answers(log.log_start_offset, end, stable, _producers(state.describe()))
        for epoch in EPOCHS_ASKED:
            found.epochs[epoch] = tuple(epochs.end_offset_for(epoch, end))
        for time in (LARGEST_TIME, *times):
            found.by_time[time] = self._list_offset(time)
        for offset in range(log.log_start_offset, end + 1):
            found.pieces[offset] = self._fetch(offset, SMALL_BYTES, end)
            if offset <= stable:
                found.committed[offset] = self._fetch(offset, ALL_BYTES, stable)
                found.aborted[offset] = self._aborted(offset, found.committed[offset])
        return found

    def records(self) -> bytes:
        """All its batches from the log's start on."""
        parts: list[bytes] = []
        for segment in self.log.segments.from_offset(self.log.log_start_offset):
            place = segment.find_offset(self.log.log_start_offset)
            if place is not None:
                parts += [bytes(run.data) for run in segment.runs(place[0])]
        return b"".join(parts)

    def _fetch(self, offset: int, bytes_max: int, end_offset: int) -> bytes:
        found = self.log.read(offset, bytes_max, self.log.place_of(end_offset))
        return b"" if found is None else found.file.read(found.position, found.size_bytes)

    def _list_offset(self, timestamp: int) -> Found:
        log = self.log
        found = log.find_latest() if timestamp == LARGEST_TIME else log.find_timestamp(timestamp)
        return Found(*_NOTHING) if found is None else Found(*found, self._epoch_in(found.offset))

    def _epoch_in(self, offset: int) -> int:
        """The epoch that the batch with an offset says; messages of old formats say none."""
        segment = self.log.segments.from_offset(offset)[0]
        found = segment.read(offset, 1)
        assert found is not None
        return (
            scan(found.file.read(found.position, found.size_bytes)).rows[0].partition_leader_epoch
        )

    def _aborted(self, offset: int, data: bytes) -> list[tuple[int, int]]:
        """Kafka may name some that begin after what it gives; they are of no use to anybody."""
        found = self.log.aborted(offset, _end_offset(data)) if data else ()
        return [(one.producer_id, one.first_offset) for one in found]


def _end_offset(data: bytes) -> int:
    """Where some whole batches end; -1 if there are none."""
    rows, position, stop = scan(data)
    while stop is Stop.FULL:
        rows, position, stop = scan(data, position)
    return rows[-1].last_offset + 1 if rows else -1


def _producers(
    rows: Iterable[DescribeProducersResponse.Topic.Partition.Producer],
) -> list[Producer]:
    found = (
        Producer(
            row.producer_id,
            row.producer_epoch,
            row.last_sequence,
            row.last_timestamp,
            row.coordinator_epoch,
            row.current_txn_start_offset,
        )
        for row in rows
    )
    return sorted(found)
