"""What a controller writes when it takes over: the beginning of an empty log, or an abort."""

from collections.abc import Sequence

from ottla.api.metadata_records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
)
from ottla.config.log import MIN_INSYNC_REPLICAS
from ottla.core.controller.state import State
from ottla.core.metadata.configs import ResourceType
from ottla.core.metadata.features import ELIGIBLE_LEADER_REPLICAS_VERSION
from ottla.core.metadata.levels import METADATA_TRANSACTIONS, METADATA_VERSION
from ottla.wire.fields import Message


def activation_records(state: State, bootstrap: Sequence[FeatureLevelRecord]) -> list[Message]:
    """Begin an empty log with the bootstrap records; end what another controller left open.

    With eligible leader replicas how few may be in sync is the cluster's to say from the start.
    """
    image = state.image
    is_empty = image.features.metadata_version is None
    left_open: list[Message] = []
    if image.is_in_transaction:
        left_open = [AbortTransactionRecord(reason="Controller failover")]
    if not is_empty:
        return left_open
    levels = {one.name: one.feature_level for one in bootstrap}
    records: list[Message] = [*bootstrap]
    if levels.get(ELIGIBLE_LEADER_REPLICAS_VERSION, 0) > 0:
        records.append(
            ConfigRecord(
                resource_type=ResourceType.BROKER,
                resource_name="",
                name=MIN_INSYNC_REPLICAS.name,
                value=state.static.get(MIN_INSYNC_REPLICAS.name, MIN_INSYNC_REPLICAS.default_text),
            )
        )
    if levels[METADATA_VERSION] < METADATA_TRANSACTIONS:
        return records
    name = "Bootstrap records"
    return [*left_open, BeginTransactionRecord(name=name), *records, EndTransactionRecord()]
