"""Every legal crash image of every workload of two operations, and of some of three.

`make crashes` explores all of three operations, and all images of both models.
"""

from functools import cache
from itertools import product
from typing import Final
from zlib import crc32

import pytest

from ottla.sim.crash import CrashModel
from ottla.sim.faults import Fails, Fault, Operation
from tests.crashes.explorer import Explorer, begun, unread
from tests.crashes.node import Node
from tests.crashes.operations import OPERATIONS, STARTS, Start

SHARE: Final = 400
"""Of so many workloads of three operations one is explored here, always the same."""
BY_NAME: Final = {start.name: start for start in STARTS}


def is_chosen(start: str, workload: tuple[str, ...]) -> bool:
    return crc32(" ".join((start, *workload)).encode()) % SHARE == 0


@cache
def explorer_of(start: str) -> Explorer:
    """One for all workloads of a start, since they share many images."""
    return Explorer(BY_NAME[start], CrashModel.ORDERED)


@pytest.mark.parametrize("first", OPERATIONS)
@pytest.mark.parametrize("start", BY_NAME)
def test_every_workload_of_two_operations(start: str, first: str) -> None:
    explorer = explorer_of(start)
    explorer.explore((first,))
    for second in OPERATIONS:
        explorer.explore((first, second))
    for rest in product(OPERATIONS, repeat=2):
        if is_chosen(start, (first, *rest)):
            explorer.explore((first, *rest))
    assert explorer.counts.drawn == 0
    assert explorer.counts.images > 0


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_with_names_in_any_order(name: str) -> None:
    explorer = Explorer(BY_NAME["settled"], CrashModel.POSIX)
    explorer.explore((name,))
    assert explorer.counts.drawn == 0


@pytest.mark.parametrize("start", STARTS, ids=lambda start: start.name)
def test_what_counts_as_unread_is_never_read(start: Start) -> None:
    """A start that could not read these files is none the worse."""
    opened: list[str] = []
    for name in ("expire", "move", "truncate"):
        world = begun(start, lambda _: None)
        world.run(name)
        for image in world.disk.crash_images(CrashModel.ORDERED, 50):
            for path in unread(image.contents()):
                image.inject(Fault(Fails(5), Operation.READ, paths=path, count=None))
            Node(image, start.options)
            opened.append(name)
    assert opened
