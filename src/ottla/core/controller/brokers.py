"""Brokers that register, are removed, or were not heard of for too long."""

from ottla.api.broker_registration import BrokerRegistrationRequest, BrokerRegistrationResponse
from ottla.api.controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from ottla.api.metadata_records import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    UnregisterBrokerRecord,
)
from ottla.api.unregister_broker import UnregisterBrokerResponse
from ottla.core.controller.elections import Going, leadership_changes, places_with
from ottla.core.controller.sessions import Sessions
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.cluster import Broker
from ottla.core.metadata.features import Range, with_kraft
from ottla.core.metadata.levels import CONTROLLER_REGISTRATION, DIRECTORIES, METADATA_VERSION
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.wire.fields import Message
from ottla.wire.uuids import RESERVED, uuid_text

FENCED = 1
UNFENCED = -1

RegisterDecision = Decision[Message, BrokerRegistrationResponse | Refusal]


def decide_registration(
    state: State,
    sessions: Sessions,
    request: BrokerRegistrationRequest,
    *,
    epoch: int,
    now_ms: int,
    kraft_version: int = 0,
) -> RegisterDecision:
    """Register a broker, or amend what it registered before in the same incarnation.

    `epoch` is the offset at which the next record will stand: no two registrations share one.
    """
    known = state.image.cluster.brokers.get(request.broker_id)
    is_same = known is not None and known.incarnation_id == request.incarnation_id
    fault = _registration_fault(state, sessions, request, known, now_ms)
    fault = fault or _feature_fault(state, request, kraft_version)
    if fault is not None:
        return Decision((), fault)
    records: list[Message] = []
    if not is_same:
        stored = known.epoch if known else -2
        records.extend(stopped(state, request.broker_id, stored == request.previous_broker_epoch))
    record = _record(state, request, epoch)
    if known is not None and is_same:
        record.broker_epoch = known.epoch
        record.fenced = known.is_fenced
        record.in_controlled_shutdown = known.is_shutting_down
    reply = BrokerRegistrationResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, broker_epoch=record.broker_epoch
    )
    return Decision([*records, record], reply, is_atomic=False)


