"""What a node wants done: the only things that `Node.step` answers with, to be done in order."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from ottla.broker.events import Job
from ottla.storage.segment import Slice
from ottla.wire.fields import Buffer

Part: TypeAlias = Buffer | Slice


class Send(NamedTuple):
    """Send bytes and ranges of files, one after the other; they stay as they are until sent."""

    connection: int
    parts: Sequence[Part]


class Close(NamedTuple):
    """End a connection once what was to be sent before is sent."""

    connection: int
    reason: str


class Pause(NamedTuple):
    """Read no further requests of a connection, and tell of none that has come already."""

    connection: int


class Resume(NamedTuple):
    """Go on with a connection that was paused."""

    connection: int


class Run(NamedTuple):
    """Run a job where it may wait, and tell `JobEnded`; jobs may overtake each other."""

    job: Job


class Notice(NamedTuple):
    """Something that people or their instruments want to know: what, about what, and why."""

    name: str
    subject: str = ""
    detail: str = ""


class Serving(NamedTuple):
    """The node is one of its cluster, and clients may connect."""


class Stopped(NamedTuple):
    """All is closed; there will be no more effects."""


Effect: TypeAlias = Send | Close | Pause | Resume | Run | Notice | Serving | Stopped
