"""A cluster as the command sees it: its brokers, who leads what, and whom to ask."""

from collections.abc import Callable, Iterable, Sequence
from ssl import SSLContext
from time import monotonic, sleep
from types import TracebackType
from typing import Final, Self, TypeVar

from ottla.api.metadata import MetadataRequest, MetadataResponse
from ottla.cli import Refused
from ottla.cli.client.address import Address
from ottla.cli.client.connection import Connection, ConnectionLost, check, said_error
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

TIMEOUT_SECONDS: Final = 30.0
SETTLE_SECONDS: Final = 3.0
_RETRY_SECONDS: Final = 0.05

_M = TypeVar("_M", bound=Message)
_Found = TypeVar("_Found")
Topic = MetadataResponse.Topic
Partition = MetadataResponse.Topic.Partition


class Cluster:
    """Connections to the brokers of a cluster, opened when there is something to ask."""

    def __init__(
        self,
        addresses: Sequence[Address],
        timeout_seconds: float = TIMEOUT_SECONDS,
        secured: SSLContext | None = None,
    ) -> None:
        self.timeout_seconds = timeout_seconds
        self._addresses = list(addresses)
        self._secured = secured
        self._connections: dict[Address, Connection] = {}
        self._brokers: dict[int, Address] = {}
        self._controller_id = -1
        self.cluster_id: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _value: BaseException | None,
        _: TracebackType | None,
    ) -> None:
        for connection in self._connections.values():
            connection.close()

    @property
    def broker_ids(self) -> list[int]:
        """The brokers that the last look at the metadata showed."""
        return sorted(self._brokers)

    def address_of(self, broker_id: int) -> Address:
        """Where a broker is."""
        if broker_id not in self._brokers:
            known = ", ".join(map(str, self.broker_ids)) or "none"
            raise Refused(f"the cluster has no broker {broker_id}; it has: {known}")
        return self._brokers[broker_id]

    def anyone(self) -> Connection:
        """A connection to any broker that answers, the first named one if it does."""
        for address in self._addresses:
            if address in self._connections:
                return self._connections[address]
        lost: list[ConnectionLost] = []
        for address in self._addresses:
            try:
                return self._connect(address)
            except ConnectionLost as fault:
                lost.append(fault)
        raise lost[0] if len(lost) == 1 else Refused("; ".join(map(str, lost)))

    def broker(self, broker_id: int) -> Connection:
        """A connection to one broker."""
        if broker_id not in self._brokers:
            self.metadata([])
        return self._connect(self.address_of(broker_id))

    def controller(self) -> Connection:
        """A connection to the broker that takes what the controller decides."""
        if self._controller_id not in self._brokers:
            self.metadata([])
        if self._controller_id not in self._brokers:
            return self.anyone()
        return self.broker(self._controller_id)

    def ask(self, request: Message, response: type[_M]) -> _M:
        """Ask any broker."""
        return self.anyone().ask(request, response)

    def metadata(
        self, names: Iterable[str] | None, *, may_create: bool = False
    ) -> MetadataResponse:
        """What the cluster knows of some topics, or with None of all."""
        connection = self.anyone()
        version = connection.version_for(MetadataRequest)
        topics = None if names is None else [MetadataRequest.Topic(name=name) for name in names]
        if version == 0 and not topics:
            topics = []
        request = MetadataRequest(
            topics=topics, allow_auto_topic_creation=may_create or version < 4
        )
        answer = connection.ask(request, MetadataResponse, version=version)
        check(answer.error_code, "the cluster's metadata")
        for topic in answer.topics:
            topic.partitions.sort(key=lambda row: row.partition_index)
        self._brokers = {row.node_id: Address(row.host, row.port) for row in answer.brokers}
        self._controller_id = answer.controller_id
        self.cluster_id = answer.cluster_id
        return answer

    def topics(self) -> list[Topic]:
        """All topics, by name."""
        return sorted(self.metadata(None).topics, key=lambda topic: topic.name or "")

    def topic(self, name: str, *, may_create: bool = False) -> Topic:
        """One topic that is there, with a leader for each partition; it is waited for a little."""

        def look() -> Topic | str:
            found = self.metadata([name], may_create=may_create).topics[0]
            error = ErrorCode.of(found.error_code)
            if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not may_create:
                raise Refused(self._no_topic(name))
            if error and not error.retriable:
                raise Refused(f"topic {name}: {said_error(error)}")
            leaderless = [p.partition_index for p in found.partitions if p.leader_id < 0]
            if not error and not leaderless:
                return found
            return said_error(error) if error else f"partitions {leaderless} have no leader"

        return self.wait_for(f"topic {name}", look)

    def wait_for(self, what: str, look: Callable[[], _Found | str]) -> _Found:
        """Look again and again until there is something else than a reason to wait."""
        deadline = monotonic() + self.timeout_seconds
        pause = _RETRY_SECONDS
        while True:
            found = look()
            if not isinstance(found, str):
                return found
            if monotonic() + pause > deadline:
                raise Refused(f"{what}: {found}, and that did not change in time")
            sleep(pause)
            pause = min(pause * 2, 1.0)

    def settle(self, is_seen: Callable[[], bool]) -> None:
        """Wait a moment until a change is seen, which the controller has accepted already.

        Brokers hear of it a little later, and who asks next should not be told what was before.
        """
        deadline = monotonic() + SETTLE_SECONDS
        while not is_seen() and monotonic() < deadline:
            sleep(_RETRY_SECONDS)

    def _no_topic(self, name: str) -> str:
        import difflib  # noqa: PLC0415  Only a wrong name needs it.

        known = [topic.name for topic in self.topics() if topic.name and not topic.is_internal]
        near = difflib.get_close_matches(name, known, 3, 0.6)
        if near:
            return f"there is no topic {name!r}; did you mean: {', '.join(near)}"
        some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
        return (
            f"there is no topic {name!r}; there are: {some}"
            if known
            else (
                f"there is no topic {name!r}, nor any other; create it: ottla topic create {name}"
            )
        )

    def _connect(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None:
            connection = Connection(address, self.timeout_seconds, self._secured)
            self._connections[address] = connection
        return connection
