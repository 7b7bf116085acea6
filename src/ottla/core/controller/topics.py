"""DeleteTopics and CreatePartitions."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from ottla.api.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse
from ottla.api.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from ottla.api.metadata_records import PartitionRecord, RemoveTopicRecord
from ottla.core.controller.assignment import named_partition, placed_partitions
from ottla.core.controller.state import Chance, Refusal, State
from ottla.core.metadata.partition import Partition, PartitionId
from ottla.core.metadata.topics import Topic
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.wire.fields import NO_ID, Uuid

Deleted = DeleteTopicsResponse.Topic
Grown = CreatePartitionsResponse.Topic
Charge = Callable[[int], bool]
DeleteDecision = Decision[RemoveTopicRecord, DeleteTopicsResponse]
GrowDecision = Decision[PartitionRecord, CreatePartitionsResponse]

_THROTTLED: Final = Refusal(
    ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded."
)


def decide_deletion(
    state: State, request: DeleteTopicsRequest, *, charge: Charge = bool
) -> DeleteDecision:
    """Delete topics by name or by id; the answers are in the order of what was asked."""
    wanted = [(name, NO_ID) for name in request.topic_names]
    wanted += [(one.name or "", one.topic_id) for one in request.topics if one.name is not None]
    wanted += [("", one.topic_id) for one in request.topics if one.name is None]
    asked = Counter(wanted)
    by_id = {topic_id for name, topic_id in wanted if not name}
    records: list[RemoveTopicRecord] = []
    results: list[Deleted] = []
    for (name, topic_id), times in asked.items():
        topic = _deletable(state, name, topic_id, times, by_id)
        if isinstance(topic, Topic) and not charge(len(topic.partitions)):
            topic = _THROTTLED
        if isinstance(topic, Refusal):
            results.append(_result(name or None, topic_id, topic))
            continue
        records.append(RemoveTopicRecord(topic_id=topic.id))
        results.append(_result(topic.name, topic.id, Refusal(ErrorCode.NONE)))
    return Decision(records, DeleteTopicsResponse(responses=results))


def _deletable(
    state: State, name: str, topic_id: Uuid, times: int, by_id: set[Uuid]
) -> Topic | Refusal:
    """The topic that someone means, or why it cannot be deleted."""
    topics = state.image.topics
    reason = ""
    if not name and topic_id == NO_ID:
        reason = "Neither topic name nor id were specified."
    elif name and topic_id != NO_ID:
        reason = "You may not specify both topic name and topic id."
    elif times > 1:
        reason = f"Duplicate topic {'name' if name else 'id'}."
    elif not name:
        unknown = Refusal(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        return topics.by_id.get(topic_id, unknown)
    elif name not in topics.by_name:
        unhosted = "This server does not host this topic-partition."
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, unhosted)
    elif topics.by_name[name].id in by_id:
        reason = "The provided topic name maps to an ID that was already supplied."
    return Refusal(ErrorCode.INVALID_REQUEST, reason) if reason else topics.by_name[name]


def _result(name: str | None, topic_id: Uuid, why: Refusal) -> Deleted:
    return Deleted(name=name, topic_id=topic_id, error_code=why.error, error_message=why.message)


def decide_growth(
    state: State, request: CreatePartitionsRequest, chance: Chance, *, charge: Charge = bool
) -> GrowDecision:
    """Give topics more partitions."""
    times = Counter(one.name for one in request.topics)
    records: list[PartitionRecord] = []
    results: list[Grown] = []
    for wanted in {one.name: one for one in request.topics}.values():
        outcome: list[PartitionRecord] | Refusal
        if times[wanted.name] > 1:
            outcome = Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        else:
            outcome = _grown(state, wanted, chance, charge)
        why = outcome if isinstance(outcome, Refusal) else Refusal(ErrorCode.NONE)
        if not isinstance(outcome, Refusal):
            records.extend(outcome)
        results.append(Grown(name=wanted.name, error_code=why.error, error_message=why.message))
    reply = CreatePartitionsResponse(throttle_time_ms=0, results=results)
    return Decision(() if request.validate_only else records, reply)


def _grown(
    state: State, wanted: CreatePartitionsRequest.Topic, chance: Chance, charge: Charge
) -> list[PartitionRecord] | Refusal:
    """The records of a topic's new partitions."""
    topic = state.image.topics.by_name.get(wanted.name)
    if topic is None:
        return Refusal(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    fault = _count_fault(topic, wanted)
    if fault is not None:
        return fault
    present = len(topic.partitions)
    if not charge(wanted.count - present):
        return _THROTTLED
    replicas = len(topic.partitions[0].replicas)
    made = (
        placed_partitions(state, wanted.count - present, replicas, chance)
        if wanted.assignments is None
        else _named(state, present, replicas, wanted.assignments)
    )
    if isinstance(made, Refusal):
        return made
    return [
        one.record(PartitionId(topic.id, number), state.level, has_elr=state.has_elr)
        for number, one in enumerate(made, present)
    ]


def _named(
    state: State,
    first: int,
    count: int,
    assignments: list[CreatePartitionsRequest.Topic.Assignment],
) -> list[Partition] | Refusal:
    """New partitions on the replicas that someone named, `count` of them each."""
    made: list[Partition] = []
    for number, assignment in enumerate(assignments, first):
        one = named_partition(state, number, assignment.broker_ids, count)
        if isinstance(one, Refusal):
            return one
        made.append(one)
    return made


def _count_fault(topic: Topic, wanted: CreatePartitionsRequest.Topic) -> Refusal | None:
    """Why a topic cannot have as many partitions as are wanted."""
    present = len(topic.partitions)
    if wanted.count == present:
        reason = f"Topic already has {present} partition(s)."
        return Refusal(ErrorCode.INVALID_PARTITIONS, reason)
    if wanted.count < present:
        reason = (
            f"The topic {topic.name} currently has {present} partition(s); {wanted.count} would"
            " not be an increase."
        )
        return Refusal(ErrorCode.INVALID_PARTITIONS, reason)
    additional = wanted.count - present
    if wanted.assignments is not None and len(wanted.assignments) != additional:
        reason = (
            f"Attempted to add {additional} additional partition(s), but only"
            f" {len(wanted.assignments)} assignment(s) were specified."
        )
        return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    return None
