"""The real driver of a node: one readiness loop that turns what happens into its events.

A wake-up tells the time once, then what each ready connection brought, and sends what came of that.
Nothing wakes the loop while nothing happens: it sleeps until a socket is ready, a job has ended,
somebody calls `wake`, or the node's own next deadline.
"""

import socket
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

from ottla.broker import effects as kinds
from ottla.broker.effects import Effect
from ottla.broker.events import Connected, Disconnected, Event, Received, Stopping, Ticked
from ottla.runtime.connections import Gone, SocketConnection
from ottla.runtime.disk_threads import DiskThreads
from ottla.runtime.listeners import Listener
from ottla.runtime.pollers import READ, WRITE, Poller

_Rare: TypeAlias = (
    kinds.Close
    | kinds.Pause
    | kinds.Resume
    | kinds.Run
    | kinds.Notice
    | kinds.Serving
    | kinds.Stopped
)
_NS_PER_MS: Final = 1_000_000
_SLEEP_MAX_S: Final = 3600.0
"""A deadline may be never, which no call of the system takes."""
_LINGER_S: Final = 1.0
"""How long a stop waits for peers to take what was answered."""


def clock_tick() -> Ticked:
    """The time now."""
    return Ticked(time.monotonic_ns() // _NS_PER_MS, time.time_ns() // _NS_PER_MS)


class Driven(Protocol):
    """What a loop drives: a node, or what somebody has put before one."""

    def start(self, now: Ticked) -> Sequence[Effect]:
        """Begin; called once, before the first event."""
        ...

    def step(self, event: Event) -> Sequence[Effect]:
        """Take in an event, and say what is to be done."""
        ...

    def next_deadline_ms(self) -> int:
        """By when the time must be told again."""
        ...


class Loop:
    """Runs a node until it is asked to stop."""

    def __init__(
        self,
        node: Driven,
        listeners: Iterable[Listener],
        poller: Poller,
        notice: Callable[[kinds.Notice], None],
        frame_bytes_max: int,
    ) -> None:
        """Serve a node that has been started on listeners that are open."""
        self._node = node
        self._poller = poller
        self._notice = notice
        self._frame_bytes_max = frame_bytes_max
        self._listeners = {one.descriptor: one for one in listeners}
        self._connections: dict[int, SocketConnection] = {}  # By descriptor.
        self._by_number: dict[int, SocketConnection] = {}
        self._last_number = 0
        self._to_flush: dict[int, SocketConnection] = {}
        self._is_stopping = self._is_stopped = False
        self._waker, self._woken = socket.socketpair()
        for end in (self._waker, self._woken):
            end.setblocking(False)
        self._disk_threads = DiskThreads(self.wake)
        self._is_serving = False
        poller.add(self._woken.fileno(), READ)

    @property
    def wake_descriptor(self) -> int:
        """What a signal may write to, to wake the loop."""
        return self._waker.fileno()

    def wake(self) -> None:
        """Let the loop look around; any thread may call it."""
        try:
            self._waker.send(b"\0")
        except BlockingIOError:
            return

    def stop(self) -> None:
        """Ask for a clean stop; any thread or signal may call it."""
        self._is_stopping = True
        self.wake()

    def start(self) -> None:
        """Let the node come up; clients can connect afterwards, unless it was asked to stop."""
        while not self._is_serving and not self._is_stopped:
            self.turn()

    def run(self) -> None:
        """Serve until stopped; if the node fails its peers see that, too."""
        try:
            while not self._is_stopped:
                self.turn()
        finally:
            self._close_all()

    def turn(self) -> None:
        """Wait until something happens, and see to it."""
        ready = self._poller.wait(self._timeout_s())
        self.carry_out(self._node.step(clock_tick()))
        for descriptor, events in ready:
            connection = self._connections.get(descriptor)
            if connection is not None:
                self._serve(connection, events)
            elif descriptor in self._listeners:
                self._accept(self._listeners[descriptor])
            elif descriptor == self._woken.fileno():
                self._look_around()
        if self._to_flush:
            self._flush_all()

    def carry_out(self, effects: Sequence[Effect]) -> None:
        """Do what the node wants done."""
        for effect in effects:
            if isinstance(effect, kinds.Send):
                number, parts = effect
                connection = self._by_number.get(number)
                if connection is not None:
                    connection.send(parts)
                    self._to_flush[number] = connection
            else:
                self._do(effect)

    def _timeout_s(self) -> float:
        deadline_ms = self._node.next_deadline_ms()
        # A millisecond later is after the deadline, whatever was cut off of the time.
        return min(max(0.0, (deadline_ms + 1) / 1000 - time.monotonic()), _SLEEP_MAX_S)

    def _do(self, effect: _Rare) -> None:
        match effect:
            case kinds.Close(number, reason):
                self._notice(kinds.Notice("connection-closed", str(number), reason))
                connection = self._by_number.get(number)
                if connection is not None:
                    connection.is_closing = True
                    self._to_flush[number] = connection
            case kinds.Pause(number):
                self._pause(number, is_paused=True)
            case kinds.Resume(number):
                self._pause(number, is_paused=False)
            case kinds.Run(job):
                self._disk_threads.run(job)
            case kinds.Notice():
                self._notice(effect)
            case kinds.Serving():
                self._listen()
            case kinds.Stopped():
                self._is_stopped = True

    def _pause(self, number: int, *, is_paused: bool) -> None:
        connection = self._by_number.get(number)
        if connection is not None:
            connection.is_paused = is_paused
            self._to_flush[number] = connection

    def _listen(self) -> None:
        """Take connections from now on."""
        self._is_serving = True
        for descriptor in self._listeners:
            self._poller.add(descriptor, READ)

    def _accept(self, listener: Listener) -> None:
        for sock, address in listener.accept():
            self._last_number += 1
            number = self._last_number
            connection = SocketConnection(number, sock, self._frame_bytes_max)
            self._connections[connection.descriptor] = connection
            self._by_number[number] = connection
            connection.watched = READ
            self._poller.add(connection.descriptor, READ)
            self.carry_out(self._node.step(Connected(number, listener.name, address)))

    def _serve(self, connection: SocketConnection, events: int) -> None:
        try:
            if events & ~WRITE and connection.wants_to_read:
                connection.receive()
                self._give_out(connection)
            elif events & ~(READ | WRITE) and not connection.wants_to_write:
                raise Gone("the connection failed")
            if events & WRITE:
                self._to_flush[connection.number] = connection
        except Gone as gone:
            self._lose(connection, str(gone))

    def _give_out(self, connection: SocketConnection) -> None:
        """Tell the node of every frame that has come."""
        step, number = self._node.step, connection.number
        next_frame, carry_out = connection.next_frame, self.carry_out
        frame = next_frame()
        while frame is not None:
            carry_out(step(Received(number, frame)))
            frame = next_frame()
        connection.settle()

    def _flush_all(self) -> None:
        """Send what waits, and go on with connections whose peers have taken enough."""
        while self._to_flush:
            _, connection = self._to_flush.popitem()
            try:
                connection.flush()
                wants_to_read = connection.wants_to_read
                if wants_to_read and connection.start < connection.end:
                    self._give_out(connection)
                    wants_to_read = connection.wants_to_read
            except Gone as gone:
                self._lose(connection, str(gone))
                continue
            if connection.is_closing and not connection.wants_to_write:
                self._lose(connection, "")
                continue
            wanted = READ if wants_to_read else 0
            if connection.wants_to_write:
                wanted |= WRITE
            if wanted != connection.watched:
                connection.watched = wanted
                self._poller.change(connection.descriptor, wanted)

    def _lose(self, connection: SocketConnection, reason: str) -> None:
        """Forget a connection that is over."""
        if self._by_number.pop(connection.number, None) is None:
            return
        del self._connections[connection.descriptor]
        self._to_flush.pop(connection.number, None)
        self._poller.remove(connection.descriptor)
        connection.close()
        if reason and not connection.is_closing:
            self._notice(kinds.Notice("connection-lost", str(connection.number), reason))
        self.carry_out(self._node.step(Disconnected(connection.number)))

    def _look_around(self) -> None:
        """See why somebody has woken the loop."""
        try:
            while self._woken.recv(4096):
                pass
        except BlockingIOError:
            pass
        for ended in self._disk_threads.take():
            self.carry_out(self._node.step(ended))
        if self._is_stopping and not self._is_stopped:
            self._stop()

    def _stop(self) -> None:
        """Take no more connections, answer what is under way, and close everything."""
        for descriptor, listener in self._listeners.items():
            if self._is_serving:
                self._poller.remove(descriptor)
            listener.close()
        self._listeners.clear()
        self.carry_out(self._node.step(Stopping()))

    def _close_all(self) -> None:
        for listener in self._listeners.values():
            listener.close()
        deadline = time.monotonic() + _LINGER_S
        waiting = [one for one in self._by_number.values() if one.wants_to_write]
        while waiting and time.monotonic() < deadline:
            self._poller.wait(0.01)
            for connection in waiting:
                try:
                    connection.flush()
                except Gone:
                    connection.close()
            waiting = [one for one in waiting if one.wants_to_write]
        for connection in self._by_number.values():
            connection.close()
        self._disk_threads.stop()
        self._poller.close()
        for end in (self._waker, self._woken):
            end.close()
