"""IncrementalAlterConfigs and AlterConfigs: the records that change what is set."""

from collections.abc import Iterable, Sequence
from typing import Final

from ottla.api.alter_configs import AlterConfigsRequest, AlterConfigsResponse
from ottla.api.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from ottla.api.metadata_records import ClearElrRecord, ConfigRecord
from ottla.config.alteration import Alteration, Altered, Operation, admitted, alter
from ottla.config.faults import HIDDEN, ConfigFault, InvalidValue, UnknownOption
from ottla.config.kinds import BOOLEAN, DOUBLE, INT, LONG, SHORT
from ottla.config.log import MIN_INSYNC_REPLICAS
from ottla.config.option import Scope
from ottla.config.table import Row
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.configs import WHOLE_CLUSTER, Resource, ResourceType
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

SettingRecord = ConfigRecord | ClearElrRecord

_SCOPES: Final = {
    ResourceType.TOPIC: Scope.TOPIC,
    ResourceType.BROKER: Scope.BROKER,
    ResourceType.GROUP: Scope.GROUP,
}
# What is said of a resource without a name.
_NAMELESS: Final[dict[int, str]] = {
    ResourceType.TOPIC: "Default topic resources are not allowed.",
    ResourceType.GROUP: "Default group resources are not allowed.",
    ResourceType.CLIENT_METRICS: "Subscription name can't be empty",
}
_EXPECTED: Final = {
    BOOLEAN.number: "Expected value to be either true or false",
    INT.number: "Not a number of type INT",
    SHORT.number: "Not a number of type SHORT",
    LONG.number: "Not a number of type LONG",
    DOUBLE.number: "Not a number of type DOUBLE",
}
_GIVEN: Final = Refusal(ErrorCode.INVALID_REQUEST, "Each resource must appear at most once.")


def decide_incremental_alteration(
    state: State, request: IncrementalAlterConfigsRequest
) -> Decision[SettingRecord, IncrementalAlterConfigsResponse]:
    """Change some settings of some resources, each on its own."""
    changes = [
        (
            Resource(one.resource_type, one.resource_name),
            [
                Alteration(each.name, Operation(each.config_operation), each.value)
                for each in one.configs
            ],
        )
        for one in request.resources
    ]
    records, refusals = _altered(state, changes)
    results = [
        IncrementalAlterConfigsResponse.Resource(
            error_code=why.error,
            error_message=why.message,
            resource_type=resource.type,
            resource_name=resource.name,
        )
        for resource, why in refusals
    ]
    reply = IncrementalAlterConfigsResponse(throttle_time_ms=0, responses=results)
    return Decision(() if request.validate_only else records, reply)


def decide_alteration(
    state: State, request: AlterConfigsRequest
) -> Decision[SettingRecord, AlterConfigsResponse]:
    """Replace all settings of some resources by those given."""
    changes: list[tuple[Resource, list[Alteration]]] = []
    for one in request.resources:
        resource = Resource(one.resource_type, one.resource_name)
        given = {each.name: each.value for each in one.configs}
        dropped = [name for name in state.image.configs.of(*resource) if name not in given]
        changes.append(
            (
                resource,
                [
                    *(_set(name, value) for name, value in given.items()),
                    *(Alteration(name, Operation.DELETE) for name in sorted(dropped)),
                ],
            )
        )
    records, refusals = _altered(state, changes)
    results = [
        AlterConfigsResponse.Resource(
            error_code=why.error,
            error_message=why.message,
            resource_type=resource.type,
            resource_name=resource.name,
        )
        for resource, why in refusals
    ]
    reply = AlterConfigsResponse(throttle_time_ms=0, responses=results)
    return Decision(() if request.validate_only else records, reply)


def _set(name: str, value: str | None) -> Alteration:
    if value is None:
        return Alteration(name, Operation.DELETE)
    return Alteration(name, Operation.SET, value)


def _altered(
    state: State, wanted: Sequence[tuple[Resource, list[Alteration]]]
) -> tuple[list[SettingRecord], list[tuple[Resource, Refusal]]]:
    """The records of all resources that can be changed, and what became of each."""
    asked = [resource for resource, _ in wanted]
    records: list[ConfigRecord] = []
    refusals: list[tuple[Resource, Refusal]] = []
    for resource, changes in wanted:
        outcome = _GIVEN if asked.count(resource) > 1 else altered_records(state, resource, changes)
        if isinstance(outcome, Refusal):
            refusals.append((resource, outcome))
            continue
        records.extend(outcome)
        refusals.append((resource, Refusal(ErrorCode.NONE)))
    return [*records, *cleared(state, records)], refusals


