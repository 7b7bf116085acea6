"""What stands between a loop and its node in a test: it turns the clock, and exchanges the node.

The loop drives the door as it would drive the node. All but the constructor, `ask` and what is
read by properties is called by the loop's thread only.

Invariants
  I-DOOR-1  A node is told of the end of a job only if it began that job.
  I-DOOR-2  Nobody connects to a node before it serves; the loop is told only once that one does.
  I-DOOR-3  What is asked is done between two events of a node, by the thread of its loop.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ottla.broker.effects import Close, Effect, Run, Serving, Stopped
from ottla.broker.events import Connected, Disconnected, Event, Job, JobEnded, Ticked
from ottla.broker.node import Node

Action: TypeAlias = Callable[[], Sequence[Effect]]


class Door:
    """The way to a node."""

    def __init__(self, node: Node) -> None:
        """Lead to a node that is yet to be started."""
        self.node = node
        self.ahead_ms = 0
        self.was_idle = False
        self._now = Ticked(0, 0)
        self._connections: dict[int, None] = {}
        self._jobs: list[Job] = []
        self._asked: deque[tuple[Action, threading.Event]] = deque()
        self._is_serving = self._has_told = False
        self._is_stopped = False

    def start(self, now: Ticked) -> Sequence[Effect]:
        """Start the node."""
        self._now = now
        return self._noted(self.node.start(now))

    def step(self, event: Event) -> Sequence[Effect]:
        """Tell the node of an event, at its own time."""
        if self._is_stopped:
            return ()
        match event:
            case Ticked():
                return self._tick(event)
            case JobEnded(job, _):
                if not any(job is one for one in self._jobs):
                    return ()
                self._jobs = [one for one in self._jobs if one is not job]
            case Connected(number, _, _) if not self._is_serving:
                return [Close(number, "the broker is being reset")]
            case Connected(number, _, _):
                self._connections[number] = None
            case Disconnected(number):
                self._connections.pop(number, None)
            case _:
                pass
        return self._noted(self.node.step(event))

    def next_deadline_ms(self) -> int:
        """By when the time must be told again, on the clock of the loop."""
        if self._asked:
            # Its waking was taken together with an earlier one.
            return self._now.now_ms
        return self.node.next_deadline_ms() - self.ahead_ms

    def ask(self, action: Action) -> threading.Event:
        """Have something done by the loop's thread once it is woken; any thread may ask."""
        done = threading.Event()
        self._asked.append((action, done))
        return done

    def look(self) -> Sequence[Effect]:
        """See whether the node is idle: it serves, with no job under way, and nothing due."""
        is_due = self.node.next_deadline_ms() <= self._now.now_ms + self.ahead_ms
        self.was_idle = self._is_serving and not self._jobs and not is_due
        return ()

    def advance(self, ms: int) -> Sequence[Effect]:
        """Let time have passed."""
        self.ahead_ms += ms
        return self._noted(self.node.step(self._shifted()))

    def replace(self, node: Node) -> Sequence[Effect]:
        """Lead to a new node, which is started; nothing is left that belonged to the old one."""
        assert not self._jobs, "I-DOOR-1"
        self.node, self.ahead_ms, self._is_serving = node, 0, False
        closing = [Close(number, "the broker is reset") for number in self._connections]
        return [*closing, *self._noted(node.start(self._now))]

    def _tick(self, now: Ticked) -> Sequence[Effect]:
        self._now = now
        effects = list(self._noted(self.node.step(self._shifted())))
        while self._asked:
            action, done = self._asked.popleft()
            effects += action()
            done.set()
        return effects

    def _shifted(self) -> Ticked:
        now_ms, wall_ms = self._now
        return Ticked(now_ms + self.ahead_ms, wall_ms + self.ahead_ms)

    def _noted(self, effects: Sequence[Effect]) -> Sequence[Effect]:
        """Take note of what a node wants done, and give what the loop is to do of it."""
        for effect in effects:
            if type(effect) is Run:
                self._jobs.append(effect.job)
            elif type(effect) is Serving:
                self._is_serving = True
            elif type(effect) is Stopped:
                self._is_stopped = True
        if not self._has_told and self._is_serving:
            self._has_told = True
            return effects
        return [effect for effect in effects if type(effect) is not Serving]
