"""The files of one partition: where they lie, how they are made, and how they leave.

A segment leaves in two steps, as in Kafka: its files are renamed at once, so that it is no longer
part of the log after a restart, and removed some time later by a job, since removing a large file
takes the file system long and readers may still be at it.
"""

from collections.abc import Iterable, Sequence

from ottla.ports import Disk
from ottla.storage.checkpoints import EpochEntry, format_epochs, parse_epochs
from ottla.storage.file_names import LEADER_EPOCHS, Stage
from ottla.storage.handles import Handles
from ottla.storage.producer_snapshots import ProducerSnapshots
from ottla.storage.segment import Segment, SegmentOptions
from ottla.storage.small_files import read_file, replace_file


class Removal:
    """The files of segments that left a log, to be removed once their readers are done."""

    def __init__(self, disk: Disk, segments: Sequence[Segment], paths: Sequence[str]) -> None:
        self._disk = disk
        self._segments = segments
        self.paths = paths

    def run(self) -> None:
        """Remove them; it touches nothing but these files, so any thread may."""
        for path in self.paths:
            self._disk.remove(path)


class PartitionFiles:
    """A partition's folder, and what makes files in it."""

    def __init__(self, handles: Handles, folder: str, snapshots: ProducerSnapshots) -> None:
        self.handles = handles
        self.folder = folder
        self.snapshots = snapshots

    @property
    def disk(self) -> Disk:
        """The disk that the folder lies on."""
        return self.handles.disk

    def stem(self, base_offset: int) -> str:
        """The path of a segment's files without their suffix."""
        return f"{self.folder}/{base_offset:020}"

    def segment(
        self, base_offset: int, options: SegmentOptions, size_bytes: int | None = None
    ) -> Segment:
        """A segment that is there, or is to be."""
        return Segment(self.handles, self.stem(base_offset), base_offset, options, size_bytes)

    def cleaned_segment(self, base_offset: int, options: SegmentOptions) -> Segment:
        """A new segment that is not part of the log yet; what a cleaner left of one is removed."""
        stem = self.stem(base_offset)
        segment = Segment(self.handles, stem, base_offset, options, 0, suffix=Stage.CLEANED)
        segment.remove()
        segment.create()
        return segment

    def retire(self, segments: Iterable[Segment], kept_snapshots: Iterable[int] = ()) -> Removal:
        """Take segments out of the log, and give the job that removes their files."""
        gone = list(segments)
        paths: list[str] = []
        for segment in gone:
            segment.abandon()
            if segment.suffix != Stage.DELETED:
                segment.change_suffix(Stage.CURRENT, Stage.DELETED)
            paths += segment.paths()
        self.snapshots.remove({segment.base_offset for segment in gone}.difference(kept_snapshots))
        return Removal(self.disk, gone, paths)

    def read_epochs(self) -> list[EpochEntry] | None:
        """What the checkpoint of leader epochs says; None if there is none."""
        return read_file(self.disk, self._epochs_path, parse_epochs)

    def write_epochs(self, entries: Sequence[tuple[int, int]]) -> None:
        """Write the checkpoint of leader epochs; it is on the device when this returns."""
        content = format_epochs(EpochEntry(*entry) for entry in entries)
        replace_file(self.disk, self._epochs_path, content)

    @property
    def _epochs_path(self) -> str:
        return f"{self.folder}/{LEADER_EPOCHS}"
