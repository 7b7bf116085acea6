"""The features of a cluster: which there are, which level each is finalized at.

A row says from which metadata.version a level is the default of a new cluster, and which one it
needs; a level of 0 is the absence of a feature. `kraft.version` stands in the log beside the
metadata records, so the image does not hold it: whoever answers for it adds it (`with_kraft`).
"""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ottla.api.metadata_records import FeatureLevelRecord
from ottla.core.metadata.levels import LEVEL_MAX, LEVEL_MIN, LEVELS, METADATA_VERSION
from ottla.kernels.faults import InvalidValue

KRAFT_VERSION: Final = "kraft.version"
ELIGIBLE_LEADER_REPLICAS_VERSION: Final = "eligible.leader.replicas.version"


class FeatureLevel(NamedTuple):
    """One level of a feature."""

    default_from: int
    """The metadata.version whose new clusters have it."""
    needs: int | None = None
    """The lowest metadata.version that it works with, where it asks for one."""


FEATURES: Final[Mapping[str, tuple[FeatureLevel, ...]]] = {
    "transaction.version": (FeatureLevel(24), FeatureLevel(24)),
    "group.version": (FeatureLevel(22),),
    ELIGIBLE_LEADER_REPLICAS_VERSION: (FeatureLevel(26, needs=23),),
    "share.version": (FeatureLevel(28),),
    "streams.version": (FeatureLevel(29),),
}
"""The levels of each feature from 1 on, but for those of metadata.version and kraft.version."""


class Range(NamedTuple):
    """The levels of a feature that a node can work at, both ends within."""

    low: int
    high: int

    def __contains__(self, level: object) -> bool:
        return isinstance(level, int) and self.low <= level <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


SUPPORTED: Final[Mapping[str, Range]] = {
    METADATA_VERSION: Range(LEVEL_MIN, LEVEL_MAX),
    KRAFT_VERSION: Range(0, 1),
    **{name: Range(0, len(levels)) for name, levels in FEATURES.items()},
}
"""What this program works at, as nodes announce it when they register."""


def default_level(feature: str, metadata_version: int) -> int:
    """The level that a feature has in a new cluster of a metadata.version."""
    return sum(row.default_from <= metadata_version for row in FEATURES[feature])


class Features:
    """The finalized levels; metadata.version is None until the log has said it."""

    __slots__ = ("before", "levels", "metadata_version")

    def __init__(self) -> None:
        self.metadata_version: int | None = None
        self.levels: Final[dict[str, int]] = {}
        self.before: dict[str, int | None] = {}

    @property
    def level(self) -> int:
        """The metadata.version in force."""
        assert self.metadata_version is not None, "I-META-8"
        return self.metadata_version

    @property
    def has_elr(self) -> bool:
        """Whether eligible leader replicas are kept."""
        return self.levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0

    def finalized(self) -> dict[str, int]:
        """All levels above 0, metadata.version among them."""
        if self.metadata_version is None:
            return dict(self.levels)
        return {METADATA_VERSION: self.metadata_version, **self.levels}

    def copy(self) -> "Features":
        """The same, to be changed by itself."""
        made = Features()
        made.metadata_version = self.metadata_version
        made.levels.update(self.levels)
        return made

    def replay(self, record: FeatureLevelRecord) -> None:
        """Take a level in."""
        name, level = record.name, record.feature_level
        if name == METADATA_VERSION and level not in LEVELS:
            raise InvalidValue(f"metadata.version {level} is not one of {LEVEL_MIN}-{LEVEL_MAX}")
        if level < 0:
            raise InvalidValue(f"{name} at the level {level}")
        self.before.setdefault(name, self.finalized().get(name))
        if name == METADATA_VERSION:
            self.metadata_version = level
        elif level == 0:
            self.levels.pop(name, None)
        else:
            self.levels[name] = level

    def records(self, level: int) -> Iterator[FeatureLevelRecord]:
        """What a snapshot at a metadata.version says of them."""
        yield FeatureLevelRecord(name=METADATA_VERSION, feature_level=level)
        for name, one in sorted(self.levels.items()):
            yield FeatureLevelRecord(name=name, feature_level=one)


def with_kraft(finalized: Mapping[str, int], kraft_version: int) -> dict[str, int]:
    """The finalized levels as clients see them: with kraft.version, unless that is 0."""
    return {**finalized, **({KRAFT_VERSION: kraft_version} if kraft_version else {})}
