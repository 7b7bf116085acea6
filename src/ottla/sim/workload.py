"""What simulated clients do, and what they hold a node to.

Invariants, checked while it runs and at its end
  I-SIM-1  What was acknowledged is there, at the offset that was told.
  I-SIM-2  An offset has one value, for every reader and at every time; and it was sent.
  I-SIM-3  A reader sees every offset once, in order.
  I-SIM-4  Every request is answered, or its connection breaks, soon after its time is over.
"""

from collections.abc import Callable
from typing import Final

from ottla.api.fetch import FetchRequest, FetchResponse
from ottla.api.produce import ProduceRequest, ProduceResponse
from ottla.records.builder import write_batch
from ottla.records.reader import read_records
from ottla.records.scan import scan
from ottla.sim.client import SimulatedClient
from ottla.sim.world import World
from ottla.wire.fields import Message

PRODUCE_VERSION: Final = 12
FETCH_VERSION: Final = 12
MAX_WAIT_MS: Final = 200
PATIENCE_MS: Final = MAX_WAIT_MS + 50
"""A request's own time, and that of the network."""
RETRY_MS: Final = 20


class BrokenPromise(AssertionError):
    """A node did what it must not; the text says which invariant, and where."""


class Promises:
    """What was sent and told to anybody, of one partition."""

    def __init__(self) -> None:
        self.sent: set[bytes] = set()
        self.values: dict[int, bytes] = {}  # By offset, as anybody was told.
        self.acknowledged_end = 0

    def acknowledge(self, base_offset: int, values: list[bytes]) -> None:
        """Values were acknowledged at offsets from one on."""
        for offset, value in enumerate(values, base_offset):
            self._tell(offset, value)
        self.acknowledged_end = max(self.acknowledged_end, base_offset + len(values))

    def see(self, offset: int, value: bytes) -> None:
        """A reader saw a value."""
        if value not in self.sent:
            raise BrokenPromise(f"I-SIM-2: {value!r} at {offset} was never sent")
        self._tell(offset, value)

    def _tell(self, offset: int, value: bytes) -> None:
        before = self.values.setdefault(offset, value)
        if before != value:
            raise BrokenPromise(f"I-SIM-2: offset {offset} was {before!r}, and now {value!r}")


class Producing:
    """A client that appends now and then."""

    def __init__(
        self,
        client: SimulatedClient,
        topic: str,
        promises: Promises,
        acks: tuple[int, ...] = (-1, 1),
    ) -> None:
        """`acks` are what its requests ask for, drawn each time."""
        self.client = client
        self._topic = topic
        self._promises = promises
        self._acks = acks
        self._count = 0

    def start(self, pause_ms_max: int, until_ms: int) -> None:
        """Send batches until a time."""
        world = self.client.world

        def again() -> None:
            if world.now_ms < until_ms:
                self.send()
                world.soon(pause_ms_max, again)

        world.soon(pause_ms_max, again)

    def send(self) -> None:
        """Send one batch."""
        chance, wall_ms = self.client.world.chance, self.client.world.wall_ms
        values: list[bytes] = []
        for _ in range(chance.randrange(1, 4)):
            self._count += 1
            values.append(f"{self.client.name}-{self._count}".encode())
        self._promises.sent.update(values)
        rows = [(n, wall_ms, None, value, ()) for n, value in enumerate(values)]
        partition = ProduceRequest.Topic.Partition(index=0, records=bytes(write_batch(rows)))
        request = ProduceRequest(
            acks=chance.choice(self._acks),
            timeout_ms=MAX_WAIT_MS,
            topic_data=[ProduceRequest.Topic(name=self._topic, partition_data=[partition])],
        )

        def answered(message: Message) -> None:
            assert isinstance(message, ProduceResponse)
            told = message.responses[0].partition_responses[0]
            if told.error_code == 0:
                self._promises.acknowledge(told.base_offset, values)

        self.client.ask(request, PRODUCE_VERSION, answered)


class Consuming:
    """A client that reads from the start to the end, and waits there for more."""

    def __init__(self, client: SimulatedClient, topic: str, promises: Promises) -> None:
        self.client = client
        self.position = 0
        self._topic = topic
        self._promises = promises

    def start(self, until_ms: int) -> None:
        """Read until a time."""
        world = self.client.world

        def again() -> None:
            if world.now_ms < until_ms and not self.client.has_open:
                self.fetch(MAX_WAIT_MS, again)
                world.after(PATIENCE_MS, again)

        again()

    def fetch(self, max_wait_ms: int, then: Callable[[], None]) -> None:
        """Ask for what comes next."""
        asked = FetchRequest.Topic.Partition(
            partition=0,
            fetch_offset=self.position,
            partition_max_bytes=self.client.world.chance.choice((50, 1000, 1 << 20)),
        )
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            topics=[FetchRequest.Topic(topic=self._topic, partitions=[asked])],
        )

        def answered(message: Message) -> None:
            assert isinstance(message, FetchResponse)
            told = message.responses[0].partitions[0]
            if told.error_code:
                self.client.world.after(RETRY_MS, then)
                return
            self._read(bytes(told.records or b""))
            then()

        self.client.ask(request, FETCH_VERSION, answered)

    def _read(self, data: bytes) -> None:
        for row in scan(data).rows:
            batch = data[row.position : row.position + row.size_bytes]
            for record in read_records(batch, bytes_max=1 << 20):
                if record.offset < self.position:
                    continue
                if record.offset > self.position:
                    gap = f"{record.offset} came, not {self.position}"
                    raise BrokenPromise(f"I-SIM-3: {self.client.name}: {gap}")
                self._promises.see(record.offset, bytes(record.value or b""))
                self.position += 1


def watch_patience(world: World, clients: list[SimulatedClient], until_ms: int) -> None:
    """Fail once a client has waited for too long."""

    def look() -> None:
        for client in clients:
            waited_ms = world.now_ms - client.waits_since_ms
            if waited_ms > PATIENCE_MS:
                raise BrokenPromise(f"I-SIM-4: {client.name} has waited for {waited_ms} ms")
        if world.now_ms < until_ms:
            world.after(RETRY_MS, look)

    look()


def check_all_read(consuming: Consuming, promises: Promises) -> None:
    """At the end, what was acknowledged must have been read."""
    if consuming.position < promises.acknowledged_end:
        end = f"it ends at {consuming.position}, and {promises.acknowledged_end} was acknowledged"
        raise BrokenPromise(f"I-SIM-1: {end}")
