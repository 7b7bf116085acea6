"""Append records to a topic: batches by partition, each acknowledged before the command ends.

A batch that a broker cannot take now is sent again, with the sequence that it had, so that nothing
is there twice. Records of one partition keep their order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import monotonic, sleep
from typing import Final

from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.cli import Refused
from ottla.cli.client.cluster import Cluster, Topic
from ottla.cli.client.connection import check, said_error
from ottla.cli.record.input_lines import NewRecord
from ottla.cli.record.partitioner import partition_of
from ottla.cli.times import now_ms
from ottla.errors import ErrorCode
from ottla.records.batch import SEQUENCE_MAX
from ottla.records.builder import BatchBuilder, BatchOptions
from ottla.records.compression import Codec

BATCH_BYTES_MAX: Final = 256 << 10
_ALL_IN_SYNC: Final = -1
_OLDEST_WITH_BATCHES: Final = 3
_NEWEST_BY_NAME: Final = 12
_NO_PRODUCER: Final = -1
_RETRY_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a batch went."""

    partition: int
    base_offset: int
    records_count: int


@dataclass(slots=True)
class Producer:
    """Gathers records into batches, and sends each when it is full."""

    cluster: Cluster
    topic: Topic
    codec: Codec
    partition: int | None = None
    records_count: int = 0
    size_bytes: int = 0
    _builders: dict[int, BatchBuilder] = field(default_factory=dict[int, BatchBuilder])
    _sequences: dict[int, int] = field(default_factory=dict[int, int])
    _identity: tuple[int, int] = (_NO_PRODUCER, _NO_PRODUCER)
    _keyless: int = 0

    def __post_init__(self) -> None:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=0)

        def look() -> tuple[int, int] | str:
            answer = self.cluster.ask(request, InitProducerIdResponse)
            error = ErrorCode.of(answer.error_code)
            if error.retriable:
                return said_error(error)
            check(error, "a producer id")
            return (answer.producer_id, answer.producer_epoch)

        self._identity = self.cluster.wait_for("a producer id", look)

    def append(self, record: NewRecord) -> Appended | None:
        """Take a record; say where a batch went if that made one full."""
        index = self._partition_for(record)
        builder = self._builders.get(index)
        timestamp = now_ms() if record.timestamp is None else record.timestamp
        row = (timestamp, record.key, record.value, record.headers)
        if builder is None:
            builder = self._builders[index] = self._new_builder(index)
        if builder.append(*row):
            return None
        appended = self._send(index)
        self._builders[index] = builder = self._new_builder(index)
        builder.append(*row)
        return appended

    def flush(self) -> Iterable[Appended]:
        """Send all that waits."""
        for index in sorted(self._builders):
            yield self._send(index)

    def _partition_for(self, record: NewRecord) -> int:
        count = len(self.topic.partitions)
        index = self.partition if record.partition is None else record.partition
        if index is None:
            if record.key is not None:
                return partition_of(record.key, count)
            return self._keyless % count
        if index >= count:
            raise Refused(f"{self.topic.name} has no partition {index}, only 0..{count - 1}")
        return index

    def _new_builder(self, index: int) -> BatchBuilder:
        producer_id, epoch = self._identity
        options = BatchOptions(
            codec=self.codec,
            producer_id=producer_id,
            producer_epoch=epoch,
            base_sequence=self._sequences.get(index, 0),
        )
        return BatchBuilder(options, BATCH_BYTES_MAX)

    def _send(self, index: int) -> Appended:
        builder = self._builders.pop(index)
        batch = builder.build()
        count = len(builder.rows)
        base_offset = self._acknowledged(index, bytes(batch))
        self._sequences[index] = (self._sequences.get(index, 0) + count) & SEQUENCE_MAX
        self._keyless += 1
        self.records_count += count
        self.size_bytes += len(batch)
        return Appended(index, base_offset, count)

    def _acknowledged(self, index: int, batch: bytes) -> int:
        deadline = monotonic() + self.cluster.timeout_seconds
        while True:
            row = self._asked(index, batch)
            error = ErrorCode.of(row.error_code)
            if error in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
                return row.base_offset
            if not error.retriable or monotonic() > deadline:
                what = f"{self.topic.name}-{index} took no batch"
                raise Refused(f"{what}: {said_error(error, row.error_message)}")
            sleep(_RETRY_SECONDS)
            self.topic = self.cluster.topic(self.topic.name or "")

    def _asked(self, index: int, batch: bytes) -> ProduceResponse.Topic.Partition:
        leaders = {row.partition_index: row.leader_id for row in self.topic.partitions}
        connection = self.cluster.broker(leaders[index])
        version = connection.version_for(ProduceRequest, _OLDEST_WITH_BATCHES)
        partition = ProduceRequest.Topic.Partition(index=index, records=batch)
        topic = ProduceRequest.Topic(partition_data=[partition])
        if version > _NEWEST_BY_NAME:
            topic.topic_id = self.topic.topic_id
        else:
            topic.name = self.topic.name or ""
        request = ProduceRequest(
            acks=_ALL_IN_SYNC,
            timeout_ms=int(self.cluster.timeout_seconds * 1000),
            topic_data=[topic],
        )
        answer = connection.ask(
            request, ProduceResponse, version=version, wait_seconds=self.cluster.timeout_seconds
        )
        return answer.responses[0].partition_responses[0]
