"""Bring a partition's folder in order after its process ended in the middle of something (CRS-01).

The suffix of a file says how far its maker came. `.deleted` files were to go. `.cleaned` files are
not whole. `.swap` files are whole and on the device, and were about to replace the segments whose
offsets they cover, but for those of a split that had not renamed all of its parts yet: such a split
still has `.cleaned` files, at or below the offsets of its `.swap` ones.

Invariant
  I-SWAP-1  Before and after, and after a power cut at any moment of it, each batch that the log
            held when the swap began is there exactly once, or replaced by what the cleaner kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from ottla.ports import Disk
from ottla.storage.file_names import Kind, SegmentFile, Stage, parse_segment_file
from ottla.storage.handles import Handles
from ottla.storage.segment import Segment, SegmentOptions


@dataclass(slots=True)
class FolderNames:
    """The files of segments in a folder, by where they are in their lives."""

    stages: dict[Stage, list[SegmentFile]] = field(
        default_factory=lambda: {stage: [] for stage in Stage}
    )

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Sort what is in a folder; what is no segment's is left out."""
        found = cls()
        for name in names:
            file = parse_segment_file(name)
            if file is not None:
                found.stages[file.stage].append(file)
        return found

    def bases(self, stage: Stage) -> list[int]:
        """The base offsets of the segments of a stage, rising."""
        files = self.stages[stage]
        return sorted(file.base_offset for file in files if file.kind is Kind.LOG)

    def snapshots(self) -> list[int]:
        """The offsets that there is a producer snapshot of, rising."""
        files = self.stages[Stage.CURRENT]
        return sorted(file.base_offset for file in files if file.kind is Kind.PRODUCER_SNAPSHOT)


def settle(handles: Handles, folder: str, options: SegmentOptions) -> list[str]:
    """Finish or undo what was begun; give the names of the files that were removed.

    Nothing of it needs room on the disk. It may be cut off and done again.
    """
    disk = handles.disk
    names = FolderNames.of(disk.names(folder))
    removed = [file.name for file in names.stages[Stage.DELETED]]
    cleaned = names.stages[Stage.CLEANED]
    removed += [file.name for file in cleaned]
    swaps = names.stages[Stage.SWAP]
    if cleaned:
        unfinished = min(file.base_offset for file in cleaned)
        removed += [file.name for file in swaps if file.base_offset >= unfinished]
        swaps = [file for file in swaps if file.base_offset < unfinished]
    complete = [file.base_offset for file in swaps if file.kind is Kind.LOG]
    for base_offset in complete:
        removed += _replaced(handles, folder, base_offset, names, options)
    _remove(disk, folder, removed)
    for file in swaps:
        disk.rename(f"{folder}/{file.name}", f"{folder}/{file._replace(stage=Stage.CURRENT).name}")
    if swaps:
        disk.sync_folder(folder)
    return removed


def _replaced(
    handles: Handles, folder: str, base_offset: int, names: FolderNames, options: SegmentOptions
) -> list[str]:
    """The files of the segments that a whole `.swap` file stands for."""
    stem = f"{folder}/{base_offset:020}"
    swap = Segment(handles, stem, base_offset, options, suffix=Stage.SWAP)
    end_offset = max(swap.next_offset(), base_offset + 1)
    swap.close()
    return [
        file.name
        for file in names.stages[Stage.CURRENT]
        if base_offset <= file.base_offset < end_offset and file.kind is not Kind.PRODUCER_SNAPSHOT
    ]


def _remove(disk: Disk, folder: str, names: Iterable[str]) -> None:
    """Remove files, and be sure of it, so that none of them comes back beside its successor."""
    gone = list(names)
    for name in gone:
        disk.remove(f"{folder}/{name}")
    if gone:
        disk.sync_folder(folder)
