"""What can happen to a node: the only things that `Node.step` is told."""

from typing import NamedTuple, Protocol, TypeAlias


class Job(Protocol):
    """Work that may wait for a device; it owns no state, so any thread may run it."""

    def run(self) -> None:
        """Do it; an `OSError` is its outcome, too."""
        ...


class Ticked(NamedTuple):
    """The time, told before the other events of a wake-up.

    `now_ms` never goes back and is for deadlines; `wall_ms` stamps records, and may jump.
    """

    now_ms: int
    wall_ms: int


class Connected(NamedTuple):
    """A peer has connected to a listener; the number is never used again."""

    connection: int
    listener: str
    address: str


class Received(NamedTuple):
    """A whole frame without its length. It is a view that may be kept only during the step."""

    connection: int
    frame: memoryview


class Disconnected(NamedTuple):
    """A connection is gone, whoever ended it."""

    connection: int


class JobEnded(NamedTuple):
    """A job has run; the fault is None if it did all."""

    job: Job
    fault: OSError | None


class Stopping(NamedTuple):
    """The node is asked to end: what waits is answered, and every log is closed cleanly."""


Event: TypeAlias = Ticked | Connected | Received | Disconnected | JobEnded | Stopping