def altered_records(
    state: State, resource: Resource, changes: Iterable[Alteration], *, is_new: bool = False
) -> list[ConfigRecord] | Refusal:
    """The records that make some changes to what is set for a resource, or why they cannot be.

    A broker's are written even if they change nothing, so that its files of secrets are read anew.
    """
    wanted = [*{one.name: one for one in changes}.values()]
    faults = [_min_isr_fault(state, resource, change) for change in wanted]
    fault = next(filter(None, faults), None) or _resource_fault(resource)
    if fault is not None:
        return fault
    present = state.image.configs.of(*resource)
    made: list[ConfigRecord] = []
    for change in wanted:
        outcome = _one(state, resource, present.get(change.name), change)
        if isinstance(outcome, Refusal):
            return outcome
        if outcome.text != present.get(change.name) or resource.type == ResourceType.BROKER:
            made.append(
                ConfigRecord(
                    resource_type=resource.type,
                    resource_name=resource.name,
                    name=change.name,
                    value=outcome.text,
                )
            )
    return made if is_new else _existence_fault(state, resource) or made


def _one(
    state: State, resource: Resource, current: str | None, change: Alteration
) -> Altered | Refusal:
    """What one change makes of one setting."""
    scope = _SCOPES.get(ResourceType(resource.type))
    if scope is None:
        # What is set for subscriptions of client metrics is no option of any table.
        return Altered(change.given if change.operation is Operation.SET else None)
    row = state.table.get(change.name, scope)
    outcome = alter(row, current, change)
    if isinstance(outcome, Altered):
        whole = resource == WHOLE_CLUSTER
        outcome = admitted(state.table, scope, change.name, outcome, whole_cluster=whole)
    if not isinstance(outcome, ConfigFault):
        return outcome
    if isinstance(outcome, UnknownOption):
        return Refusal(
            ErrorCode.INVALID_CONFIG, f"Unknown {scope.value} config name: {change.name}"
        )
    return Refusal(ErrorCode.INVALID_CONFIG, _told(outcome, row))


def _told(fault: ConfigFault, row: Row | None) -> str:
    """What a client is told of a fault: in Kafka's words where text is no value of its kind."""
    if not isinstance(fault, InvalidValue) or row is None or fault.given in (None, HIDDEN):
        return str(fault)
    expected = _EXPECTED.get(row.kind.number)
    try:
        row.kind.parse(fault.given or "")
    except ValueError:
        if expected is not None:
            return f"Invalid value {fault.given} for configuration {fault.name}: {expected}"
    return str(fault)


def _min_isr_fault(state: State, resource: Resource, change: Alteration) -> Refusal | None:
    """With eligible leader replicas how few may be in sync is said for the whole cluster."""
    name = MIN_INSYNC_REPLICAS.name
    if not state.has_elr or resource.type != ResourceType.BROKER or change.name != name:
        return None
    if resource.name:
        reason = f"Broker-level {name} cannot be altered while ELR is enabled."
        return Refusal(ErrorCode.INVALID_CONFIG, reason)
    if change.operation is Operation.DELETE:
        reason = f"Cluster-level {name} cannot be removed while ELR is enabled."
        return Refusal(ErrorCode.INVALID_CONFIG, reason)
    return None


def _resource_fault(resource: Resource) -> Refusal | None:
    """Why nothing of this name can have settings."""
    kind, name = resource
    if kind == ResourceType.BROKER:
        return _broker_fault(name) if name else None
    if kind not in _NAMELESS:
        return Refusal(ErrorCode.INVALID_REQUEST, f"Unknown resource type {kind}")
    return None if name else Refusal(ErrorCode.INVALID_REQUEST, _NAMELESS[kind])


def _broker_fault(name: str) -> Refusal | None:
    try:
        is_negative = int(name) < 0
    except ValueError:
        reason = "Unable to parse broker name as a base 10 number."
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if is_negative:
        return Refusal(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")
    return None


def _existence_fault(state: State, resource: Resource) -> Refusal | None:
    """Topics and nodes have to be there before anything is set for them; groups need not."""
    kind, name = resource
    if kind == ResourceType.TOPIC and name not in state.image.topics.by_name:
        reason = f"The topic '{name}' does not exist."
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    if kind == ResourceType.BROKER and name:
        known = int(name) in state.image.cluster.brokers or int(name) in state.voters
        reason = f"No node with id {int(name)} found."
        return None if known else Refusal(ErrorCode.BROKER_ID_NOT_REGISTERED, reason)
    return None


def cleared(state: State, records: Iterable[ConfigRecord]) -> list[ClearElrRecord]:
    """Who was eligible is forgotten where how few may be in sync has changed."""
    if not state.has_elr:
        return []
    return [
        ClearElrRecord(
            topic_name=one.resource_name if one.resource_type == ResourceType.TOPIC else ""
        )
        for one in records
        if one.name == MIN_INSYNC_REPLICAS.name
    ]
