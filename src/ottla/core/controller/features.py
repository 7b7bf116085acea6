"""UpdateFeatures: raising and lowering the levels that a cluster is finalized at."""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from ottla.api.metadata_records import ConfigRecord, FeatureLevelRecord, NoOpRecord
from ottla.api.update_features import UpdateFeaturesRequest, UpdateFeaturesResponse
from ottla.config.log import MIN_INSYNC_REPLICAS
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.configs import WHOLE_CLUSTER, ResourceType
from ottla.core.metadata.features import (
    ELIGIBLE_LEADER_REPLICAS_VERSION,
    FEATURES,
    KRAFT_VERSION,
    SUPPORTED,
    Range,
)
from ottla.core.metadata.levels import CONTROLLER_REGISTRATION, METADATA_VERSION, same_records
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.wire.fields import Message

_NOT_SUPPORTED = Range(0, 0)


class UpgradeType(IntEnum):
    """What an update may do, by its number on the wire."""

    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class _Update(NamedTuple):
    feature: str
    level: int
    type: UpgradeType


class FeatureReply(NamedTuple):
    """The answer, and the kraft.version to write beside the records, if it shall rise."""

    response: UpdateFeaturesResponse
    kraft_version: int | None = None


def decide_features(
    state: State, request: UpdateFeaturesRequest, *, version: int = 2, kraft_version: int = 0
) -> Decision[Message, FeatureReply]:
    """Change all levels that are asked for, or none.

    Below version 2 of the API each feature has a result of its own; in version 0 one may be lowered
    safely or not at all.
    """
    updates = [
        _Update(one.feature, one.max_version_level, _type(one, version))
        for one in request.feature_updates
    ]
    levels = {KRAFT_VERSION: kraft_version, **state.image.features.finalized()}
    proposed = {**levels, **{one.feature: one.level for one in updates}}
    records: list[Message] = []
    raised: int | None = None
    for update in updates:
        reason = _reason(state, update, levels.get(update.feature, 0), proposed)
        if reason is not None:
            refusal = Refusal(ErrorCode.INVALID_UPDATE_VERSION, reason)
            return Decision((), FeatureReply(_response(updates, refusal, version)))
        if update.feature == KRAFT_VERSION:
            # Its own record is none of these; this one lets the reply wait for both.
            records.extend([NoOpRecord()] if update.type is UpgradeType.UPGRADE else [])
            raised = update.level if update.level > kraft_version else None
        else:
            records.append(FeatureLevelRecord(name=update.feature, feature_level=update.level))
    if proposed.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0 and any(
        one.feature == ELIGIBLE_LEADER_REPLICAS_VERSION for one in updates
    ):
        records = [*_safety_records(state), *records]
    response = _response(updates, Refusal(ErrorCode.NONE), version)
    if request.validate_only:
        return Decision((), FeatureReply(response))
    return Decision(records, FeatureReply(response, raised))


def _type(update: UpdateFeaturesRequest.FeatureUpdate, version: int) -> UpgradeType:
    if version == 0:
        return UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else UpgradeType.UPGRADE
    known = update.upgrade_type in UpgradeType.__members__.values()
    return UpgradeType(update.upgrade_type) if known else UpgradeType.UNKNOWN


def _response(updates: list[_Update], why: Refusal, version: int) -> UpdateFeaturesResponse:
    """What became of all of them; older versions are told so for each."""
    results = [
        UpdateFeaturesResponse.Feature(
            feature=one.feature, error_code=why.error, error_message=why.message
        )
        for one in updates
    ]
    return UpdateFeaturesResponse(
        throttle_time_ms=0,
        error_code=why.error,
        error_message=why.message,
        results=results if version < 2 and why.error is ErrorCode.NONE else [],
    )


