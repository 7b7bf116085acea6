"""Decode and encode the hottest messages beside kio and kafka-python, in one run.

    python -m bench.messages [rounds]

Each round measures every library once, one after the other, so that whatever else the machine does
hits them alike; the least time of all rounds counts, of the processor's time alone. The same bytes
are decoded by all, and each encodes what it decoded. A ratio above 1 says how many times faster
Ottla is.
"""

import importlib
import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from kio.serial import entity_reader, entity_writer

from ottla.api.api_versions import ApiVersionsResponse
from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.heartbeat import HeartbeatRequest
from ottla.api.list_offsets import ListOffsetsRequest
from ottla.api.metadata import MetadataResponse
from ottla.api.offset_commit import OffsetCommitRequest
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.wire.codec import decoder_of, encode
from ottla.wire.fields import Message, Uuid

HEADER = "_header"  # kafka-python decodes without setting it, and reads it to encode.
BATCH = bytes(range(256)) * 4


@dataclass(frozen=True, slots=True)
class Case:
    """One message in one version."""

    title: str
    message: Message
    version: int


def produce_request(partitions: int) -> Message:
    topic = ProduceRequest.Topic
    each = [topic.Partition(index=at, records=BATCH) for at in range(partitions)]
    topics = [topic(name="orders", partition_data=each)]
    return ProduceRequest(acks=-1, timeout_ms=30_000, topic_data=topics)


def produce_response(partitions: int) -> Message:
    topic = ProduceResponse.Topic
    each = [
        topic.Partition(index=at, error_code=0, base_offset=10_000_000 + at, log_start_offset=7)
        for at in range(partitions)
    ]
    return ProduceResponse(responses=[topic(name="orders", partition_responses=each)])


def fetch_request(partitions: int) -> FetchRequest:
    topic = FetchRequest.Topic
    each = [
        topic.Partition(
            partition=at,
            current_leader_epoch=3,
            fetch_offset=1_000_000 + at,
            partition_max_bytes=1 << 20,
        )
        for at in range(partitions)
    ]
    return FetchRequest(
        max_wait_ms=500, min_bytes=1, topics=[topic(topic="orders", partitions=each)]
    )


def fetch_response(partitions: int) -> Message:
    topic = FetchResponse.Topic
    each = [
        topic.Partition(
            partition_index=at,
            error_code=0,
            high_watermark=1_000_000 + at,
            last_stable_offset=1_000_000 + at,
            log_start_offset=0,
            aborted_transactions=None,
            records=BATCH,
        )
        for at in range(partitions)
    ]
    return FetchResponse(responses=[topic(topic="orders", partitions=each)])


def metadata_response() -> Message:
    topic = MetadataResponse.Topic
    topics = [
        topic(
            error_code=0,
            name=f"topic-{number}",
            topic_id=Uuid(number.to_bytes(16, "big")),
            partitions=[
                topic.Partition(
                    error_code=0,
                    partition_index=at,
                    leader_id=1 + at % 3,
                    leader_epoch=5,
                    replica_nodes=[1, 2, 3],
                    isr_nodes=[1, 2, 3],
                    offline_replicas=[],
                )
                for at in range(6)
            ],
        )
        for number in range(1, 101)
    ]
    brokers = [
        MetadataResponse.Broker(node_id=node, host="localhost", port=9092) for node in (1, 2, 3)
    ]
    return MetadataResponse(brokers=brokers, cluster_id="c", controller_id=1, topics=topics)


def offset_commit_request() -> Message:
    topic = OffsetCommitRequest.Topic
    each = [
        topic.Partition(partition_index=at, committed_offset=1_000_000 + at, committed_metadata="")
        for at in range(6)
    ]
    return OffsetCommitRequest(
        group_id="group", generation_id_or_member_epoch=4, member_id="consumer-1",
        topics=[topic(name="orders", partitions=each)],
    )  # fmt: skip


