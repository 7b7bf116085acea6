"""What the cleaner of a node needs to know of its options, as plain values."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from ottla.config.log import (
    LOG_CLEANER_BACKOFF_MS,
    LOG_CLEANER_DEDUPE_BUFFER_SIZE,
    LOG_CLEANER_ENABLE,
    LOG_CLEANER_IO_BUFFER_LOAD_FACTOR,
    LOG_CLEANER_IO_MAX_BYTES_PER_SECOND,
    LOG_CLEANER_THREADS,
)
from ottla.config.settings import Settings
from ottla.kernels.compaction import ENTRY_BYTES

_MAP_BYTES_MAX: Final = 2**31 - 1
_SLOTS_MIN: Final = 2
_LOAD_FACTOR_MIN: Final = 0.01


@dataclass(frozen=True, slots=True)
class CleanerOptions:
    """Kafka's defaults, unless said otherwise."""

    is_enabled: bool = True
    threads: int = 1
    """How many logs are cleaned at once."""
    map_bytes: int = 128 << 20
    """What the maps of all cleanings may take together."""
    load_factor: float = 0.9
    """How full a map may be."""
    bytes_per_second: float = 1.7976931348623157e308
    """How much all cleanings may read and write together."""
    backoff_ms: int = 15_000
    """How long to wait where there was nothing to clean."""

    def map_size(self, offsets_count: int) -> tuple[int, int]:
        """The bytes of the map of one cleaning, and its keys, where there are so many at most."""
        map_bytes = min(self.map_bytes // max(self.threads, 1), _MAP_BYTES_MAX)
        # The options may be any numbers.
        load_factor = min(max(self.load_factor, _LOAD_FACTOR_MIN), 1.0)
        wanted = ceil(offsets_count / load_factor) + _SLOTS_MIN
        slots = max(_SLOTS_MIN, min(map_bytes // ENTRY_BYTES, wanted))
        keys_max = max(1, min(int(slots * load_factor), slots - 1))
        return slots * ENTRY_BYTES, keys_max


def cleaner_options_of(settings: Settings) -> CleanerOptions:
    """What the options of a broker ask for."""
    return CleanerOptions(
        is_enabled=settings[LOG_CLEANER_ENABLE],
        threads=settings[LOG_CLEANER_THREADS],
        map_bytes=settings[LOG_CLEANER_DEDUPE_BUFFER_SIZE],
        load_factor=settings[LOG_CLEANER_IO_BUFFER_LOAD_FACTOR],
        bytes_per_second=settings[LOG_CLEANER_IO_MAX_BYTES_PER_SECOND],
        backoff_ms=settings[LOG_CLEANER_BACKOFF_MS],
    )
