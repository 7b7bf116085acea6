"""The disks that the tests of the port run on, and what a disk says to a call."""

import errno
from collections.abc import Callable
from pathlib import Path
from random import Random

from ottla.ports import Disk
from ottla.runtime.disk import SystemDisk
from ottla.sim.disk import SimulatedDisk

NOW_MS = 1_700_000_000_000


def simulated(seed: int = 0, capacity_bytes: int | None = None) -> SimulatedDisk:
    """A disk in memory on which time stands still."""
    return SimulatedDisk(lambda: NOW_MS, Random(seed), capacity_bytes=capacity_bytes)


def disk_and_folder(kind: str, temporary: Path) -> tuple[Disk, str]:
    """A disk of a kind, and an empty folder on it."""
    if kind == "system":
        return SystemDisk(), str(temporary)
    disk = simulated()
    disk.make_folder("/data")
    return disk, "/data"


def answer(call: Callable[[], object]) -> object:
    """What a call gives, or the name of its error."""
    try:
        return call()
    except OSError as fault:
        return errno.errorcode[fault.errno or 0]
