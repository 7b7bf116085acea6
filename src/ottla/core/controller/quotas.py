"""AlterClientQuotas and DescribeClientQuotas."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final

from ottla.api.alter_client_quotas import AlterClientQuotasRequest, AlterClientQuotasResponse
from ottla.api.describe_client_quotas import (
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from ottla.api.metadata_records import ClientQuotaRecord
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.quotas import Entity, Quotas, entity_of
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

_LONG_MAX: Final = float(1 << 63)
_INT_MAX: Final = float((1 << 31) - 1)

# The largest value of each key, and whether it must be whole.
_CLIENT_KEYS: Final[Mapping[str, float | None]] = {
    "producer_byte_rate": _LONG_MAX,
    "consumer_byte_rate": _LONG_MAX,
    "request_percentage": None,
    "controller_mutation_rate": None,
}
_IP_KEYS: Final[Mapping[str, float | None]] = {"connection_creation_rate": _INT_MAX}
_KINDS: Final = {_LONG_MAX: "a LONG", _INT_MAX: "an INT"}

Entry = AlterClientQuotasRequest.Entry


def decide_quotas(
    state: State, request: AlterClientQuotasRequest
) -> Decision[ClientQuotaRecord, AlterClientQuotasResponse]:
    """Set and remove quotas, of each entity all that is asked or nothing."""
    records: list[ClientQuotaRecord] = []
    results: list[AlterClientQuotasResponse.Entry] = []
    made = AlterClientQuotasResponse.Entry
    for entry in request.entries:
        entity = entity_of((one.entity_type, one.entity_name) for one in entry.entity)
        outcome = _altered(state, entry, entity)
        why = outcome if isinstance(outcome, Refusal) else Refusal(ErrorCode.NONE)
        if not isinstance(outcome, Refusal):
            records.extend(outcome)
        results.append(
            made(
                error_code=why.error,
                error_message=why.message,
                entity=[
                    made.Entity(entity_type=one.entity_type, entity_name=one.entity_name)
                    for one in entry.entity
                ],
            )
        )
    reply = AlterClientQuotasResponse(throttle_time_ms=0, entries=results)
    return Decision(() if request.validate_only else records, reply)


def _altered(state: State, entry: Entry, entity: Entity) -> list[ClientQuotaRecord] | Refusal:
    """The records of one entity's quotas."""
    reason = _entity_fault(entry, dict(entity))
    keys = _IP_KEYS if IP in dict(entity) else _CLIENT_KEYS
    present = state.image.quotas.by_entity.get(entity, {})
    told = ClientQuotaRecord
    records: list[ClientQuotaRecord] = []
    for one in {one.key: one for one in entry.ops}.values():
        reason = reason or ("" if one.remove else _value_fault(keys, one.key, one.value))
        is_new = one.key in present if one.remove else present.get(one.key) != one.value
        if is_new:
            whose = [told.Entity(entity_type=kind, entity_name=name) for kind, name in entity]
            value = 0.0 if one.remove else one.value
            records.append(told(entity=whose, key=one.key, value=value, remove=one.remove))
    return Refusal(ErrorCode.INVALID_REQUEST, reason) if reason else records


def _entity_fault(entry: Entry, names: dict[str, str | None]) -> str:
    """Why nobody is named by this, or somebody who can have no quota."""
    if not names:
        return "Invalid empty client quota entity"
    if len(names) < len(entry.entity):
        twice = entry.entity[-1].entity_type
        return f"Invalid client quota entity, duplicate entity entry {twice}"
    for kind, name in names.items():
        if kind not in (USER, CLIENT_ID, IP):
            return f"Unhandled client quota entity type: {kind}"
        if name == "":
            return f"Empty {kind} not supported"
    if IP in names and len(names) > 1:
        return (
            "Invalid quota entity combination, IP entity should"
            "not be combined with User or ClientId"
        )
    return _address_fault(names.get(IP))


def _address_fault(text: str | None) -> str:
    """An address must be one as it is: names are not resolved here, where nothing may wait."""
    if text is None:
        return ""
    try:
        ip_address(text)
    except ValueError:
        return f"{text} is not a valid IP or resolvable host."
    return ""


def _value_fault(keys: Mapping[str, float | None], key: str, value: float) -> str:
    if key not in keys:
        return f"Invalid configuration key {key}"
    if value <= 0:
        return f"Quota {key} must be greater than 0"
    most = keys[key]
    if most is not None and value > most:
        return f"Proposed value for {key} is too large for {_KINDS[most]}."
    if most is not None and value % 1.0 > 1e-6:
        return f"{key} cannot be a fractional value."
    return ""


def describe_quotas(
    quotas: Quotas, request: DescribeClientQuotasRequest
) -> DescribeClientQuotasResponse:
    """The quotas of the entities that match all that is asked."""
    exact: dict[str, str | None] = {}
    given: list[str] = []
    for one in request.components:
        fault = _filter_fault(one, one.entity_type in exact or one.entity_type in given)
        if fault is not None:
            return _described([], fault)
        if one.match_type == 2:
            given.append(one.entity_type)
        else:
            exact[one.entity_type] = one.match
    asked = {*exact, *given}
    if IP in asked and len(asked) > 1:
        reason = (
            "Invalid entity filter component combination. IP filter component should not be used"
            " with user or clientId filter component."
        )
        return _described([], Refusal(ErrorCode.INVALID_REQUEST, reason))
    told = DescribeClientQuotasResponse.Entry
    found = [
        told(
            entity=[told.Entity(entity_type=kind, entity_name=name) for kind, name in entity],
            values=[told.Value(key=key, value=value) for key, value in sorted(values.items())],
        )
        for entity, values in quotas.by_entity.items()
        if _matches(dict(entity), exact, given, strict=request.strict)
    ]
    return _described(found, Refusal(ErrorCode.NONE))


def _matches(
    entity: dict[str, str | None], exact: dict[str, str | None], given: list[str], *, strict: bool
) -> bool:
    if strict and len(entity) != len(exact) + len(given):
        return False
    named = all(kind in entity and entity[kind] == name for kind, name in exact.items())
    return named and all(kind in entity for kind in given)


def _filter_fault(one: DescribeClientQuotasRequest.Component, is_again: bool) -> Refusal | None:
    """What is wrong with one part of what is asked."""
    reason = ""
    if not one.entity_type:
        reason = "Invalid empty entity type."
    elif is_again:
        reason = f"Entity type {one.entity_type} cannot appear more than once in the filter."
    elif one.entity_type not in (USER, CLIENT_ID, IP):
        unsupported = f"Unsupported entity type {one.entity_type}"
        return Refusal(ErrorCode.UNSUPPORTED_VERSION, unsupported)
    elif one.match_type not in (0, 1, 2):
        reason = f"Unknown match type {one.match_type}"
    elif one.match_type == 0 and one.match is None:
        reason = "Request specified MATCH_TYPE_EXACT, but set match string to null."
    elif one.match_type and one.match is not None:
        name = "DEFAULT" if one.match_type == 1 else "SPECIFIED"
        reason = f"Request specified MATCH_TYPE_{name}, but also specified a match string."
    return Refusal(ErrorCode.INVALID_REQUEST, reason) if reason else None


def _described(
    entries: list[DescribeClientQuotasResponse.Entry], why: Refusal
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        throttle_time_ms=0,
        error_code=why.error,
        error_message=why.message,
        entries=entries if why.error is ErrorCode.NONE else None,
    )
