"""The metadata log on disk: a quorum of one lives through restarts, snapshots and power cuts."""

import random

import pytest

from ottla.broker.quorum_files import read_bootstrap, read_election
from ottla.broker.quorum_log import Retention
from ottla.core.quorum.effects import BecameLeader, HighWatermarkMoved
from ottla.core.quorum.log import OffsetAndEpoch
from ottla.storage.file_names import parse_snapshot_file
from ottla.storage.metadata_snapshots import SnapshotContent
from tests.unit.broker.one_voter import (
    DIRECTORY,
    FEATURES,
    KEY,
    NOW_MS,
    VOTERS,
    OneVoter,
    formatted,
)

kraft_versions = pytest.mark.parametrize("kraft_version", [0, 1])


@kraft_versions
def test_one_voter_elects_itself_and_commits(kraft_version: int) -> None:
    disk = formatted(kraft_version)
    node = OneVoter(disk, kraft_version)
    assert BecameLeader(1, 0) in node.effects
    assert node.machine.high_watermark == node.log.end_offset == (3 if kraft_version else 1)
    end_offset = node.append([b"one", b"two"])
    assert node.effects[-1] == HighWatermarkMoved(end_offset)
    election = read_election(disk, node.folder)
    assert (election.epoch, election.leader_id) == (1, KEY.id)
    assert node.machine.history.voters == VOTERS
    assert read_bootstrap(disk, DIRECTORY) == [(FEATURES, 0)]


@kraft_versions
def test_a_restart_begins_the_next_epoch(kraft_version: int) -> None:
    disk = formatted(kraft_version)
    end_offset = OneVoter(disk, kraft_version).append([b"one"])
    again = OneVoter(disk, kraft_version)
    assert BecameLeader(2, end_offset) in again.effects
    assert again.machine.history.voters == VOTERS
    # The voters are in the log by now, so that only the leader is told of.
    assert again.log.end_offset == end_offset + 1 == again.machine.high_watermark


@pytest.mark.parametrize("seed", range(10))
@kraft_versions
def test_a_power_cut_takes_nothing_committed(kraft_version: int, seed: int) -> None:
    disk = formatted(kraft_version)
    end_offset = OneVoter(disk, kraft_version).append([b"one", b"two"])
    again = OneVoter(disk.crash(random.Random(seed)), kraft_version)
    data = again.log.read(end_offset - 2, 1 << 20)
    assert b"one" in data
    assert b"two" in data
    assert again.machine.epoch == 2


@kraft_versions
def test_a_log_goes_on_after_its_snapshot(kraft_version: int) -> None:
    disk = formatted(kraft_version)
    node = OneVoter(disk, kraft_version)
    end_offset = node.append([b"one", b"two"])
    id_ = node.snapshot(end_offset, [b"state"])
    node.append([b"three"])
    assert node.log.keep_from(id_)
    assert node.log.start_offset == end_offset
    assert node.log.earliest_snapshot == node.log.latest_snapshot == id_
    again = OneVoter(disk, kraft_version)
    assert again.machine.history.voters == VOTERS
    assert again.machine.history.kraft_version == kraft_version
    assert b"three" in again.log.read(end_offset, 1 << 20)


def test_a_snapshot_past_the_end_is_where_the_log_begins() -> None:
    """A follower that fetched it crashed before it let its log begin anew."""
    disk = formatted(1)
    node = OneVoter(disk, 1)
    end_offset = node.append([b"one", b"two"])
    id_ = OffsetAndEpoch(end_offset + 100, 7)
    node.log.begin_snapshot(id_)
    content = SnapshotContent([], 7, NOW_MS, NOW_MS, [VOTERS.to_record()])
    freeze = node.log.plan_snapshot(id_, content)
    freeze.run()
    again = OneVoter(disk, 1)
    assert again.log.start_offset == id_.end_offset
    assert BecameLeader(8, id_.end_offset) in again.effects


def test_parts_and_what_was_given_up_are_removed() -> None:
    disk = formatted(1)
    node = OneVoter(disk, 1)
    node.log.begin_snapshot(OffsetAndEpoch(10, 1))
    first = node.snapshot(node.append([b"one"]), [b"state"])
    second = node.snapshot(node.append([b"two"]), [b"state"])
    assert node.log.keep_from(second)
    assert node.log.snapshot_bytes(first) is None
    OneVoter(disk, 1)
    names = [name for name in disk.names(node.folder) if parse_snapshot_file(name)]
    assert [parse_snapshot_file(name) for name in names] == [(*second, "")]


def test_snapshots_go_by_size_and_age() -> None:
    node = OneVoter(formatted(1), 1)
    ids = [node.snapshot(node.append([b"x" * 1000]), [b"state"]) for _ in range(4)]
    node.log.clean(Retention(bytes_max=1 << 20, age_ms_max=0))
    assert node.log.earliest_snapshot == OffsetAndEpoch(0, 0)
    node.log.clean(Retention(bytes_max=1, age_ms_max=-1))
    assert node.log.earliest_snapshot == node.log.latest_snapshot == ids[-1]
    assert node.log.start_offset == ids[-1].end_offset
    for removal in node.log.removals:
        removal.run()


def test_ends_of_epochs_reach_into_the_snapshot() -> None:
    disk = formatted(1)
    for _ in range(3):
        end_offset = OneVoter(disk, 1).append([b"x"])
    node = OneVoter(disk, 1)
    assert node.log.end_offset_for_epoch(3) == OffsetAndEpoch(end_offset, 3)
    assert node.log.end_offset_for_epoch(4) == OffsetAndEpoch(node.log.end_offset, 4)
    assert node.log.end_offset_for_epoch(9) == OffsetAndEpoch(node.log.end_offset, 4)
    assert node.log.end_offset_for_epoch(0).end_offset == 0
