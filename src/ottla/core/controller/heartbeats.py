"""BrokerHeartbeat: a broker's way from fenced to unfenced, to its controlled shutdown, to its end.

A broker begins fenced. It is unfenced once it has replayed its own registration, and fenced when it
asks for it or is not heard of. One that wants to stop gives up its leaderships first: it is in
controlled shutdown until it leads nothing and every active broker has replayed the records that
took them from it, so that no client is sent to it any more; then it is told to stop.

I-CTRL-5  A broker in controlled shutdown gets no leadership and joins no in-sync replicas.
I-CTRL-6  It is told to stop only once it leads nothing and all active brokers have read so.
"""

from enum import Enum
from typing import NamedTuple

from ottla.api.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from ottla.api.metadata_records import BrokerRegistrationChangeRecord
from ottla.core.controller.brokers import UNFENCED, fence
from ottla.core.controller.elections import (
    Going,
    has_leaderships,
    leaderless,
    leadership_changes,
    places_with,
)
from ottla.core.controller.sessions import Session, Sessions
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.cluster import Broker
from ottla.core.metadata.levels import CORDONED_DIRECTORIES, DIRECTORIES
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.wire.fields import Message, Uuid


class Standing(Enum):
    """Where a broker stands on its way."""

    FENCED = "it neither leads nor is in sync"
    UNFENCED = "it serves"
    SHUTTING_DOWN = "it gives up what it leads"
    SHUT_DOWN = "it may stop"


class HeartbeatReply(NamedTuple):
    """The answer, and whether the last record's offset has to be noted (Sessions.note_shutdown)."""

    response: BrokerHeartbeatResponse
    is_shutting_down: bool


HeartbeatDecision = Decision[Message, HeartbeatReply | Refusal]


def decide_heartbeat(
    state: State, sessions: Sessions, request: BrokerHeartbeatRequest, now_ms: int
) -> HeartbeatDecision:
    """What a broker's heartbeat makes of it; it counts as heard of."""
    fault = state.epoch_fault(request.broker_id, request.broker_epoch)
    if fault is not None:
        return Decision((), fault)
    broker = state.image.cluster.brokers[request.broker_id]
    session = sessions.note_contact(broker.id, broker.epoch, now_ms)
    registered_at = sessions.registered_at.get(broker.id, 0)
    is_caught_up = request.current_metadata_offset >= registered_at
    present = _standing(broker, session)
    lowest = sessions.lowest_active_offset(state.image.cluster)
    standing = _next(state, request, present, session, is_caught_up=is_caught_up, lowest=lowest)
    session.metadata_offset = request.current_metadata_offset
    records: list[Message] = []
    if standing is not present:
        records.extend(_moved(state, broker, standing))
    if state.level >= DIRECTORIES:
        records.extend(offline(state, broker, request.offline_log_dirs))
    if state.level >= CORDONED_DIRECTORIES and request.cordoned_log_dirs is not None:
        records.extend(_cordoned(broker, request.cordoned_log_dirs))
    response = BrokerHeartbeatResponse(
        throttle_time_ms=0,
        error_code=ErrorCode.NONE,
        is_caught_up=is_caught_up,
        is_fenced=standing in (Standing.FENCED, Standing.SHUT_DOWN),
        should_shut_down=standing is Standing.SHUT_DOWN,
    )
    if response.is_fenced:
        session.shutdown_offset = -1
    reply = HeartbeatReply(response, standing is Standing.SHUTTING_DOWN)
    return Decision(records, reply, is_atomic=False)


def _standing(broker: Broker, session: Session) -> Standing:
    if broker.is_fenced:
        return Standing.FENCED
    return Standing.SHUTTING_DOWN if session.shutdown_offset >= 0 else Standing.UNFENCED


def _next(
    state: State,
    request: BrokerHeartbeatRequest,
    present: Standing,
    session: Session,
    *,
    is_caught_up: bool,
    lowest: int,
) -> Standing:
    """Where a broker stands after what it asks for."""
    if present is Standing.FENCED:
        may_serve = not request.want_fence and is_caught_up
        stays = Standing.UNFENCED if may_serve else Standing.FENCED
        return Standing.SHUT_DOWN if request.want_shut_down else stays
    if present is Standing.UNFENCED and not request.want_shut_down:
        return Standing.FENCED if request.want_fence else Standing.UNFENCED
    if present is Standing.UNFENCED and request.want_fence:
        return Standing.SHUT_DOWN
    is_behind = present is Standing.SHUTTING_DOWN and session.shutdown_offset > lowest
    if is_behind or has_leaderships(state, request.broker_id):
        return Standing.SHUTTING_DOWN
    return Standing.SHUT_DOWN


def _moved(state: State, broker: Broker, standing: Standing) -> list[Message]:
    """What has to be written for a broker that stands elsewhere now."""
    if standing in (Standing.FENCED, Standing.SHUT_DOWN):
        return fence(state, broker.id)
    change = BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch)
    if standing is Standing.UNFENCED:
        change.fenced = UNFENCED
        going = Going(added=broker.id)
        return [change, *leadership_changes(state, leaderless(state), going)]
    change.in_controlled_shutdown = 1
    moved = leadership_changes(state, places_with(state, broker.id), Going(removed=broker.id))
    return [*moved] if broker.is_shutting_down else [change, *moved]


def offline(state: State, broker: Broker, directories: list[Uuid]) -> list[Message]:
    """A broker has lost directories: what lies in them cannot be led there any more."""
    gone = [one for one in broker.directories if one in directories]
    if not gone:
        return []
    places = [
        (topic, number)
        for directory in gone
        for topic, number, partition in state.image.topics
        if directory in partition.directories
    ]
    return [
        *leadership_changes(state, places, Going(removed=broker.id)),
        BrokerRegistrationChangeRecord(
            broker_id=broker.id,
            broker_epoch=broker.epoch,
            log_dirs=[one for one in broker.directories if one not in directories],
        ),
    ]


def _cordoned(broker: Broker, directories: list[Uuid]) -> list[Message]:
    """Other directories than before are to get no new partitions."""
    if broker.cordoned is not None and set(broker.cordoned) == set(directories):
        return []
    return [
        BrokerRegistrationChangeRecord(
            broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=directories
        )
    ]