def list_offsets_request() -> Message:
    topic = ListOffsetsRequest.Topic
    each = [
        topic.Partition(partition_index=at, current_leader_epoch=3, timestamp=-1) for at in range(6)
    ]
    return ListOffsetsRequest(replica_id=-1, topics=[topic(name="orders", partitions=each)])


def api_versions_response() -> Message:
    keys = [
        ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=9)
        for key in range(75)
    ]
    return ApiVersionsResponse(error_code=0, api_keys=keys)


CASES = [
    *[Case(f"Produce request, {n} partitions", produce_request(n), 9) for n in (1, 6, 100)],
    *[Case(f"Produce response, {n} partitions", produce_response(n), 9) for n in (1, 6, 100)],
    *[Case(f"Fetch request, {n} partitions", fetch_request(n), 12) for n in (1, 6, 100)],
    *[Case(f"Fetch response, {n} partitions", fetch_response(n), 12) for n in (1, 6, 100)],
    Case("Metadata response, 100 topics x 6", metadata_response(), 12),
    Case("OffsetCommit request", offset_commit_request(), 8),
    Case(
        "Heartbeat request",
        HeartbeatRequest(group_id="group", generation_id=4, member_id="consumer-1"),
        4,
    ),
    Case("ListOffsets request", list_offsets_request(), 7),
    Case("ApiVersions response", api_versions_response(), 3),
]

Work = Callable[[], object]


def ottla_work(case: Case, data: bytes) -> tuple[Work, Work]:
    read, version = decoder_of(type(case.message), case.version), case.version
    message = read(data)
    return lambda: read(data), lambda: encode(message, version)


def kio_work(case: Case, data: bytes) -> tuple[Work, Work]:
    name = type(case.message).__name__
    direction = "request" if name.endswith("Request") else "response"
    folder = type(case.message).__module__.rpartition(".")[2]
    module = importlib.import_module(f"kio.schema.{folder}.v{case.version}.{direction}")
    cls = getattr(module, name)
    read, write = entity_reader(cls), entity_writer(cls)
    message, _ = read(data, 0)

    def written() -> bytes:
        buffer = io.BytesIO()
        write(buffer, message)
        return buffer.getvalue()

    assert written() == data, f"kio writes {case.title} otherwise"
    return lambda: read(data, 0), written


def kafka_python_work(case: Case, data: bytes) -> tuple[Work, Work]:
    name = type(case.message).__name__
    for part in ("consumer", "producer", "metadata", "admin"):
        module = importlib.import_module(f"kafka.protocol.{part}")
        if hasattr(module, name):
            cls = getattr(module, name)
            break
    version = case.version
    message = cls.decode(data, version=version)
    setattr(message, HEADER, None)
    message.encode(version=version)
    return lambda: cls.decode(data, version=version), lambda: message.encode(version=version)


LIBRARIES = [("ottla", ottla_work), ("kio", kio_work), ("kafka-python", kafka_python_work)]


def least_seconds(work: list[Work], rounds: int) -> list[float]:
    """The least time of one call of each, measured in turns."""
    best = [float("inf")] * len(work)
    for _ in range(rounds):
        for at, call in enumerate(work):
            repeats, spent = 1, 0.0
            while spent < 0.004:
                repeats *= 4
                started = time.thread_time()
                for _ in range(repeats):
                    call()
                spent = time.thread_time() - started
            best[at] = min(best[at], spent / repeats)
    return best


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    names = [name for name, _ in LIBRARIES]
    print(f"{'microseconds':<34}{'':<8}" + "".join(f"{name:>14}" for name in names) + "   ratios")
    for case in CASES:
        data = encode(case.message, case.version)
        pairs = [work(case, data) for _, work in LIBRARIES]
        for direction, at in (("decode", 0), ("encode", 1)):
            best = least_seconds([pair[at] for pair in pairs], rounds)
            figures = "".join(f"{seconds * 1e6:>14.2f}" for seconds in best)
            ratios = "  ".join(f"{seconds / best[0]:5.2f}" for seconds in best[1:])
            print(f"{case.title:<34}{direction:<8}{figures}   {ratios}", flush=True)


if __name__ == "__main__":
    main()