def _reason(state: State, update: _Update, present: int, proposed: dict[str, int]) -> str | None:
    """Why a level cannot be changed so; None if it can."""
    feature, level, how = update
    if how is UpgradeType.UNKNOWN:
        reason = "The controller does not support the given upgrade type."
    elif level < 0:
        reason = "A feature version cannot be less than 0."
    else:
        reason = _unsupported(state, feature, level) or _direction(level, present, how)
    if reason:
        return f"Invalid update version {level} for feature {feature}. {reason}"
    if feature == METADATA_VERSION:
        return _metadata_reason(level, present, how)
    reason = _needs(feature, level, proposed)
    if feature == KRAFT_VERSION and level < present:
        reason = "Can't downgrade the version of this feature."
    return f"Invalid update version {level} for feature {feature}. {reason}" if reason else None


def _direction(level: int, present: int, how: UpgradeType) -> str:
    if level < present and how is UpgradeType.UPGRADE:
        return (
            "Can't downgrade the version of this feature without setting the upgrade type to either"
            " safe or unsafe downgrade."
        )
    if level > present and how is not UpgradeType.UPGRADE:
        return "Can't downgrade to a newer version."
    return ""


def _metadata_reason(level: int, present: int, how: UpgradeType) -> str | None:
    """Going back over a change of records would lose what only the newer ones can say."""
    if level >= present or same_records(level, present):
        return None
    reason = (
        "Refusing to perform the requested downgrade because it might delete metadata information."
    )
    if how is UpgradeType.UNSAFE_DOWNGRADE:
        reason = "Unsafe metadata downgrade is not supported in this version."
    return f"Unsupported metadata.version downgrade from {present} to {level}. {reason}"


def _needs(feature: str, level: int, proposed: dict[str, int]) -> str:
    """A metadata.version that a level needs and that it would not have."""
    if feature not in SUPPORTED:
        return f"Feature {feature} not found."
    rows = FEATURES.get(feature, ())
    needed = rows[level - 1].needs if 0 < level <= len(rows) else None
    if needed is None or proposed[METADATA_VERSION] >= needed:
        return ""
    return (
        f"{feature} could not be set to {level} because it depends on {METADATA_VERSION} level"
        f" {needed}"
    )


def _unsupported(state: State, feature: str, level: int) -> str:
    """Whether some node cannot work at a level."""
    for who, supported in _nodes(state):
        found = supported.get(feature, _NOT_SUPPORTED)
        if level not in found:
            if found.high == 0:
                return f"{who} does not support this feature."
            return f"{who} only supports versions {found}"
    if state.level >= CONTROLLER_REGISTRATION:
        for voter in state.voters:
            if voter != state.node_id and voter not in state.image.cluster.controllers:
                return f"controller {voter} has not registered, and may not support this feature"
    return ""


def _nodes(state: State) -> Iterator[tuple[str, dict[str, Range]]]:
    """What each node works at, this one first."""
    cluster = state.image.cluster
    yield f"Local controller {state.node_id}", dict(SUPPORTED)
    for _, broker in sorted(cluster.brokers.items()):
        yield f"Broker {broker.id}", broker.features
    if state.level >= CONTROLLER_REGISTRATION:
        for _, one in sorted(cluster.controllers.items()):
            if one.id != state.node_id:
                yield f"Controller {one.id}", one.features


def _safety_records(state: State) -> list[Message]:
    """With eligible leader replicas how few may be in sync is said for the whole cluster alone."""
    name, configs = MIN_INSYNC_REPLICAS.name, state.image.configs
    records: list[Message] = []
    if name not in configs.of(*WHOLE_CLUSTER):
        value = state.static.get(name, MIN_INSYNC_REPLICAS.default_text)
        records.append(_setting("", value))
    for resource, texts in sorted(configs.by_resource.items()):
        if resource.type == ResourceType.BROKER and resource.name and name in texts:
            records.append(_setting(resource.name, None))
    return records


def _setting(broker: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(
        resource_type=ResourceType.BROKER,
        resource_name=broker,
        name=MIN_INSYNC_REPLICAS.name,
        value=value,
    )
