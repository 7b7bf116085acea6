"""Cut a corrupt log where its bad bytes begin, and keep all that goes beside it.

This is what a person asks for who has no better copy. What is kept has the suffix `.cut-` and the
position where it was cut off: no log takes it for one of its files, in Kafka neither. The copy is
on the device before anything is cut; a segment that follows is not copied but renamed.
"""

from contextlib import closing
from typing import Final

from ottla.ports import Disk
from ottla.storage.file_names import Kind, SegmentFile, Stage
from ottla.storage.leftovers import FolderNames
from ottla.storage.small_files import folder_of

SUFFIX: Final = ".cut-"
_COPY_BYTES: Final = 1 << 20


def cut_deliberately(disk: Disk, log_path: str, position: int) -> list[str]:
    """Let a log end at a position of one of its files; give the files that hold what was cut off.

    If it raises, it can be done again: a copy that is there is made anew, as the log has it still.
    """
    folder, name = folder_of(log_path), log_path.rpartition("/")[2]
    kept = [f"{log_path}{SUFFIX}{position}"]
    _copy(disk, log_path, position, kept[0])
    base_offset = int(name.removesuffix(Kind.LOG))
    bases = FolderNames.of(disk.names(folder)).bases(Stage.CURRENT)
    for base in reversed([base for base in bases if base > base_offset]):
        path = f"{folder}/{SegmentFile(base, Kind.LOG).name}"
        disk.rename(path, f"{path}{SUFFIX}0")
        kept.append(f"{path}{SUFFIX}0")
    disk.sync_folder(folder)
    with closing(disk.open(log_path)) as file:
        file.truncate(position)
        file.sync()
    return kept


def _copy(disk: Disk, path: str, position: int, to: str) -> None:
    """Bring the rest of a file to the device under another name."""
    with (
        closing(disk.open(path, read_only=True)) as old,
        closing(disk.open(to, create=True)) as new,
    ):
        new.truncate(0)
        written = 0
        while data := old.read(position + written, _COPY_BYTES):
            left = memoryview(data)
            while left:
                count = new.write([left], written)
                written += count
                left = left[count:]
        new.sync()
    disk.sync_folder(folder_of(path))
