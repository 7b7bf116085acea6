"""CreateTopics: what may be created, where its partitions go, what is set for it."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ottla.api.create_topics import CreateTopicsRequest, CreateTopicsResponse
from ottla.api.metadata_records import ConfigRecord, TopicRecord
from ottla.config.alteration import Alteration, Operation
from ottla.config.topics import DEFAULT_REPLICATION_FACTOR, NUM_PARTITIONS
from ottla.core.controller.assignment import named_partition, placed_partitions
from ottla.core.controller.configs import altered_records, cleared
from ottla.core.controller.state import RECORDS_MAX, Chance, Refusal, State
from ottla.core.metadata.configs import Resource, ResourceType
from ottla.core.metadata.partition import Partition, PartitionId
from ottla.core.recorded import Decision
from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue
from ottla.wire.fields import Message
from ottla.wire.topics import NAME_LENGTH_MAX, check_topic
from ottla.wire.uuids import uuid_of_random

METADATA_TOPIC_NAME: Final = "__cluster_metadata"

Wanted = CreateTopicsRequest.Topic
Result = CreateTopicsResponse.Topic
Charge = Callable[[int], bool]
CreateDecision = Decision[Message, CreateTopicsResponse | Refusal]


class Plan(NamedTuple):
    """A topic that can be created."""

    records: list[Message]
    result: Result


def decide_creation(
    state: State,
    request: CreateTopicsRequest,
    chance: Chance,
    *,
    describable: Iterable[str] | None = None,
    charge: Charge = bool,
) -> CreateDecision:
    """Create what can be created of some topics.

    `describable` names the topics whose settings may be shown, all if it is None; `charge` says
    whether so many partitions are within the quota of whoever asks.
    """
    default = state.settings()[NUM_PARTITIONS]
    counts = [
        len(one.assignments)
        or (default if one.num_partitions == -1 else max(one.num_partitions, 0))
        for one in request.topics
    ]
    if sum(counts) > RECORDS_MAX:
        reason = "Excessively large number of partitions per request."
        return Decision((), Refusal(ErrorCode.POLICY_VIOLATION, reason))
    times = Counter(one.name for one in request.topics)
    shown = None if describable is None else frozenset(describable)
    described: dict[tuple[tuple[str, str], ...], list[Result.Config]] = {}
    records: list[Message] = []
    results: list[Result] = []
    for topic in {one.name: one for one in request.topics}.values():
        outcome = _planned(state, topic, times[topic.name], chance, charge)
        if isinstance(outcome, Refusal):
            results.append(_refused(topic.name, outcome))
            continue
        records.extend(outcome.records)
        if shown is None or topic.name in shown:
            given = tuple((one.name, one.value or "") for one in topic.configs)
            # Many topics are created alike, and what is in force for them is told but once.
            if given not in described:
                described[given] = _described(state, dict(given))
            outcome.result.configs = described[given]
        else:
            outcome.result.num_partitions = outcome.result.replication_factor = -1
            outcome.result.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        results.append(outcome.result)
    reply = CreateTopicsResponse(topics=results)
    if len(records) > RECORDS_MAX:
        reason = "Excessively large number of records per request."
        return Decision((), Refusal(ErrorCode.POLICY_VIOLATION, reason))
    return Decision(() if request.validate_only else records, reply)


def _planned(
    state: State, topic: Wanted, times: int, chance: Chance, charge: Charge
) -> Plan | Refusal:
    """The records that create a topic, or why it cannot be."""
    fault = _name_fault(state, topic.name, times)
    if fault is not None:
        return fault
    settings = _settings(state, topic)
    if isinstance(settings, Refusal):
        return settings
    partitions = _partitions(state, topic, chance)
    if isinstance(partitions, Refusal):
        return partitions
    if not charge(len(partitions)):
        reason = "The throttling quota has been exceeded."
        return Refusal(ErrorCode.THROTTLING_QUOTA_EXCEEDED, reason)
    topic_id = uuid_of_random(chance.randbytes(16))
    level, has_elr = state.level, state.has_elr
    result = Result(
        name=topic.name,
        topic_id=topic_id,
        error_code=ErrorCode.NONE,
        error_message=None,
        num_partitions=len(partitions),
        replication_factor=len(partitions[0].replicas),
    )
    records: list[Message] = [
        TopicRecord(name=topic.name, topic_id=topic_id),
        *settings,
        *cleared(state, settings),
        *(
            partition.record(PartitionId(topic_id, number), level, has_elr=has_elr)
            for number, partition in enumerate(partitions)
        ),
    ]
    return Plan(records, result)


def _name_fault(state: State, name: str, times: int) -> Refusal | None:
    """Why a topic of this name cannot be created."""
    if times > 1:
        return Refusal(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    if name == METADATA_TOPIC_NAME:
        reason = f"Creation of internal topic {name} is prohibited."
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if name in state.image.topics.by_name:
        return Refusal(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    invalid, other = invalid_name(name), state.image.topics.alike(name)
    if invalid is None and other is not None:
        invalid = f"Topic '{name}' collides with existing topic: {other}"
    return None if invalid is None else Refusal(ErrorCode.INVALID_TOPIC_EXCEPTION, invalid)


def invalid_name(name: str) -> str | None:
    """What Kafka says of a name that no topic may have; None if one may."""
    try:
        check_topic(name)
    except InvalidValue:
        pass
    else:
        return None
    if not name:
        reason = "the empty string is not allowed"
    elif name in (".", ".."):
        reason = f"'{name}' is not allowed"
    elif len(name) > NAME_LENGTH_MAX:
        reason = f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    else:
        reason = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics,"
            " '.', '_' and '-'"
        )
    return f"Topic name is invalid: {reason}"


def _settings(state: State, topic: Wanted) -> list[ConfigRecord] | Refusal:
    """What shall be set for the topic, as records."""
    unset = [one.name for one in topic.configs if one.value is None]
    if unset:
        reason = f"Null value not supported for topic configs: {','.join(unset)}"
        return Refusal(ErrorCode.INVALID_CONFIG, reason)
    changes = [Alteration(one.name, Operation.SET, one.value) for one in topic.configs]
    resource = Resource(ResourceType.TOPIC, topic.name)
    return altered_records(state, resource, changes, is_new=True)


def _partitions(state: State, topic: Wanted, chance: Chance) -> list[Partition] | Refusal:
    """The new topic's partitions in their order."""
    if topic.assignments:
        return _named(state, topic)
    settings = state.settings()
    replicas, count = topic.replication_factor, topic.num_partitions
    if replicas < -1 or replicas == 0:
        reason = "Replication factor must be larger than 0, or -1 to use the default value."
        return Refusal(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
    if count < -1 or count == 0:
        reason = "Number of partitions was set to an invalid non-positive value."
        return Refusal(ErrorCode.INVALID_PARTITIONS, reason)
    count = settings[NUM_PARTITIONS] if count == -1 else count
    replicas = settings[DEFAULT_REPLICATION_FACTOR] if replicas == -1 else replicas
    placed = placed_partitions(state, count, replicas, chance)
    if isinstance(placed, Refusal) and not str(placed.message).startswith("Unable"):
        prefix = f"Unable to replicate the partition {replicas} time(s): "
        return Refusal(placed.error, f"{prefix}{placed.message}")
    return placed


def _named(state: State, topic: Wanted) -> list[Partition] | Refusal:
    """The partitions of a topic whose replicas were all named."""
    specified = "A manual partition assignment was specified, but "
    if topic.replication_factor != -1:
        reason = f"{specified}replication factor was not set to -1."
        return Refusal(ErrorCode.INVALID_REQUEST, reason)
    if topic.num_partitions != -1:
        return Refusal(ErrorCode.INVALID_REQUEST, f"{specified}numPartitions was not set to -1.")
    made: dict[int, Partition] = {}
    count: int | None = None
    for assignment in topic.assignments:
        number = assignment.partition_index
        if number in made:
            reason = f"Found multiple manual partition assignments for partition {number}"
            return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
        partition = named_partition(state, number, assignment.broker_ids, count)
        if isinstance(partition, Refusal):
            return partition
        count, made[number] = len(partition.replicas), partition
    if sorted(made) != [*range(len(made))]:
        reason = "partitions should be a consecutive 0-based integer sequence"
        return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    return [made[number] for number in range(len(made))]


def _described(state: State, given: dict[str, str]) -> list[Result.Config]:
    """What is in force for a topic for which so much is set."""
    shown = state.settings().topic(given).describe_all()
    return [
        Result.Config(
            name=one.name,
            value=None if one.sensitive else one.value,
            read_only=one.read_only,
            config_source=one.source,
            is_sensitive=one.sensitive,
        )
        for one in sorted(shown, key=lambda one: one.name)
    ]


def _refused(name: str, why: Refusal) -> Result:
    return Result(name=name, error_code=why.error, error_message=why.message)
