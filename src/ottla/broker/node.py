"""The node: one function from what happens to what is to be done.

`step` is its only door. It is told events and answers effects; whoever drives it, a machine or a
simulation, carries those out in order. It has no clock, no thread and no socket, and draws its
chance from what it is given, so the same events bring the same effects.

Logs are not reached by effects: they are called directly over the port of the disk, which the
driver chooses (docs/decisions/0014). What could wait for a device is a job, and an effect.

Invariants
  I-NODE-1  The effects of an event are complete when `step` returns, and are given out once.
  I-NODE-2  Nothing of a frame is kept after the step that brought it.
  I-NODE-3  After `Stopped` there are no effects.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ottla.broker.clock import Chance, Clock
from ottla.broker.connections import Connection
from ottla.broker.dispatch import Dispatch
from ottla.broker.effects import Close, Effect, Stopped
from ottla.broker.events import (
    Connected,
    Disconnected,
    Event,
    JobEnded,
    Received,
    Stopping,
    Ticked,
)
from ottla.broker.fetch_sessions import FetchSessions
from ottla.broker.partition_logs import PartitionLogs
from ottla.broker.partitions import Partitions
from ottla.broker.producer_ids import ProducerIds
from ottla.broker.topics import Topics
from ottla.broker.waiting import Waiting
from ottla.config import broker as rows
from ottla.config.settings import Settings
from ottla.storage.directories import Directories


class Endpoint(NamedTuple):
    """Where clients of a listener are told to connect to."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a node is."""

    node_id: int
    cluster_id: str
    endpoints: Mapping[str, Endpoint]
    """By the name of the listener."""
    rack: str | None = None


class Node:
    """One node of a cluster."""

    def __init__(
        self,
        identity: Identity,
        settings: Settings,
        directories: Directories,
        chance: Chance,
        *,
        is_durable: bool = False,
    ) -> None:
        """Know who it is; `start` opens what lies in its directories.

        With `is_durable` no record counts as committed before it is on the device.
        """
        self.identity = identity
        self.settings = settings
        self.chance = chance
        self._directories = directories
        self._is_durable = is_durable
        self.clock = Clock()
        self.logs: PartitionLogs
        self.effects: list[Effect] = []
        self.topics = Topics()
        self.partitions = Partitions()
        self.waiting = Waiting()
        self.dispatch = Dispatch(self)
        self.fetch_sessions = FetchSessions(
            settings[rows.MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS]
        )
        self.producer_ids = ProducerIds()
        self._connections: dict[int, Connection] = {}
        self._is_stopping = self._is_stopped = False
        self._steps: dict[type[Any], Callable[[Any], None]] = {
            Received: self._receive,
            Ticked: self._tick,
            Connected: self._connect,
            Disconnected: self._disconnect,
            JobEnded: self._end_job,
            Stopping: self._stop,
        }

    def step(self, event: Event) -> list[Effect]:
        """Take in an event, and say what is to be done."""
        assert not self._is_stopped, "I-NODE-3"
        self._steps[type(event)](event)
        effects = self.effects
        if effects:
            self.effects = []
            self._is_stopped = type(effects[-1]) is Stopped
        return effects

    def next_deadline_ms(self) -> int:
        """By when the time must be told again."""
        of_requests, of_logs = self.waiting.next_deadline_ms(), self.logs.next_deadline_ms
        return of_logs if of_requests is None else min(of_requests, of_logs)

    def close(self, connection: Connection, reason: str) -> None:
        """End a connection whose peer does what it may not."""
        self._forget(connection.id)
        self.effects.append(Close(connection.id, reason))

    def start(self, now: Ticked) -> list[Effect]:
        """Open everything; to be called once, before the first event."""
        self.clock.now_ms, self.clock.wall_ms = now
        self.logs = PartitionLogs(self, self._directories, is_durable=self._is_durable)
        effects, self.effects = self.effects, []
        return effects

    def _receive(self, event: Received) -> None:
        connection = self._connections.get(event.connection)
        if connection is not None and not self._is_stopping:
            self.dispatch.receive(connection, event.frame)

    def _tick(self, event: Ticked) -> None:
        clock = self.clock
        assert event.now_ms >= clock.now_ms, "a monotonic clock"
        clock.now_ms, clock.wall_ms = event
        self.waiting.expire(event.now_ms)
        if event.now_ms >= self.logs.next_deadline_ms:
            self.logs.tend()

    def _connect(self, event: Connected) -> None:
        connection = Connection(event.connection, event.listener, event.address)
        self._connections[event.connection] = connection

    def _disconnect(self, event: Disconnected) -> None:
        self._forget(event.connection)

    def _forget(self, number: int) -> None:
        """Let nothing of a connection wait any more."""
        connection = self._connections.pop(number, None)
        if connection is None:
            return
        for request in connection.slots:
            if request.parked is not None and not request.is_done:
                self.waiting.drop(request.parked)
        connection.slots.clear()

    def _end_job(self, event: JobEnded) -> None:
        self.logs.ended(event)

    def _stop(self, event: Stopping) -> None:
        del event
        self._is_stopping = True
        self.logs.stop()
