"""What a replica of the metadata log wants done."""

from dataclasses import dataclass
from typing import TypeAlias

from ottla.core.quorum.election import Election
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.core.quorum.voters import VoterSet
from ottla.wire.fields import Message


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a request goes; servers of which only the address is known have ids below -1."""

    id: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a request, and give back what comes of it."""

    correlation: int
    to: Destination
    request: Message


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer a request."""

    token: int
    response: Message


@dataclass(frozen=True, slots=True)
class StoreElection:
    """Write `quorum-state`, bring it to the device, then say so by `ElectionStored`.

    Nothing else is asked for until then. The voters are written by kraft.version 0 only.
    """

    election: Election
    kraft_version: int
    voters: VoterSet


@dataclass(frozen=True, slots=True)
class FlushLog:
    """Bring the log to the device up to its end, then say so by `LogFlushed`."""


@dataclass(frozen=True, slots=True)
class FreezeSnapshot:
    """Make a snapshot whole that was fetched, then say so by `SnapshotFrozen`."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class BecameLeader:
    """This replica leads: records may be appended, once all below the offset is replayed."""

    epoch: int
    start_offset: int


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """Another replica leads, or for now none does; what is not committed may be lost."""

    leader_id: int | None
    epoch: int


@dataclass(frozen=True, slots=True)
class HighWatermarkMoved:
    """All records below the offset are committed."""

    high_watermark: int


@dataclass(frozen=True, slots=True)
class LogTruncated:
    """Records that were never committed are gone from an offset on."""

    end_offset: int


@dataclass(frozen=True, slots=True)
class SnapshotInstalled:
    """The log begins after a snapshot now, and what was known before is to be forgotten."""

    id: OffsetAndEpoch


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that should not happen, for those who watch."""

    what: str


Effect: TypeAlias = (
    SendRequest
    | Answer
    | StoreElection
    | FlushLog
    | FreezeSnapshot
    | BecameLeader
    | LeaderChanged
    | HighWatermarkMoved
    | LogTruncated
    | SnapshotInstalled
    | Noticed
)
