"""From where on the next start recovers a log, as the files of its log directory say.

Until then a log lacks what was not written when its node was killed: entries of indexes and leader
epochs that waited in memory, and the end of a batch. A start makes those anew, and cuts this off.
"""

import os
from pathlib import PurePath
from typing import TypeAlias

from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.file_names import CLEAN_SHUTDOWN, META_PROPERTIES, RECOVERY_POINTS
from ottla.storage.folder_names import PartitionFolder, Purpose
from ottla.storage.small_files import read_file
from ottla.wire.topics import TopicPartition

_Offsets: TypeAlias = dict[TopicPartition, int]


class RecoveryPoints:
    """The recovery points of log directories, each read when it is first asked for."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._read: dict[str, _Offsets | None] = {}

    def of(self, parent: str, folder: PartitionFolder | None) -> int | None:
        """Where the recovery of the log in a folder begins; None if nothing of it is recovered."""
        if folder is None:
            return None
        if folder.purpose is Purpose.DELETE:
            # It was let go without a stop of its own, and nobody reads it any more.
            return 0
        # Not resolved: a link may have the name that says what it is.
        absolute = PurePath(os.path.abspath(parent))  # noqa: PTH100  `absolute` keeps `..`.
        root = str(absolute.parent)
        if root not in self._read:
            self._read[root] = self._offsets_in(root)
        offsets = self._read[root]
        return None if offsets is None else offsets.get(folder.partition, 0)

    def _offsets_in(self, root: str) -> _Offsets | None:
        """The checkpoint of a log directory that was not stopped cleanly, else None."""
        paths = [f"{root}/{name}" for name in (CLEAN_SHUTDOWN, RECOVERY_POINTS, META_PROPERTIES)]
        is_stopped, *is_there = [self._disk.status(path) is not None for path in paths]
        if is_stopped or not any(is_there):
            return None
        try:
            return read_file(self._disk, paths[1], parse_offsets) or {}
        except (Malformed, OSError):
            # A start recovers everything then; that the file is bad is named elsewhere.
            return {}
