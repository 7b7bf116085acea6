"""The quorum under faults: its invariants hold, it lives on, and a planted bug is found."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ottla.core.quorum import prospective, unattached
from ottla.core.quorum.follower import Follower
from ottla.core.quorum.leader import Leader
from ottla.core.quorum.machine import Quorum
from tests.sim.quorum_world import Faults, World

SEEDS = 50
PLANTED_SEEDS = 200
FAULTY_MS, CALM_MS, STABLE_MS = 6000, 6000, 2000
# Voters, observers, kraft.version, and the gap between changes of the voters.
SHAPES = {
    "one voter and two observers": (1, 2, 0, 0),
    "three voters": (3, 0, 0, 0),
    "three voters and an observer, voters in the log": (3, 1, 1, 0),
    "five voters": (5, 0, 1, 0),
    "voters that come and go": (3, 2, 1, 600),
}


def world(seed: int, shape: str, faults: Faults | None = None) -> World:
    voters, observers, kraft_version, change_gap_ms = SHAPES[shape]
    faults = replace(faults or Faults(), change_gap_ms=change_gap_ms)
    return World(seed, voters, observers, kraft_version, faults)


def play(seed: int, shape: str, faults: Faults | None = None) -> World:
    """A time with faults, then one without: a leader is there, stays, and commits."""
    played = world(seed, shape, faults)
    played.run(FAULTY_MS)
    played.heal()
    played.run(CALM_MS)
    leader = played.leader()
    assert leader is not None, "nobody leads"
    assert leader.machine is not None
    epoch, high_watermark = leader.machine.epoch, played.checks.high_watermark
    played.run(STABLE_MS)
    assert played.leader() is leader, "another leads without need"
    assert leader.machine.epoch == epoch
    assert played.checks.high_watermark > high_watermark, "nothing is committed"
    for node in played.nodes:
        machine = node.machine
        assert machine is not None
        assert machine.high_watermark > high_watermark, f"replica {node.id} does not follow"
    return played


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("shape", SHAPES)
def test_invariants_hold_and_the_quorum_recovers(shape: str, seed: int) -> None:
    play(seed, shape)


def cut_off_and_back(seed: int) -> None:
    """A follower that was alone for long brings down nobody when it is back."""
    quiet = World(seed, 3, faults=Faults(lost=0, doubled=0, slow=0, gap_ms=0))
    quiet.run(5000)
    leader = quiet.leader()
    assert leader is not None
    assert leader.machine is not None
    epoch = leader.machine.epoch
    quiet.isolate(next(node for node in quiet.nodes if node is not leader))
    quiet.run(8000)
    quiet.cut.clear()
    quiet.run(5000)
    assert quiet.leader() is leader, "an election for nothing"
    assert leader.machine.epoch == epoch, "an election for nothing"


@pytest.mark.parametrize("seed", range(10))
def test_a_follower_that_was_cut_off_comes_back_unnoticed(seed: int) -> None:
    cut_off_and_back(seed)


def traces(hash_seed: int) -> str:
    code = (
        "from tests.sim.test_quorum import SHAPES, play\n"
        "for shape in SHAPES: print(play(7, shape).trace.hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def test_a_seed_is_a_trace_whatever_the_hash_seed() -> None:
    first = traces(1)
    assert len(set(first.split())) == len(SHAPES)
    assert first == traces(2)


# Planted bugs.


def votes_twice(patch: pytest.MonkeyPatch) -> None:
    def may_vote(*_: object, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        return is_up_to_date

    patch.setattr(unattached, "may_vote", may_vote)
    patch.setattr(prospective, "may_vote", may_vote)


def commits_older_epochs(patch: pytest.MonkeyPatch) -> None:
    def committed(self: Leader) -> int | None:
        offset = self.replicas.majority_offset()
        return offset if offset > self.high_watermark else None

    patch.setattr(Leader, "committed", committed)


def votes_for_any_log(patch: pytest.MonkeyPatch) -> None:
    def would_vote(self: Any, for_: Any, *, is_up_to_date: bool, is_pre_vote: bool) -> bool:
        return is_pre_vote or (self.voted in (None, for_) and self.leader_id is None)

    patch.setattr(unattached.Unattached, "would_vote", would_vote)
    patch.setattr(prospective.Prospective, "would_vote", would_vote)


def counts_what_is_not_flushed(patch: pytest.MonkeyPatch) -> None:
    def count_own_log(self: Quorum, leader: Leader) -> None:
        leader.replicas.get(self.options.key).end_offset = self.log.end_offset
        self.commit(leader)

    def flush(self: Quorum) -> None:
        if isinstance(self.state, Leader):
            self.count_own_log(self.state)
        original(self)

    original = Quorum.flush
    patch.setattr(Quorum, "count_own_log", count_own_log)
    patch.setattr(Quorum, "flush", flush)


def answers_before_storing(patch: pytest.MonkeyPatch) -> None:
    def released(self: Quorum) -> list[Any]:
        out = original(self)
        held, self._held = self._held, []
        return [*held, *out]

    original = Quorum._released
    patch.setattr(Quorum, "_released", released)


def ignores_pre_vote(patch: pytest.MonkeyPatch) -> None:
    def tick(self: Follower, quorum: Quorum) -> None:
        if quorum.is_voter and quorum.now_ms >= self.fetch_deadline_ms:
            quorum.become_candidate()
        else:
            original(self, quorum)

    original = Follower.tick
    patch.setattr(Follower, "tick", tick)


RIVALS = Faults(timeout_ms=20, delay_ms=40, device_ms=10, bounced=0.5, lost=0, slow=0, gap_ms=300)
"""Many candidates at once, and voters that crash while they are asked."""
SLOW_RIVALS = replace(RIVALS, timeout_ms=30, delay_ms=30, device_ms=15, bounced=0.3, gap_ms=150)


def plays(shape: str, faults: Faults | None = None) -> Callable[[int], object]:
    return lambda seed: play(seed, shape, faults)


def rivals(faults: Faults) -> Callable[[int], object]:
    """There may be no time for a leader; what counts is that there are never two."""
    return lambda seed: world(seed, "three voters", faults).run(FAULTY_MS)


@pytest.mark.parametrize("seed", range(SEEDS // 2))
@pytest.mark.parametrize("faults", [RIVALS, SLOW_RIVALS], ids=["quick", "slow"])
def test_rivals_do_no_harm(faults: Faults, seed: int) -> None:
    rivals(faults)(seed)


@pytest.mark.parametrize(
    ("plant", "playing", "broken"),
    [
        pytest.param(votes_twice, rivals(RIVALS), "I-QRM-3", id="votes twice"),
        pytest.param(
            commits_older_epochs, plays("three voters"), "I-QRM-5", id="commits older epochs"
        ),
        pytest.param(votes_for_any_log, plays("three voters"), "I-QRM-5", id="votes for any log"),
        pytest.param(
            counts_what_is_not_flushed, plays("three voters"), "I-QRM-4", id="flushes too late"
        ),
        pytest.param(answers_before_storing, rivals(SLOW_RIVALS), "I-QRM-3", id="stores too late"),
        pytest.param(
            ignores_pre_vote, cut_off_and_back, "an election for nothing", id="ignores pre-vote"
        ),
        pytest.param(
            None, rivals(replace(RIVALS, forgets_elections=True)), "I-QRM-3", id="forgets votes"
        ),
    ],
)
def test_a_planted_bug_is_found(
    plant: Callable[[pytest.MonkeyPatch], None] | None,
    playing: Callable[[int], object],
    broken: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if plant is not None:
        plant(monkeypatch)
    said = next(filter(None, (complaint(playing, seed) for seed in range(PLANTED_SEEDS))), "")
    assert broken in said, f"not found in {PLANTED_SEEDS} seeds"


def complaint(playing: Callable[[int], object], seed: int) -> str:
    """What is wrong with a run; nothing if it went well."""
    try:
        playing(seed)
    except AssertionError as found:
        return str(found)
    return ""
