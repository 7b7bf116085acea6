"""New partitions: the replicas that someone names for them, or those that the placement finds."""

from collections.abc import Sequence

from ottla.core.controller.placement import UsableBroker, place
from ottla.core.controller.state import Chance, Refusal, State
from ottla.core.metadata.partition import Partition
from ottla.errors import ErrorCode


def usable_brokers(state: State) -> list[UsableBroker]:
    """The brokers that can get replicas: not one that is about to stop or has no room left."""
    return [
        UsableBroker(broker.id, broker.rack, broker.is_fenced)
        for _, broker in sorted(state.image.cluster.brokers.items())
        if broker.has_room and (broker.is_fenced or not broker.is_shutting_down)
    ]


def new_partition(state: State, replicas: Sequence[int]) -> Partition | None:
    """A partition as it begins: the first active replica leads; None if there is none."""
    isr = tuple(one for one in replicas if state.image.cluster.is_active(one))
    if not isr:
        return None
    directories = tuple(map(state.default_directory, replicas))
    return Partition(tuple(replicas), directories, isr, leader=isr[0])


def placed_partitions(
    state: State, partitions: int, replicas: int, chance: Chance
) -> list[Partition] | Refusal:
    """New partitions where the placement wants them."""
    placed = place(usable_brokers(state), partitions, replicas, chance)
    if isinstance(placed, Refusal):
        return placed
    made = [new_partition(state, one) for one in placed]
    found = [one for one in made if one is not None]
    if len(found) < len(made):
        return Refusal(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"Unable to replicate the partition {replicas} time(s): All brokers are currently"
            " fenced or in controlled shutdown.",
        )
    return found


def named_partition(
    state: State, number: int, replicas: Sequence[int], count: int | None
) -> Partition | Refusal:
    """A new partition on the replicas that someone named; `count` of them, if that is known."""
    fault = assignment_fault(state, replicas, count)
    if fault is not None:
        return fault
    made = new_partition(state, replicas)
    if made is None:
        return Refusal(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "All brokers specified in the manual partition assignment for partition"
            f" {number} are fenced or in controlled shutdown.",
        )
    return made


def assignment_fault(state: State, replicas: Sequence[int], count: int | None) -> Refusal | None:
    """What is wrong with replicas that someone named."""
    reason = ""
    if not replicas:
        reason = "The manual partition assignment includes an empty replica list."
    before = None
    for broker in sorted(replicas):
        if broker not in state.image.cluster.brokers:
            reason = (
                f"The manual partition assignment includes broker {broker}, but no such broker is"
                " registered."
            )
        elif broker == before:
            reason = f"The manual partition assignment includes the broker {broker} more than once."
        if reason:
            break
        before = broker
    if not reason and count is not None and len(replicas) != count:
        reason = (
            f"The manual partition assignment includes a partition with {len(replicas)}"
            " replica(s), but this is not consistent with previous partitions, which have"
            f" {count} replica(s)."
        )
    return Refusal(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason) if reason else None
