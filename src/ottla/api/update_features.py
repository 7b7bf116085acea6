"""Changing the cluster's feature levels."""

from ottla.wire.fields import Message, Struct, field, int8, int16, int32


class UpdateFeaturesRequest(Message, key=57, versions="0-2", flexible="0+"):
    """Raise or lower finalized feature levels."""

    class FeatureUpdate(Struct):
        feature: str
        max_version_level: int16  # Below 1 removes the feature.
        # Version 0 says this instead of the type.
        allow_downgrade: bool = field("0", default=False)
        # 1 upgrade, 2 safe downgrade, 3 unsafe downgrade.
        upgrade_type: int8 = field("1+", default=1)

    timeout_ms: int32 = field(default=60000)
    feature_updates: list[FeatureUpdate]
    validate_only: bool = field("1+", default=False)


class UpdateFeaturesResponse(Message, key=57, versions="0-2", flexible="0+"):
    """Whether the levels were changed."""

    class Feature(Struct):
        feature: str
        error_code: int16
        error_message: str | None

    throttle_time_ms: int32
    error_code: int16
    error_message: str | None
    results: list[Feature] = field("0-1", default_factory=list, ignorable=True)
