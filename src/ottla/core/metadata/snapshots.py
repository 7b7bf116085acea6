"""When a snapshot is due, and the records that a new cluster begins with."""

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.api.metadata_records import FeatureLevelRecord
from ottla.core.metadata.features import FEATURES, default_level
from ottla.core.metadata.levels import LEVEL_MAX, METADATA_VERSION


@dataclass(slots=True)
class SnapshotRule:
    """A snapshot is due after so many bytes of records, or so long after the last, if any came."""

    bytes_max: int
    interval_ms: int
    """0 if time alone makes none due."""
    taken_at_ms: int = 0
    bytes_since: int = 0

    def add(self, size_bytes: int) -> None:
        """So many bytes of records were replayed."""
        self.bytes_since += size_bytes

    def is_due(self, now_ms: int) -> bool:
        """Whether it is time for one."""
        if self.bytes_since >= self.bytes_max:
            return True
        return self.bytes_since > 0 and 0 < self.interval_ms <= now_ms - self.taken_at_ms

    def take(self, now_ms: int) -> None:
        """One was taken, or one came from elsewhere."""
        self.taken_at_ms, self.bytes_since = now_ms, 0


def bootstrap_records(
    metadata_version: int = LEVEL_MAX, levels: Mapping[str, int] | None = None
) -> list[FeatureLevelRecord]:
    """What the log of a new cluster begins with: the level of each feature, where it is not 0.

    A feature that is not named has the level that is the default of the metadata.version.
    """
    named = {name: default_level(name, metadata_version) for name in sorted(FEATURES)}
    named |= levels or {}
    return [
        FeatureLevelRecord(name=METADATA_VERSION, feature_level=metadata_version),
        *(
            FeatureLevelRecord(name=name, feature_level=level)
            for name, level in named.items()
            if level
        ),
    ]
