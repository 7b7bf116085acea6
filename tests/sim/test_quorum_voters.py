"""Replicas that join by themselves, and voters that move."""

import pytest

from ottla.core.quorum.election import Election
from ottla.core.quorum.voters import Endpoint, ReplicaKey, VoterSet
from ottla.wire.fields import Uuid
from tests.sim.memory_log import MemoryLog
from tests.sim.quorum_world import Faults, World

QUIET = Faults(lost=0, doubled=0, slow=0, gap_ms=0, auto_join=True)


def voters(world: World) -> list[VoterSet]:
    """The voters as each replica knows them."""
    return [node.machine.history.voters for node in world.nodes if node.machine]


@pytest.mark.parametrize("seed", range(5))
def test_controllers_join_by_themselves(seed: int) -> None:
    world = World(seed, 1, 3, 1, QUIET)
    world.run(30_000)
    assert [each.ids for each in voters(world)] == [(1, 2, 3, 4)] * 4
    leader = world.leader()
    assert leader is not None
    world.crash(leader, is_power_cut=True)
    world.run(10_000)
    assert world.leader() not in (None, leader)


@pytest.mark.parametrize("seed", range(5))
def test_a_voter_with_a_new_directory_takes_the_place_of_its_old_self(seed: int) -> None:
    world = World(seed, 3, 0, 1, QUIET)
    world.run(5000)
    node = next(node for node in world.nodes if node is not world.leader())
    world.crash(node, is_power_cut=True)
    node.log, node.stored = MemoryLog(), Election()
    node.key = ReplicaKey(node.id, Uuid(b"n" * 16))
    world.format(node)
    world.checks.stored_epochs[node.id] = 0
    world.start(node)
    world.run(20_000)
    assert all(each.has(node.key) and len(each) == 3 for each in voters(world))


@pytest.mark.parametrize("seed", range(5))
def test_a_voter_that_moved_says_where_it_is(seed: int) -> None:
    world = World(seed, 3, 0, 1, QUIET)
    world.run(5000)
    leader = world.leader()
    assert leader is not None
    for node in world.nodes:
        world.endpoints[node.id] = Endpoint("CONTROLLER", f"node{node.id}", 26000 + node.id)
        world.crash(node, is_power_cut=True)
        world.start(node)
        world.run(10_000)
    for each in voters(world):
        assert [voter.endpoints[0].port for voter in each.voters] == [26001, 26002, 26003]
