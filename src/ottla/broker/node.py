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

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from ottla.broker.active_controller import ActiveController
from ottla.broker.broker_life import BrokerLife, Stage
from ottla.broker.clock import Chance, Clock, draw_id
from ottla.broker.committed import Committed
from ottla.broker.connections import Connection
from ottla.broker.deciding import METADATA
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
from ottla.broker.metadata_quorum import MetadataQuorum
from ottla.broker.partition_logs import PartitionLogs
from ottla.broker.partitions import Partitions
from ottla.broker.producer_ids import ProducerIds
from ottla.broker.publication import publish, publish_topics
from ottla.broker.topics import Topics
from ottla.broker.waiting import Waiting
from ottla.config import broker as rows
from ottla.config.known import KNOWN
from ottla.config.quorum import METADATA_LOG_DIR
from ottla.config.settings import Settings
from ottla.storage.directories import Directories
from ottla.storage.directory import Directory
from ottla.storage.directory_faults import DirectoryRefused
from ottla.wire.fields import NO_ID, Uuid


class Endpoint(NamedTuple):
    """Where clients of a listener are told to connect to."""

    host: str
    port: int


CONTROLLER: Final = Endpoint("localhost", 9093)
"""Where the metadata log says that other nodes of the quorum would connect."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a node is."""

    node_id: int
    cluster_id: str
    endpoints: Mapping[str, Endpoint]
    """By the name of the listener."""
    rack: str | None = None
    controller: Endpoint = CONTROLLER


