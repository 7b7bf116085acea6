"""Read the log files among some files: in order, from where their indexes point, piece by piece."""

from collections.abc import Iterator
from contextlib import closing
from typing import Final

from ottla.cli.log.batches import Batch, Batches, Damage
from ottla.cli.log.choices import FileKind
from ottla.cli.log.conditions import OFFSET_MAX, Window
from ottla.cli.log.files import LogFile
from ottla.cli.log.indexes import start_position
from ottla.cli.progress import Progress
from ottla.ports import Disk

HOLDS_BATCHES: Final = (FileKind.LOG, FileKind.METADATA_SNAPSHOT)


def within(files: list[LogFile], window: Window) -> list[LogFile]:
    """The files that may hold what lies in a window, by the names of the segments beside them."""
    return [
        file
        for file, end_offset in zip(files, _end_offsets(files), strict=True)
        if file.kind is not FileKind.LOG
        or file.base_offset is None
        or (file.base_offset <= window.offset_last and end_offset > window.offset_first)
    ]


def _end_offsets(files: list[LogFile]) -> list[int]:
    """Where the next segment of the same partition begins, if there is one."""
    ends: list[int] = []
    next_of: dict[str, int] = {}
    for file in reversed(files):
        ends.append(next_of.get(file.parent, OFFSET_MAX + 1))
        if file.kind is FileKind.LOG and file.base_offset is not None and not file.stage:
            next_of[file.parent] = file.base_offset
    return ends[::-1]


def read_batches(
    disk: Disk, file: LogFile, window: Window, progress: Progress
) -> Iterator[Batch | Damage]:
    """The batches of a file that may hold something of a window, and damage on the way."""
    is_log = file.kind is FileKind.LOG
    position = start_position(disk, file, window) if is_log else 0
    counted = position
    progress.advance(position, file.path)
    with closing(disk.open(file.path, read_only=True)) as opened:
        size_bytes = opened.size()
        offset_min = file.base_offset if is_log and not position else None
        batches = Batches(opened, position, size_bytes, offset_min)
        for found in batches:
            progress.advance(found.position - counted, file.path)
            counted = found.position
            if isinstance(found, Damage) or window.may_hold(found.row) or found.faults:
                yield found
            if isinstance(found, Batch) and _is_past(found, window):
                break
    progress.advance(max(0, file.size_bytes - counted))


def _is_past(batch: Batch, window: Window) -> bool:
    """Can nothing that follows lie in the window?"""
    return batch.row.magic == 2 and batch.row.base_offset > window.offset_last
