"""AlterPartitionReassignments and ListPartitionReassignments.

A reassignment gives a partition the replicas of both its old and its new places; it ends by itself
(`partition_change`) once all new ones are in sync. To cancel it is to give back what it began with.
"""

from ottla.api.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from ottla.api.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from ottla.api.metadata_records import PartitionChangeRecord
from ottla.core.controller.assignment import assignment_fault
from ottla.core.controller.partition_change import Election, change_of
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.partition import Partition
from ottla.core.metadata.topics import Topic
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

Answer = AlterPartitionReassignmentsResponse
ReassignDecision = Decision[PartitionChangeRecord, Answer]


def decide_reassignments(
    state: State, request: AlterPartitionReassignmentsRequest
) -> ReassignDecision:
    """Begin and cancel reassignments, each partition on its own."""
    may_resize = request.allow_replication_factor_change
    records: list[PartitionChangeRecord] = []
    responses: list[Answer.Topic] = []
    for one in request.topics:
        answered = Answer.Topic(name=one.name, partitions=[])
        responses.append(answered)
        for wanted in one.partitions:
            number, replicas = wanted.partition_index, wanted.replicas
            outcome = _reassigned(state, one.name, number, replicas, may_resize=may_resize)
            why = outcome if isinstance(outcome, Refusal) else Refusal(ErrorCode.NONE)
            records.extend([outcome] if isinstance(outcome, PartitionChangeRecord) else [])
            answered.partitions.append(
                Answer.Topic.Partition(
                    partition_index=number, error_code=why.error, error_message=why.message
                )
            )
    reply = Answer(
        throttle_time_ms=0,
        allow_replication_factor_change=may_resize,
        error_code=ErrorCode.NONE,
        error_message=None,
        responses=responses,
    )
    return Decision(records, reply)


def _reassigned(
    state: State, name: str, number: int, replicas: list[int] | None, *, may_resize: bool
) -> PartitionChangeRecord | Refusal | None:
    """What has to be written for one partition, or why it stays as it is."""
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    topic = state.image.topics.by_name.get(name)
    if topic is None:
        return Refusal(unknown, f"Unable to find a topic named {name}.")
    present = topic.partitions.get(number)
    if present is None:
        return Refusal(unknown, f"Unable to find partition {name}:{number}.")
    if replicas is None:
        return _cancelled(state, topic, number)
    fault = assignment_fault(state, replicas, None)
    if fault is None and not may_resize:
        fault = _size_fault(present, replicas)
    if fault is not None:
        return fault
    change = change_of(state, topic, number)
    removing = sorted(set(present.replicas) - set(replicas))
    adding = sorted(set(replicas) - set(present.replicas))
    change.replicas = [*replicas, *removing]
    change.removing = removing or change.removing
    change.adding = adding or change.adding
    return change.record()


def _size_fault(present: Partition, replicas: list[int]) -> Refusal | None:
    """The number of replicas is to stay: that which a reassignment under way leads to."""
    kept = {*present.replicas, *present.adding} - {*present.removing}
    size = len(kept) if present.is_reassigning else len(present.replicas)
    if size == len(replicas):
        return None
    reason = f"The replication factor is changed from {size} to {len(replicas)}"
    return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, reason)


def _cancelled(state: State, topic: Topic, number: int) -> PartitionChangeRecord | Refusal | None:
    """Give a partition back the replicas that it had."""
    present = topic.partitions[number]
    if not present.is_reassigning:
        return Refusal(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = [one for one in present.replicas if one not in present.adding]
    isr = [one for one in present.isr if one not in present.adding]
    allows_unclean = state.allows_unclean(topic.name)
    reason = ""
    if not replicas:
        reason = "Invalid replica assignment: addingReplicas contains all replicas."
    elif not isr and not allows_unclean:
        reason = (
            f"Unable to revert partition assignment for {topic.name}:{number} because it would"
            " require an unclean leader election."
        )
    if reason:
        return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    election = Election.UNCLEAN if allows_unclean else Election.ONLINE
    change = change_of(state, topic, number, election=election)
    change.isr, change.replicas = isr or replicas[:1], replicas
    change.removing, change.adding = [], []
    return change.record()


def list_reassignments(
    state: State, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """The partitions on their way, of some topics or of all."""
    topics = state.image.topics.by_name
    wanted = [(topic, [*topic.partitions]) for _, topic in sorted(topics.items())]
    if request.topics is not None:
        wanted = [
            (topics[one.name], one.partition_indexes)
            for one in request.topics
            if one.name in topics
        ]
    made = ListPartitionReassignmentsResponse
    found: list[ListPartitionReassignmentsResponse.Topic] = []
    for topic, numbers in wanted:
        moving = [
            made.Topic.Partition(
                partition_index=number,
                replicas=[*partition.replicas],
                adding_replicas=[*partition.adding],
                removing_replicas=[*partition.removing],
            )
            for number in numbers
            if (partition := topic.partitions.get(number)) and partition.is_reassigning
        ]
        if moving:
            found.append(made.Topic(name=topic.name, partitions=moving))
    return made(throttle_time_ms=0, error_code=ErrorCode.NONE, error_message=None, topics=found)
