"""A node in a world of its own, asked directly."""

from typing import TypeVar

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.records.builder import BatchOptions, write_batch
from ottla.sim.client import ask_node, create_topic, start_serving
from ottla.sim.disk import SimulatedDisk
from ottla.sim.node import SimulatedNode, format_disk
from ottla.sim.world import World
from ottla.wire.fields import NO_ID, Message, Uuid

_M = TypeVar("_M", bound=Message)
TOPIC = "orders"


class OneNode:
    """A node with a topic of one partition."""

    def __init__(self, configs: dict[str, str] | None = None, **settings: str) -> None:
        self.world = World(1)
        self.disk = SimulatedDisk(lambda: self.world.wall_ms, self.world.chance)
        format_disk(self.disk)
        self.settings = {name.replace("_", "."): value for name, value in settings.items()}
        self.driver = SimulatedNode(self.world, self.disk, self.settings)
        self.node = self.driver.node
        start_serving(self.driver)
        create_topic(self.driver, TOPIC, 1, configs)
        topic = self.node.topics.named(TOPIC)
        assert topic is not None
        self.topic = topic

    def ask(self, message: Message, version: int, wanted: type[_M]) -> _M:
        return ask_node(self.driver, message, version, wanted)

    def batch(self, *values: bytes, **options: int) -> bytes:
        rows = [(n, self.world.wall_ms, b"k", value, ()) for n, value in enumerate(values)]
        return bytes(write_batch(rows, BatchOptions(**options)))

    def produce(
        self, records: bytes | None, version: int = 12, acks: int = -1
    ) -> ProduceResponse.Topic.Partition:
        partition = ProduceRequest.Topic.Partition(index=0, records=records)
        topic = ProduceRequest.Topic(name=TOPIC, partition_data=[partition])
        if version >= 13:
            topic = ProduceRequest.Topic(topic_id=self.topic.id, partition_data=[partition])
        request = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])
        return self.ask(request, version, ProduceResponse).responses[0].partition_responses[0]

    def fetch(
        self, offset: int, version: int = 12, max_wait_ms: int = 0
    ) -> FetchResponse.Topic.Partition:
        response = self.fetch_all([fetch_of(offset, self.topic.id, version)], version, max_wait_ms)
        return response.responses[0].partitions[0]

    def fetch_all(
        self, topics: list[FetchRequest.Topic], version: int, max_wait_ms: int = 0, **options: int
    ) -> FetchResponse:
        request = FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=topics, **options)
        return self.ask(request, version, FetchResponse)


def fetch_of(
    offset: int, topic_id: Uuid = NO_ID, version: int = 12, bytes_max: int = 1 << 20
) -> FetchRequest.Topic:
    """What is asked of the one partition."""
    asked = FetchRequest.Topic.Partition(
        partition=0, fetch_offset=offset, partition_max_bytes=bytes_max
    )
    if version >= 13:
        return FetchRequest.Topic(topic_id=topic_id, partitions=[asked])
    return FetchRequest.Topic(topic=TOPIC, partitions=[asked])
