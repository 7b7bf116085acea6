"""What a check of a batch answers: the wire error, why, and which records are to blame."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.errors import ErrorCode
from ottla.records.batch import BatchHeader

NO_KEY_MESSAGE: Final = "a compacted topic takes no record without a key"
APPEND_TIME_MESSAGE: Final = "only the broker may say that a time is the append time"

RECORD_ERRORS_MAX: Final = 10_000
"""How many bad records an answer lists; a batch can hold a million, each worth a line."""


@dataclass(frozen=True, slots=True)
class RecordError:
    """One record of a refused batch, as a Produce answer lists it."""

    index: int
    message: str


class Verdict(NamedTuple):
    """Whether a batch may be appended, and what was learned of it on the way.

    `inflated` is the records section of a compressed batch, so that nobody inflates it again.
    """

    error: ErrorCode
    reason: str = ""
    record_errors: tuple[RecordError, ...] = ()
    header: BatchHeader | None = None
    inflated: bytes | None = None
    max_timestamp: int = -1
    max_timestamp_index: int = -1
