"""What happens to a replica of the metadata log."""

from dataclasses import dataclass
from typing import TypeAlias

from ottla.core.quorum.log import OffsetAndEpoch
from ottla.wire.fields import Message


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time went by; the first clock never goes back and is for deadlines, the second is shown."""

    now_ms: int
    wall_ms: int


@dataclass(frozen=True, slots=True)
class RequestReceived:
    """A request came; the answer will name the token and be of the same version."""

    token: int
    version: int
    request: Message


@dataclass(frozen=True, slots=True)
class ResponseReceived:
    """A request of ours was answered, or never will be: then there is no response.

    If the peer is too old for the request, a response says UNSUPPORTED_VERSION.
    """

    correlation: int
    response: Message | None


@dataclass(frozen=True, slots=True)
class ElectionStored:
    """What `StoreElection` asked for is on the device."""


@dataclass(frozen=True, slots=True)
class LogFlushed:
    """What `FlushLog` asked for is on the device; the log's `flushed_offset` says how far."""


@dataclass(frozen=True, slots=True)
class SnapshotFrozen:
    """A snapshot that was fetched is whole and on the device, and the log knows it."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class ResignRequested:
    """Whoever leads by this replica cannot go on in this epoch."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Stopping:
    """The node is about to stop: no candidacy any more, and a leader hands over."""


Event: TypeAlias = (
    Ticked
    | RequestReceived
    | ResponseReceived
    | ElectionStored
    | LogFlushed
    | SnapshotFrozen
    | ResignRequested
    | Stopping
)
