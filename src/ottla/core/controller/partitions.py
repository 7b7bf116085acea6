"""AlterPartition and AssignReplicasToDirs: what brokers say of the partitions that they have."""

from ottla.api.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from ottla.api.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
)
from ottla.api.metadata_records import PartitionChangeRecord
from ottla.core.controller.elections import Going, Place, leadership_changes
from ottla.core.controller.partition_change import Election, change_of
from ottla.core.controller.state import Refusal, State
from ottla.core.metadata.levels import DIRECTORIES
from ottla.core.metadata.partition import NO_LEADER_CHANGE, RECOVERED, RECOVERING, Partition
from ottla.core.metadata.topics import Topic
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode

Wanted = AlterPartitionRequest.Topic.Partition
Outcome = AlterPartitionResponse.Topic.Partition
AlterDecision = Decision[PartitionChangeRecord, AlterPartitionResponse | Refusal]
AssignDecision = Decision[PartitionChangeRecord, AssignReplicasToDirsResponse | Refusal]


def decide_partition_alteration(state: State, request: AlterPartitionRequest) -> AlterDecision:
    """Leaders say who is in sync; below version 2 they name topics, below 3 no broker epochs."""
    fault = state.epoch_fault(request.broker_id, request.broker_epoch)
    if fault is not None:
        return Decision((), fault)
    records: list[PartitionChangeRecord] = []
    results: list[AlterPartitionResponse.Topic] = []
    for one in request.topics:
        topics = state.image.topics
        topic = topics.by_name.get(one.topic_name) or topics.by_id.get(one.topic_id)
        results.append(
            AlterPartitionResponse.Topic(
                topic_name=one.topic_name,
                topic_id=one.topic_id,
                partitions=[
                    _altered(state, request.broker_id, topic, wanted, records)
                    for wanted in one.partitions
                ],
            )
        )
    reply = AlterPartitionResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, topics=results)
    return Decision(records, reply, is_atomic=False)


def _altered(
    state: State,
    broker: int,
    topic: Topic | None,
    wanted: Wanted,
    records: list[PartitionChangeRecord],
) -> Outcome:
    """What becomes of one partition; its record, if there is one, is added to the others."""
    if topic is None:
        return _refused(wanted.partition_index, ErrorCode.UNKNOWN_TOPIC_ID)
    present = topic.partitions.get(wanted.partition_index)
    if present is None:
        return _refused(wanted.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    isr = [(one.broker_id, one.broker_epoch) for one in wanted.new_isr_with_epochs]
    isr = isr or [(one, -1) for one in wanted.new_isr]
    error = _epoch_error(broker, present, wanted) or _isr_error(state, present, wanted, isr)
    if error:
        return _refused(wanted.partition_index, error)
    election = Election.UNCLEAN if state.allows_unclean(topic.name) else Election.ONLINE
    change = change_of(state, topic, wanted.partition_index, election=election)
    change.isr = [one for one, _ in isr]
    change.leader_recovery_state = wanted.leader_recovery_state
    record = change.record()
    if record is not None:
        records.append(record)
        present = present.merged(record)
        if record.leader not in (broker, NO_LEADER_CHANGE):
            return _refused(wanted.partition_index, ErrorCode.NEW_LEADER_ELECTED)
    return Outcome(
        partition_index=wanted.partition_index,
        error_code=ErrorCode.NONE,
        leader_id=present.leader,
        leader_epoch=present.leader_epoch,
        isr=[*present.isr],
        leader_recovery_state=present.leader_recovery_state,
        partition_epoch=present.partition_epoch,
    )


def _refused(partition: int, error: ErrorCode) -> Outcome:
    return Outcome(
        partition_index=partition,
        error_code=error,
        leader_id=0,
        leader_epoch=0,
        isr=[],
        partition_epoch=0,
    )


def _epoch_error(broker: int, present: Partition, wanted: Wanted) -> ErrorCode | None:
    """Whether the leader speaks of the partition as it is; what it knows more, another knows."""
    if wanted.leader_epoch > present.leader_epoch:
        return ErrorCode.NOT_CONTROLLER
    if wanted.partition_epoch > present.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    if wanted.leader_epoch < present.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if broker != present.leader:
        return ErrorCode.INVALID_REQUEST
    if wanted.partition_epoch < present.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    return None


def _isr_error(
    state: State, present: Partition, wanted: Wanted, isr: list[tuple[int, int]]
) -> ErrorCode | None:
    """Whether these can be in sync, in these epochs of their brokers."""
    invalid = ErrorCode.INVALID_REQUEST
    recovery = wanted.leader_recovery_state
    among = {one for one, _ in isr}
    if len(among) < len(isr) or not among <= set(present.replicas) or present.leader not in among:
        return invalid
    if recovery not in (RECOVERED, RECOVERING) or (recovery == RECOVERING and len(isr) > 1):
        return invalid
    if recovery == RECOVERING and present.leader_recovery_state == RECOVERED:
        return invalid
    for broker, epoch in isr:
        known = state.image.cluster.brokers.get(broker)
        if known is None or not known.is_active or epoch not in (-1, known.epoch):
            return ErrorCode.INELIGIBLE_REPLICA
    return None


def decide_directories(state: State, request: AssignReplicasToDirsRequest) -> AssignDecision:
    """A broker says in which of its directories replicas lie."""
    if state.level < DIRECTORIES:
        reason = "Directory assignment is not supported yet."
        return Decision((), Refusal(ErrorCode.UNSUPPORTED_VERSION, reason))
    fault = state.epoch_fault(request.broker_id, request.broker_epoch)
    if fault is not None:
        return Decision((), fault)
    broker = state.image.cluster.brokers[request.broker_id]
    made = AssignReplicasToDirsResponse
    records: list[PartitionChangeRecord] = []
    lost: list[Place] = []
    results: list[AssignReplicasToDirsResponse.Directory] = []
    for directory in request.directories:
        result = made.Directory(id=directory.id, topics=[])
        results.append(result)
        for one in directory.topics:
            topic = state.image.topics.by_id.get(one.topic_id)
            told = made.Directory.Topic(topic_id=one.topic_id, partitions=[])
            result.topics.append(told)
            for wanted in one.partitions:
                number = wanted.partition_index
                error = _assignment_error(topic, number, broker.id)
                if topic is not None and not error:
                    change = change_of(state, topic, number)
                    change.directories[broker.id] = directory.id
                    record = change.record()
                    records.extend([] if record is None else [record])
                    lost.extend([] if broker.has_online(directory.id) else [(topic, number)])
                told.partitions.append(
                    made.Directory.Topic.Partition(partition_index=number, error_code=error)
                )
    records.extend(leadership_changes(state, lost, Going(removed=broker.id)))
    return Decision(
        records,
        made(throttle_time_ms=0, error_code=ErrorCode.NONE, directories=results),
        is_atomic=False,
    )


def _assignment_error(topic: Topic | None, number: int, broker: int) -> ErrorCode:
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    present = topic.partitions.get(number)
    if present is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker not in present.replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return ErrorCode.NONE
