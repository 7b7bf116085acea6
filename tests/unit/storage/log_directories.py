"""Log directories on a simulated disk, for the tests of what is done with them."""

from collections.abc import Sequence
from typing import Final

from ottla.ports import Disk
from ottla.sim.disk import SimulatedDisk
from ottla.storage.directories import Directories, open_directories
from ottla.storage.directory import Owner, format_directory
from ottla.storage.meta_properties import MetaProperties
from ottla.wire.fields import Uuid
from ottla.wire.topics import TopicPartition
from tests.unit.ports.disks import NOW_MS, simulated

CLUSTER: Final = "MkU3OEVBNTcwNTJENDM2Qg"
OWNER: Final = Owner(7, CLUSTER)
PATHS: Final = ("/a", "/b", "/c")
ORDERS: Final = TopicPartition("orders", 0)
TOPIC_ID: Final = Uuid(b"\1" * 16)
UNIQUE: Final = Uuid(b"\7" * 16)


def meta_of(number: int, cluster_id: str = CLUSTER, node_id: int = 7) -> MetaProperties:
    """What the directory of a number says."""
    directory_id = Uuid(bytes([number + 100]) * 16)
    return MetaProperties(cluster_id=cluster_id, node_id=node_id, directory_id=directory_id)


def format_all(disk: Disk, paths: Sequence[str] = PATHS) -> None:
    """Make log directories of one node."""
    for number, path in enumerate(paths):
        format_directory(disk, path, meta_of(number), NOW_MS)


def formatted(paths: Sequence[str] = PATHS) -> SimulatedDisk:
    """A disk with log directories of one node, which a power cut does not take."""
    disk = simulated()
    format_all(disk, paths)
    return disk


def opened(paths: Sequence[str] = PATHS) -> tuple[SimulatedDisk, Directories]:
    """The same, and the directories opened."""
    disk = formatted(paths)
    return disk, open_directories(disk, paths, OWNER)