def _record(state: State, request: BrokerRegistrationRequest, epoch: int) -> RegisterBrokerRecord:
    made = RegisterBrokerRecord
    return made(
        broker_id=request.broker_id,
        incarnation_id=request.incarnation_id,
        broker_epoch=epoch,
        end_points=[
            made.EndPoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            made.Feature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
        rack=request.rack,
        log_dirs=request.log_dirs if state.level >= DIRECTORIES else [],
    )


def stopped(state: State, broker: int, was_clean: bool) -> list[PartitionChangeRecord]:
    """What a new incarnation of a broker makes of what the old one led and was in sync for.

    One that stopped uncleanly may lack what it had acknowledged, so it is no eligible leader.
    """
    in_sync = places_with(state, broker)
    if not state.has_elr or was_clean:
        return leadership_changes(state, in_sync, Going(removed=broker))
    going = Going(unclean=broker)
    eligible = places_with(state, broker, in_elr=True)
    return leadership_changes(state, [*in_sync, *eligible], going)


def _registration_fault(
    state: State,
    sessions: Sessions,
    request: BrokerRegistrationRequest,
    known: Broker | None,
    now_ms: int,
) -> Refusal | None:
    """Why this broker cannot register here, now, with these directories."""
    if state.cluster_id != request.cluster_id:
        reason = f"Expected cluster ID {state.cluster_id}, but got cluster ID {request.cluster_id}"
        return Refusal(ErrorCode.INCONSISTENT_CLUSTER_ID, reason)
    is_other = known is not None and known.incarnation_id != request.incarnation_id
    if known is not None and is_other and sessions.is_alive(known.id, known.epoch, now_ms):
        reason = (
            "Another broker is registered with that broker id. If the broker was recently"
            " restarted this should self-resolve once the heartbeat manager expires the"
            " broker's session."
        )
        return Refusal(ErrorCode.DUPLICATE_BROKER_REGISTRATION, reason)
    if request.is_migrating_zk_broker:
        reason = "Controller does not support registering ZK brokers."
        return Refusal(ErrorCode.BROKER_ID_NOT_REGISTERED, reason)
    return _directory_fault(state, request) if state.level >= DIRECTORIES else None


def _directory_fault(state: State, request: BrokerRegistrationRequest) -> Refusal | None:
    """What is wrong with the directories that a broker says it has."""
    reason = ""
    if not request.log_dirs:
        reason = "No directories specified in request"
    elif not RESERVED.isdisjoint(request.log_dirs):
        reason = "Reserved directory ID in request"
    elif len(set(request.log_dirs)) != len(request.log_dirs):
        reason = "Duplicate directory ID in request"
    else:
        others = {
            directory: broker.id
            for broker in state.image.cluster.brokers.values()
            if broker.id != request.broker_id
            for directory in broker.directories
        }
        for directory in request.log_dirs:
            if directory in others:
                reason = (
                    f"Broker {others[directory]} is already registered with directory"
                    f" {uuid_text(directory)}"
                )
                break
    return Refusal(ErrorCode.INVALID_REGISTRATION, reason) if reason else None


def _feature_fault(
    state: State, request: BrokerRegistrationRequest, kraft_version: int
) -> Refusal | None:
    """A finalized level that the broker cannot work at."""
    said = {
        one.name: Range(one.min_supported_version, one.max_supported_version)
        for one in request.features
    }
    finalized = with_kraft(state.image.features.finalized(), kraft_version)
    unsaid = finalized if METADATA_VERSION in said else {}
    for name in dict.fromkeys((*said, *unsaid)):
        level, low_high = finalized.get(name, 0), said.get(name, Range(0, 0))
        if level not in low_high:
            reason = (
                f"Unable to register because the broker does not support finalized version {level}"
                f" of {name}. The broker wants a version between {low_high.low} and"
                f" {low_high.high}, inclusive."
            )
            return Refusal(ErrorCode.UNSUPPORTED_VERSION, reason)
    if METADATA_VERSION not in said:
        reason = f"Request features do not contain '{METADATA_VERSION}'"
        return Refusal(ErrorCode.INVALID_REGISTRATION, reason)
    return None


def decide_unregistration(state: State, broker: int) -> Decision[Message, UnregisterBrokerResponse]:
    """Remove a broker for good."""
    known = state.image.cluster.brokers.get(broker)
    if known is None:
        reason = f"Broker ID {broker} is not currently registered"
        return Decision(
            (),
            UnregisterBrokerResponse(
                throttle_time_ms=0,
                error_code=ErrorCode.BROKER_ID_NOT_REGISTERED,
                error_message=reason,
            ),
        )
    places = [*places_with(state, broker), *places_with(state, broker, in_elr=True)]
    records: list[Message] = [*leadership_changes(state, places, Going(removed=broker))]
    records.append(UnregisterBrokerRecord(broker_id=broker, broker_epoch=known.epoch))
    reply = UnregisterBrokerResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None
    )
    return Decision(records, reply, is_atomic=False)


def fence(state: State, broker: int) -> list[Message]:
    """Take a broker out of all that it leads and is in sync for, and fence it."""
    known = state.image.cluster.brokers[broker]
    going = Going(removed=broker)
    return [
        *leadership_changes(state, places_with(state, broker), going),
        BrokerRegistrationChangeRecord(broker_id=broker, broker_epoch=known.epoch, fenced=FENCED),
    ]


def fence_silent(state: State, sessions: Sessions, now_ms: int) -> list[Message]:
    """Fence the broker that was silent longest, if any was for too long; ask again until none is.

    One at a time, so that what becomes of its partitions counts for the next.
    """
    for broker in sessions.expired(now_ms):
        epoch = sessions.by_broker[broker].epoch
        sessions.forget(broker)
        known = state.image.cluster.brokers.get(broker)
        if known is not None and known.epoch == epoch:
            return fence(state, broker)
    return []


def decide_controller_registration(
    state: State, request: ControllerRegistrationRequest
) -> Decision[RegisterControllerRecord, ControllerRegistrationResponse]:
    """Register a controller."""
    if state.level < CONTROLLER_REGISTRATION:
        reason = "The current MetadataVersion is too old to support controller registrations."
        refused = ControllerRegistrationResponse(
            throttle_time_ms=0, error_code=ErrorCode.UNSUPPORTED_VERSION, error_message=reason
        )
        return Decision((), refused)
    made = RegisterControllerRecord
    record = made(
        controller_id=request.controller_id,
        incarnation_id=request.incarnation_id,
        zk_migration_ready=False,
        end_points=[
            made.EndPoint(
                name=one.name,
                host=one.host,
                port=one.port,
                security_protocol=one.security_protocol,
            )
            for one in request.listeners
        ],
        features=[
            made.Feature(
                name=one.name,
                min_supported_version=one.min_supported_version,
                max_supported_version=one.max_supported_version,
            )
            for one in request.features
        ],
    )
    reply = ControllerRegistrationResponse(
        throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None
    )
    return Decision([record], reply)
