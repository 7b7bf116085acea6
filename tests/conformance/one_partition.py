"""What a broker of one partition answers: enough for real clients to fetch and to produce.

Nothing is stored: batches to be fetched lie ready, what is produced is kept as it came, and whoever
asks for a producer id or a coordinator gets the same one. All that is said and understood goes
through the declarations of `ottla.api`, so that a client which understands it vouches for those.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.api.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    TopicResult,
)
from ottla.api.api_versions import ApiVersionsRequest, ApiVersionsResponse
from ottla.api.apis import (
    API_VERSIONS,
    APIS,
    request_class,
    request_header_version,
    response_header_version,
)
from ottla.api.end_txn import EndTxnRequest, EndTxnResponse
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.api.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ottla.api.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.errors import ErrorCode
from ottla.records.scan import find_offset
from ottla.wire.codec import decode, decode_prefix, encode_frame
from ottla.wire.fields import Message, Uuid
from ottla.wire.frame import request_identity
from ottla.wire.header import RequestHeader, ResponseHeader

TOPIC: Final = "drawn"
TOPIC_ID: Final = Uuid(b"one partition 16")
NODE: Final = 1
LEADER_EPOCH: Final = 3
PRODUCER: Final = (4711, 5)
"""The id and epoch that every producer gets."""
BASE_OFFSET_STEP: Final = 1000
"""How far apart the offsets are that two Produce requests are told."""

_SHOWN_REQUESTS: Final = 8
_IDLE_FETCH_S: Final = 0.02
_EARLIEST: Final = -2


class Aborted(NamedTuple):
    """A transaction that was aborted: whose, and where its first batch and its marker lie."""

    producer_id: int
    first_offset: int
    marker_offset: int


@dataclass(frozen=True, slots=True)
class Log:
    """What the partition holds; all of it is committed, unless a transaction is still open."""

    data: bytes = b""
    end_offset: int = 0
    start_offset: int = 0
    aborted: Sequence[Aborted] = ()
    open_offset: int | None = None
    """Where the first transaction begins that has not ended."""

    @property
    def last_stable_offset(self) -> int:
        """How far those may read who want only what is committed."""
        return self.end_offset if self.open_offset is None else self.open_offset


class Produced(NamedTuple):
    """The bytes that one Produce request had for the partition, and how it was sent."""

    version: int
    acks: int
    transactional_id: str | None
    records: bytes
    base_offset: int


class OnePartition:
    """Answers requests, and notes what they were."""

    def __init__(self, log: Log, newest: Mapping[str, int]) -> None:
        """Hold a log; `newest` names APIs that are offered as an older broker does."""
        self.log = log
        self.port = 0
        self.produced: list[Produced] = []
        self.versions: dict[str, set[int]] = {}
        self.ends: list[tuple[str, bool]] = []
        self.last_requests: deque[str] = deque(maxlen=_SHOWN_REQUESTS)
        self._handlers: dict[int, Callable[[Message, int], Message | None]] = {
            cls.api_key: handler
            for cls, handler in (
                (ApiVersionsRequest, self._say_versions),
                (MetadataRequest, self._describe),
                (ListOffsetsRequest, self._list_offsets),
                (FetchRequest, self._fetch),
                (ProduceRequest, self._produce),
                (FindCoordinatorRequest, self._find_coordinator),
                (InitProducerIdRequest, self._give_producer_id),
                (AddPartitionsToTxnRequest, self._add_partitions),
                (EndTxnRequest, self._end_transaction),
            )
        }
        self._newest = {
            key: newest.get(APIS[key].name, APIS[key].versions.last - APIS[key].latest_is_unstable)
            for key in sorted(self._handlers)
        }

    def answer(self, frame: bytes) -> bytes | None:
        """The frame that answers one, if it wants an answer."""
        key, version, correlation_id = request_identity(frame)
        name = APIS[key].name if key in APIS else f"API {key}"
        self.last_requests.append(f"{name} v{version}")
        assert key in self._handlers, f"{name} is not answered here"
        response: Message | None
        if key == API_VERSIONS and version > self._newest[key]:
            response, version = self._listed(ErrorCode.UNSUPPORTED_VERSION), 0
        else:
            assert version <= self._newest[key], f"{name} v{version} was not offered"
            self.versions.setdefault(name, set()).add(version)
            _, start = decode_prefix(RequestHeader, frame, request_header_version(key, version))
            request = decode(request_class(key), memoryview(frame)[start:], version)
            response = self._handlers[key](request, version)
        if response is None:
            return None
        header = ResponseHeader(correlation_id=correlation_id)
        header_version = response_header_version(key, version)
        return b"".join(encode_frame(header, header_version, response, version))

    def _say_versions(self, request: Message, version: int) -> Message:
        del request, version
        return self._listed(ErrorCode.NONE)

    def _listed(self, error: ErrorCode) -> ApiVersionsResponse:
        """The versions of what is answered here."""
        return ApiVersionsResponse(
            error_code=error,
            api_keys=[
                ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=newest)
                for key, newest in self._newest.items()
            ],
        )

    def _describe(self, request: Message, version: int) -> Message:
        assert isinstance(request, MetadataRequest)
        is_asked = request.topics is None or (version == 0 and not request.topics)
        for one in request.topics or ():
            is_asked = is_asked or one.name == TOPIC or one.topic_id == TOPIC_ID
        partition = MetadataResponse.Topic.Partition(
            error_code=0,
            partition_index=0,
            leader_id=NODE,
            leader_epoch=LEADER_EPOCH,
            replica_nodes=[NODE],
            isr_nodes=[NODE],
        )
        topic = MetadataResponse.Topic(
            error_code=0, name=TOPIC, topic_id=TOPIC_ID, partitions=[partition]
        )
        return MetadataResponse(
            brokers=[MetadataResponse.Broker(node_id=NODE, host="127.0.0.1", port=self.port)],
            cluster_id="one partition",
            controller_id=NODE,
            topics=[topic] if is_asked else [],
        )

    def _list_offsets(self, request: Message, version: int) -> Message:
        assert isinstance(request, ListOffsetsRequest)
        wanted = request.topics[0].partitions[0].timestamp
        offset = self.log.start_offset if wanted == _EARLIEST else self.log.end_offset
        answer = ListOffsetsResponse.Topic.Partition(
            partition_index=0,
            error_code=0,
            old_style_offsets=[] if version else [offset],
            timestamp=-1,
            offset=offset if version else -1,
            leader_epoch=LEADER_EPOCH if version >= 4 else -1,
        )
        return ListOffsetsResponse(
            topics=[ListOffsetsResponse.Topic(name=TOPIC, partitions=[answer])]
        )

    def _fetch(self, request: Message, version: int) -> Message:
        """Give what lies from an offset on: a whole batch at least, and then as it is cut off."""
        del version
        assert isinstance(request, FetchRequest)
        if not request.topics:
            time.sleep(_IDLE_FETCH_S)
            return FetchResponse(responses=[])
        asked = request.topics[0].partitions[0]
        log, data = self.log, memoryview(self.log.data)
        if request.isolation_level:
            data = data[: _position(log, log.last_stable_offset)]
        records = data[_position(log, asked.fetch_offset) :]
        if not records:
            time.sleep(_IDLE_FETCH_S)
        first_bytes = find_offset(records, asked.fetch_offset).size_bytes
        records = records[: max(first_bytes, min(asked.partition_max_bytes, request.max_bytes))]
        partition = FetchResponse.Topic.Partition
        answer = partition(
            partition_index=0,
            error_code=0,
            high_watermark=log.end_offset,
            last_stable_offset=log.last_stable_offset,
            log_start_offset=log.start_offset,
            aborted_transactions=[
                partition.AbortedTransaction(
                    producer_id=one.producer_id, first_offset=one.first_offset
                )
                for one in log.aborted
                if request.isolation_level and one.marker_offset >= asked.fetch_offset
            ],
            records=records,
        )
        topic = FetchResponse.Topic(topic=TOPIC, topic_id=TOPIC_ID, partitions=[answer])
        return FetchResponse(responses=[topic])

    def _produce(self, request: Message, version: int) -> Message | None:
        assert isinstance(request, ProduceRequest)
        records = request.topic_data[0].partition_data[0].records
        base_offset = BASE_OFFSET_STEP * len(self.produced)
        self.produced.append(
            Produced(
                version, request.acks, request.transactional_id, bytes(records or b""), base_offset
            )
        )
        if request.acks == 0:
            return None
        answer = ProduceResponse.Topic.Partition(index=0, error_code=0, base_offset=base_offset)
        topic = ProduceResponse.Topic(name=TOPIC, topic_id=TOPIC_ID, partition_responses=[answer])
        return ProduceResponse(responses=[topic])

    def _find_coordinator(self, request: Message, version: int) -> Message:
        assert isinstance(request, FindCoordinatorRequest)
        if version < 4:
            return FindCoordinatorResponse(node_id=NODE, host="127.0.0.1", port=self.port)
        coordinators = [
            FindCoordinatorResponse.Coordinator(
                key=key,
                node_id=NODE,
                host="127.0.0.1",
                port=self.port,
                error_code=0,
                error_message=None,
            )
            for key in request.coordinator_keys
        ]
        return FindCoordinatorResponse(coordinators=coordinators)

    def _give_producer_id(self, request: Message, version: int) -> Message:
        del request, version
        return InitProducerIdResponse(
            throttle_time_ms=0, error_code=0, producer_id=PRODUCER[0], producer_epoch=PRODUCER[1]
        )

    def _add_partitions(self, request: Message, version: int) -> Message:
        assert isinstance(request, AddPartitionsToTxnRequest)
        assert version < 4, "a client adds partitions to its own transaction only"
        results = [
            TopicResult(
                name=topic.name,
                results_by_partition=[
                    TopicResult.PartitionResult(partition_index=one, partition_error_code=0)
                    for one in topic.partitions
                ],
            )
            for topic in request.v3_and_below_topics
        ]
        return AddPartitionsToTxnResponse(throttle_time_ms=0, results_by_topic_v3_and_below=results)

    def _end_transaction(self, request: Message, version: int) -> Message:
        assert isinstance(request, EndTxnRequest)
        self.ends.append((request.transactional_id, request.committed))
        answer = EndTxnResponse(throttle_time_ms=0, error_code=0)
        if version >= 5:
            answer.producer_id, answer.producer_epoch = PRODUCER
        return answer


def _position(log: Log, offset: int) -> int:
    """Where the first batch lies that ends at or past an offset; the end, if there is none."""
    return find_offset(log.data, offset).position if offset < log.end_offset else len(log.data)
