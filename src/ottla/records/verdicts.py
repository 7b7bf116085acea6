"""What a check of a batch answers: the wire error, why, and which records are to blame."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from ottla.records.batch import BatchHeader

# The errors of `ottla.errors` that bytes of batches can earn, by number.
NONE: Final = 0
CORRUPT_MESSAGE: Final = 2
MESSAGE_TOO_LARGE: Final = 10
INVALID_TIMESTAMP: Final = 32
UNSUPPORTED_FOR_MESSAGE_FORMAT: Final = 43
UNSUPPORTED_COMPRESSION_TYPE: Final = 76
INVALID_RECORD: Final = 87


@dataclass(frozen=True, slots=True)
class RecordError:
    """One record of a refused batch, as a Produce answer lists it."""

    index: int
    message: str


class Verdict(NamedTuple):
    """Whether a batch may be appended, and what was learned of it on the way.

    `inflated` is the records section of a compressed batch, so that nobody inflates it again.
    """

    error: int
    reason: str = ""
    record_errors: tuple[RecordError, ...] = ()
    header: BatchHeader | None = None
    inflated: bytes | None = None
    max_timestamp: int = -1
    max_timestamp_index: int = -1
