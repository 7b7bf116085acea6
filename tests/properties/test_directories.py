"""Partitions come, move and go in log directories; whatever fails, none is lost and none doubled.

A model keeps which partitions must be there after a start, and which may be. The disk fails or the
power goes at a random call of a random operation; then every partition is looked for in drawn
states of what is left.
"""

from errno import EIO, ENOSPC
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.sim.crash import CrashModel
from ottla.sim.disk import SimulatedDisk
from ottla.sim.faults import CutsPower, Fails, Fault, PowerCut
from ottla.storage.directories import (
    Directories,
    Partitions,
    Placed,
    open_directories,
    removals,
    swap,
)
from ottla.storage.directory_faults import DuplicatePartition
from ottla.storage.file_names import RECOVERY_POINTS
from ottla.storage.partition_folders import (
    create_current,
    create_future,
    promote_future,
    rename_to_delete,
)
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.storage.log_directories import OWNER, PATHS, TOPIC_ID, formatted

PARTITIONS: Final = [TopicPartition("orders", number) for number in range(3)]
IMAGES: Final = 12
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["create", "delete", "copy", "swap", "remove", "checkpoint", "drop copy"]),
        st.sampled_from(PARTITIONS),
        st.integers(0, len(PATHS) - 1),
    ),
    min_size=1,
    max_size=14,
)


class Model:
    """A node's directories, and what must and may be found in them."""

    def __init__(self) -> None:
        self.disk: SimulatedDisk = formatted()
        self.directories: Directories = open_directories(self.disk, PATHS, OWNER)
        self.partitions = Partitions()
        self.must: set[TopicPartition] = set()
        self.may: set[TopicPartition] = set()
        self._ids = 0

    def step(self, verb: str, partition: TopicPartition, number: int) -> None:
        """One operation, if it is possible now."""
        current = self.partitions.current.get(partition)
        copy = self.partitions.future.get(partition)
        directory = self.directories.opened[number]
        if verb == "create" and current is None and copy is None:
            self.may.add(partition)
            found = create_current(directory.disk, directory.path, partition, TOPIC_ID)
            self.partitions.current[partition] = Placed(directory, found)
            self.must.add(partition)
        elif verb == "delete" and current is not None and copy is None:
            self.must.discard(partition)
            self.let_go(current)
            del self.partitions.current[partition]
            self.may.discard(partition)
        elif verb == "copy" and current is not None and copy is None:
            if current.directory is not directory:
                found = create_future(
                    directory.disk, directory.path, partition, TOPIC_ID, self.unique()
                )
                self.partitions.future[partition] = Placed(directory, found)
        elif verb == "drop copy" and copy is not None:
            self.let_go(copy)
            del self.partitions.future[partition]
        else:
            self.rest(verb, current, copy, number)

    def rest(self, verb: str, current: Placed | None, copy: Placed | None, number: int) -> None:
        if verb == "swap" and current is not None and copy is not None:
            swapped = swap(current, copy)
            partition = current.found.folder.partition
            self.partitions.current[partition] = swapped.current
            del self.partitions.future[partition]
            if swapped.deleted is not None:
                self.partitions.deleted.append(swapped.deleted)
        elif verb == "remove":
            for job in removals(self.partitions.deleted):
                job.run()
            self.partitions.deleted.clear()
        elif verb == "checkpoint":
            self.directories.opened[number].write_offsets(
                RECOVERY_POINTS, dict.fromkeys(self.partitions.current, 5)
            )

    def let_go(self, placed: Placed) -> None:
        home = placed.directory
        found = rename_to_delete(home.disk, home.path, placed.found, self.unique())
        self.partitions.deleted.append(Placed(home, found))

    def unique(self) -> Uuid:
        self._ids += 1
        return Uuid(self._ids.to_bytes(16, "big"))

    def check(self, disk: SimulatedDisk) -> None:
        """A start on this disk finds what it must, in one place each; and so does the next one."""
        found: list[set[TopicPartition]] = []
        for _ in range(2):
            disk.end_process()
            directories = open_directories(disk, PATHS, OWNER)
            partitions = directories.load()
            for job in removals(partitions.deleted):
                job.run()
            for directory in directories.opened:
                offsets = directory.read_offsets(RECOVERY_POINTS)
                assert set(offsets.values()) <= {5}
                assert directory.notices == []
            found.append(set(partitions.current))
        assert self.must <= found[0] <= self.may
        assert found[0] == found[1]


def test_a_swap_in_the_other_order_would_be_noticed() -> None:
    """What the model is for: had the copy come first, a partition would be there twice."""
    model = Model()
    partition = PARTITIONS[0]
    model.step("create", partition, 0)
    model.step("copy", partition, 1)
    copy = model.partitions.future[partition]
    promote_future(copy.directory.disk, copy.directory.path, copy.found)
    with pytest.raises(DuplicatePartition):
        model.check(model.disk)


@settings(deadline=None)
@given(steps=STEPS, first=st.integers(1, 60), model=st.sampled_from(CrashModel), seed=st.integers())
def test_a_power_cut_loses_and_doubles_no_partition(
    steps: list[tuple[str, TopicPartition, int]], first: int, model: CrashModel, seed: int
) -> None:
    node = Model()
    node.disk.inject(Fault(CutsPower(), first=first))
    try:
        for step in steps:
            node.step(*step)
    except PowerCut:
        node.disk.heal()
    chance = Random(seed)
    for _ in range(IMAGES):
        node.check(node.disk.crash(chance, model))


@settings(deadline=None)
@given(
    steps=STEPS,
    first=st.integers(1, 60),
    number=st.sampled_from([EIO, ENOSPC]),
    path=st.sampled_from(["*", "/a/*", "/b/*"]),
    is_for_ever=st.booleans(),
    seed=st.integers(),
)
def test_a_failing_disk_loses_and_doubles_no_partition(
    steps: list[tuple[str, TopicPartition, int]],
    first: int,
    number: int,
    path: str,
    is_for_ever: bool,
    seed: int,
) -> None:
    node = Model()
    count = None if is_for_ever else 1
    node.disk.inject(Fault(Fails(number), paths=path, first=first, count=count))
    for step in steps:
        try:
            node.step(*step)
        except OSError:
            # As a node does: what is known is read again, as far as it can be.
            node.disk.heal()
            node.check(node.disk.crash(Random(seed)))
            return
    node.disk.heal()
    node.check(node.disk.crash(Random(seed)))