class Node:
    """One node of a cluster."""

    def __init__(
        self,
        identity: Identity,
        static: Mapping[str, str],
        directories: Directories,
        chance: Chance,
        *,
        is_durable: bool = False,
    ) -> None:
        """Know who it is, and the settings of its file; `start` opens what lies in its directories.

        With `is_durable` no record counts as committed before it is on the device.
        """
        self.identity = identity
        self.static = static
        self.settings = Settings.of_broker(KNOWN, static)
        self.chance = chance
        self._directories = directories
        self._is_durable = is_durable
        self.clock = Clock()
        self.quorum: MetadataQuorum
        self.committed: Committed
        self.controller = ActiveController(self)
        self.life = BrokerLife(self)
        self.logs: PartitionLogs
        self._has_logs = False
        self._metadata_ms = 0
        # What is to be done once all below an offset of the metadata log is committed.
        self._actions: deque[tuple[int, Callable[[], None]]] = deque()
        self.effects: list[Effect] = []
        self.topics = Topics()
        self.partitions = Partitions()
        self.waiting = Waiting()
        self.dispatch = Dispatch(self)
        self.fetch_sessions = FetchSessions(
            self.settings[rows.MAX_INCREMENTAL_FETCH_SESSION_CACHE_SLOTS]
        )
        self.producer_ids = ProducerIds(self)
        self._connections: dict[int, Connection] = {}
        self._is_stopping = self._is_closing = self._is_stopped = False
        self._steps: dict[type[Any], Callable[[Any], None]] = {
            Ticked: self._tick,
            Connected: self._connect,
            Disconnected: self._disconnect,
            JobEnded: self._end_job,
            Stopping: self._stop,
        }

    def step(self, event: Event) -> list[Effect]:
        """Take in an event, and say what is to be done."""
        assert not self._is_stopped, "I-NODE-3"
        if type(event) is Received:
            connection = self._connections.get(event.connection)
            if connection is not None and not self._is_stopping:
                self.dispatch.receive(connection, event.frame)
        else:
            self._steps[type(event)](event)
        effects = self.effects
        if effects:
            self.effects = []
            self._is_stopped = type(effects[-1]) is Stopped
        return effects

    def next_deadline_ms(self) -> int:
        """By when the time must be told again."""
        deadline_ms = self._metadata_ms
        if self._has_logs:
            deadline_ms = min(deadline_ms, self.logs.next_deadline_ms)
        of_requests = self.waiting.next_deadline_ms()
        return deadline_ms if of_requests is None else min(of_requests, deadline_ms)

    def close(self, connection: Connection, reason: str) -> None:
        """End a connection whose peer does what it may not."""
        self._forget(connection.id)
        self.effects.append(Close(connection.id, reason))

    def start(self, now: Ticked) -> list[Effect]:
        """Open the metadata log; to be called once, before the first event."""
        self.clock.now_ms, self.clock.wall_ms = now
        self.quorum = MetadataQuorum(self, self._metadata_directory())
        self.committed = Committed(self.quorum.log)
        self.quorum.tick()
        self._note_metadata_ms()
        effects, self.effects = self.effects, []
        return effects

    def when_committed(self, offset: int, action: Callable[[], None]) -> None:
        """Do something once all below an offset of the metadata log is committed."""
        if self.committed.end.end_offset >= offset:
            action()
        else:
            self._actions.append((offset, action))

    def committed_to(self, high_watermark: int) -> None:
        """Follow the metadata log: replay, do what has changed, and let those go on who waited."""
        replayed_bytes = self.committed.catch_up(high_watermark)
        changes = self.committed.image.take_changes()
        if self._has_logs and self.life.stage is not Stage.GONE:
            publish(self, changes)
        self.controller.committed()
        is_ready = self.controller.is_active and not self._has_logs and not self._is_stopping
        if is_ready and self.controller.end_offset <= self.committed.end.end_offset:
            self._open_logs()
        actions = self._actions
        while actions and actions[0][0] <= self.committed.end.end_offset:
            actions.popleft()[1]()
        self.waiting.wake(METADATA)
        self.quorum.snapshot_if_due(self.committed, replayed_bytes)
        self._note_metadata_ms()

    def directory_id(self, directory: Directory) -> Uuid:
        """The id of a directory; one of an old release is given one."""
        directory.give_id(lambda: draw_id(self.chance), self.clock.wall_ms)
        return directory.meta.directory_id or NO_ID

    def directory_ids(self) -> list[Uuid]:
        """The ids of all directories whose disks are well."""
        return [self.directory_id(one) for one in self._directories.live]

    def close_logs(self) -> None:
        """Close every log, and be told so by `logs_closed`."""
        if self._has_logs:
            self.logs.stop()
        else:
            self.logs_closed()

    def logs_closed(self) -> None:
        """All logs of partitions are closed: end with what remains."""
        self._is_closing = True
        self._end_if_idle()

    def abandon(self) -> None:
        """Let go of all that is open as the end of a process does: nothing is written any more."""
        if self._has_logs:
            for hosted in self.logs.logs.all():
                hosted.log.abandon()
        self.quorum.close()
        self._directories.release()

    def _end_if_idle(self) -> None:
        if self._is_closing and self.quorum.is_idle:
            self._is_closing = False
            self.quorum.close()
            self._directories.release()
            self.effects.append(Stopped())

    def _open_logs(self) -> None:
        self._has_logs = True
        publish_topics(self)
        self.logs = PartitionLogs(self, self._directories, is_durable=self._is_durable)
        self.life.begin(self.logs.clean_epoch)

    def _metadata_directory(self) -> Directory:
        wanted = self.settings[METADATA_LOG_DIR] or self._directories.opened[0].path
        for one in self._directories.opened:
            if one.path == wanted:
                return one
        raise DirectoryRefused("metadata.log.dir has to be one of the log directories", wanted)

    def _tick(self, event: Ticked) -> None:
        clock = self.clock
        assert event.now_ms >= clock.now_ms, "a monotonic clock"
        clock.now_ms, clock.wall_ms = event
        self.waiting.expire(event.now_ms)
        if self._has_logs and event.now_ms >= self.logs.next_deadline_ms:
            self.logs.tend()
        if event.now_ms >= self._metadata_ms:
            self._tick_metadata()

    def _tick_metadata(self) -> None:
        """Do what is due of the quorum, the broker's life and the controller."""
        self.quorum.tick()
        # The own heartbeat comes first: a process that was held up is not dead.
        self.life.tick()
        self.controller.tick()
        self._note_metadata_ms()

    def _note_metadata_ms(self) -> None:
        """Know when something of the metadata is due again."""
        times = (self.life.next_deadline_ms(), self.controller.next_deadline_ms())
        own = self.quorum.next_deadline_ms()
        self._metadata_ms = min([own, *(time for time in times if time is not None)])

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
        if self.quorum.ended(event):
            self._note_metadata_ms()
            self._end_if_idle()
        else:
            self.logs.ended(event)

    def _stop(self, event: Stopping) -> None:
        del event
        self._is_stopping = True
        self.life.leave()
        self._note_metadata_ms()
