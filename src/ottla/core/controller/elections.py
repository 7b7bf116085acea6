"""Who leads: elections that are asked for, that brokers cause by coming or going, that are due."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ottla.api.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from ottla.api.metadata_records import PartitionChangeRecord
from ottla.core.controller.partition_change import Election, change_of
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.partition import NO_LEADER, Partition
from ottla.core.metadata.topics import Topic
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

ELECTIONS_MAX: Final = 1000
"""How many elections one round makes, so that it does not keep others waiting."""

_ASKED: Final = {0: Election.PREFERRED, 1: Election.UNCLEAN}

Place = tuple[Topic, int]
ElectDecision = Decision[PartitionChangeRecord, ElectLeadersResponse | Refusal]


class Going(NamedTuple):
    """The broker whose coming or going makes elections; -1 where there is none of a kind."""

    removed: int = NO_LEADER
    """It leaves those in sync."""
    added: int = NO_LEADER
    """It counts as active, though the image does not have it so yet."""
    unclean: int = NO_LEADER
    """It stopped without saying so, and may have lost what it had."""


def places_with(state: State, broker: int, *, in_elr: bool = False) -> list[Place]:
    """The partitions that a broker is in sync for, or is an eligible leader replica of."""
    return [
        (topic, number)
        for topic, number, partition in state.image.topics
        if broker in (partition.elr if in_elr else partition.isr)
    ]


def leaderless(state: State) -> Iterator[Place]:
    """The partitions that have no leader."""
    for topic, number, partition in state.image.topics:
        if partition.leader == NO_LEADER:
            yield topic, number


def has_leaderships(state: State, broker: int) -> bool:
    """Whether a broker leads any partition."""
    return any(partition.leader == broker for _, _, partition in state.image.topics)


def leadership_changes(
    state: State, places: Iterable[Place], going: Going
) -> list[PartitionChangeRecord]:
    """What a broker's coming or going makes of some partitions."""

    def is_active(broker: int) -> bool:
        if broker in (going.removed, going.unclean):
            return False
        return broker == going.added or state.image.cluster.is_active(broker)

    made: list[PartitionChangeRecord] = []
    for topic, number in places:
        election = Election.UNCLEAN if state.allows_unclean(topic.name) else Election.ONLINE
        change = change_of(state, topic, number, election=election, is_active=is_active)
        change.unclean = going.unclean
        change.isr = [one for one in change.isr if one not in (going.removed, going.unclean)]
        record = change.record()
        if record is not None:
            made.append(record)
    return made


def decide_elections(state: State, request: ElectLeadersRequest) -> ElectDecision:
    """ElectLeaders: the preferred leaders, or any at all, of some partitions or of every one."""
    election = _ASKED.get(request.election_type)
    if election is None:
        reason = f"Unknown election type {request.election_type}"
        return Decision((), Refusal(ErrorCode.INVALID_REQUEST, reason))
    topics = state.image.topics
    everything = request.topic_partitions is None
    wanted = [(name, [*topic.partitions]) for name, topic in sorted(topics.by_name.items())]
    if request.topic_partitions is not None:
        wanted = [(one.topic, one.partitions) for one in request.topic_partitions]
    records: list[PartitionChangeRecord] = []
    results: list[ElectLeadersResponse.Topic] = []
    for name, partitions in wanted:
        result = ElectLeadersResponse.Topic(topic=name, partition_result=[])
        results.append(result)
        for number in partitions:
            outcome = _elect(state, name, number, election)
            refusal = outcome if isinstance(outcome, Refusal) else Refusal(ErrorCode.NONE)
            if isinstance(outcome, PartitionChangeRecord):
                records.append(outcome)
            if not everything or refusal.error is not ErrorCode.ELECTION_NOT_NEEDED:
                result.partition_result.append(
                    ElectLeadersResponse.Topic.Partition(
                        partition_id=number,
                        error_code=refusal.error,
                        error_message=refusal.message,
                    )
                )
    reply = ElectLeadersResponse(throttle_time_ms=0, replica_election_results=results)
    return Decision(records, reply, is_atomic=False)


def _elect(
    state: State, name: str, number: int, election: Election
) -> PartitionChangeRecord | Refusal:
    """Elect one partition's leader, or say why not."""
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = state.image.topics.by_name.get(name)
    if topic is None:
        return Refusal(unknown, f"No such topic as {name}")
    present = topic.partitions.get(number)
    if present is None:
        return Refusal(unknown, f"No such partition as {name}-{number}")
    if _is_settled(present, election):
        reason = "Leader election not needed for topic partition."
        return Refusal(ErrorCode.ELECTION_NOT_NEEDED, reason)
    record = change_of(state, topic, number, election=election).record()
    if record is not None:
        return record
    if election is Election.PREFERRED:
        reason = "The preferred leader was not available."
        return Refusal(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, reason)
    reason = "Eligible topic partition leaders are not available."
    return Refusal(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, reason)


def _is_settled(present: Partition, election: Election) -> bool:
    if election is Election.PREFERRED:
        return present.leader == present.preferred_leader
    return present.leader != NO_LEADER


def balance(state: State, elections_max: int = ELECTIONS_MAX) -> list[PartitionChangeRecord]:
    """Give partitions back to their preferred leaders; as many records as allowed: more are due."""
    made: list[PartitionChangeRecord] = []
    for topic, number, partition in state.image.topics:
        if len(made) >= elections_max:
            break
        if partition.leader != partition.preferred_leader:
            record = change_of(state, topic, number, election=Election.PREFERRED).record()
            made.extend([] if record is None else [record])
    return made


def elect_unclean(state: State, elections_max: int = ELECTIONS_MAX) -> list[PartitionChangeRecord]:
    """Elect anybody for partitions without a leader, where their topics allow that."""
    made: list[PartitionChangeRecord] = []
    for topic, number in leaderless(state):
        if len(made) >= elections_max:
            break
        if state.allows_unclean(topic.name):
            outcome = _elect(state, topic.name, number, Election.UNCLEAN)
            made.extend([outcome] if isinstance(outcome, PartitionChangeRecord) else [])
    return made
