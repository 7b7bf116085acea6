"""What a log needs to know of its topic's options, as plain values."""

from dataclasses import dataclass, field
from typing import Final

from ottla.storage.segment import SegmentOptions

UNLIMITED: Final = -1
_DAY_MS: Final = 24 * 60 * 60 * 1000
_INT64_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class LogOptions:
    """Kafka's defaults, unless said otherwise."""

    segment: SegmentOptions = field(default_factory=SegmentOptions)
    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * _DAY_MS
    segment_jitter_ms: int = 0
    is_deleted: bool = True
    """Does the clean-up policy delete old segments?"""
    is_compacted: bool = False
    """Does the clean-up policy keep the newest record of each key only?"""
    retention_ms: int = 7 * _DAY_MS
    retention_bytes: int = UNLIMITED
    flush_messages: int = _INT64_MAX
    flush_ms: int = _INT64_MAX
    file_delete_delay_ms: int = 60_000
    """How long the files of a deleted segment or log are left to those who still read them."""

    @property
    def asks_for_flushes(self) -> bool:
        """Is a log to be brought to the device by messages or by time?"""
        return self.flush_messages < _INT64_MAX or self.flush_ms < _INT64_MAX
