"""The snapshots of the metadata log: `<end offset>-<epoch>.checkpoint`, each whole or not there.

One is written or fetched under the name of a part, brought to the device, and given its name in one
step. One that is no longer needed is renamed first and removed later, since it may still be read.

Invariants
  I-MSN-1  A file with the name of a snapshot is whole, also after a power cut.
  I-MSN-2  Parts, and what waits to be removed, count as absent, and are removed at the next start.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from ottla.api.control_records import (
    ControlType,
    KRaftVersionRecord,
    QuorumRecord,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    VotersRecord,
    write_quorum_record,
)
from ottla.ports import Disk
from ottla.records.builder import BatchBuilder, BatchOptions
from ottla.records.control import write_control_batch
from ottla.storage.file_names import SnapshotFile, SnapshotStage, parse_snapshot_file
from ottla.storage.small_files import replace_file
from ottla.storage.writes import write_all
from ottla.wire.fields import Buffer

BATCH_BYTES_MAX: Final = 8 << 20


class SnapshotContent(NamedTuple):
    """What a snapshot says."""

    values: Iterable[bytes]
    """The records, framed."""
    epoch: int
    appended_ms: int
    """When the last record below its end was appended."""
    written_ms: int
    control: Sequence[QuorumRecord] = ()
    """The level of the quorum's protocol and the voters, where the log has them."""


def write_snapshot_batches(
    content: SnapshotContent, bytes_max: int = BATCH_BYTES_MAX
) -> Iterator[bytearray]:
    """Write the batches of a snapshot: header, records, footer; offsets count from 0."""
    header = SnapshotHeaderRecord(version=0, last_contained_log_timestamp=content.appended_ms)
    front: list[QuorumRecord] = [header, *content.control]
    yield _control_batch(front, content, 0)
    offset = len(front)
    builder = _builder(content, offset, bytes_max)
    for value in content.values:
        if not builder.append(content.written_ms, None, value):
            yield builder.build()
            offset += len(builder.rows)
            builder = _builder(content, offset, bytes_max)
            builder.append(content.written_ms, None, value)
    if builder.rows:
        yield builder.build()
        offset += len(builder.rows)
    yield _control_batch([SnapshotFooterRecord(version=0)], content, offset)


def _builder(content: SnapshotContent, offset: int, bytes_max: int) -> BatchBuilder:
    return BatchBuilder(
        BatchOptions(base_offset=offset, partition_leader_epoch=content.epoch), bytes_max
    )


_TYPES: Final[dict[type[QuorumRecord], ControlType]] = {
    SnapshotHeaderRecord: ControlType.SNAPSHOT_HEADER,
    SnapshotFooterRecord: ControlType.SNAPSHOT_FOOTER,
    KRaftVersionRecord: ControlType.KRAFT_VERSION,
    VotersRecord: ControlType.VOTERS,
}


def _control_batch(
    records: Sequence[QuorumRecord], content: SnapshotContent, offset: int
) -> bytearray:
    options = BatchOptions(
        base_offset=offset, partition_leader_epoch=content.epoch, is_control=True
    )
    entries = [(int(_TYPES[type(record)]), write_quorum_record(record)) for record in records]
    return write_control_batch(entries, content.written_ms, options)


class MetadataSnapshots:
    """The snapshots in the folder of the metadata log."""

    def __init__(self, disk: Disk, folder: str) -> None:
        """Take up what is there, and remove what was left over."""
        self._disk = disk
        self._folder = folder
        self._files: list[SnapshotFile] = []
        for name in disk.names(folder):
            found = parse_snapshot_file(name)
            if found is None:
                continue
            if found.stage is SnapshotStage.CURRENT:
                self._files.append(found)
            else:
                disk.remove(f"{folder}/{name}")
        self._files.sort(key=_order)

    @property
    def files(self) -> Sequence[SnapshotFile]:
        """All that are whole, the oldest first."""
        return tuple(self._files)

    def find(self, end_offset: int, epoch: int) -> SnapshotFile | None:
        """The snapshot of an end, if it is there."""
        wanted = SnapshotFile(end_offset, epoch)
        return wanted if wanted in self._files else None

    def size_bytes(self, file: SnapshotFile) -> int:
        """How large it is."""
        status = self._disk.status(self._path(file))
        return status.size_bytes if status else 0

    def read(self, file: SnapshotFile, position: int, bytes_max: int) -> bytes:
        """A piece of one."""
        with closing(self._disk.open(self._path(file), read_only=True)) as opened:
            return opened.read(position, bytes_max)

    def begin(self, end_offset: int, epoch: int) -> "SnapshotPart":
        """Begin a new one."""
        part = SnapshotFile(end_offset, epoch, SnapshotStage.PART)
        return SnapshotPart(self._disk, self._path(part))

    def note(self, end_offset: int, epoch: int) -> None:
        """Take note of one that was made whole."""
        file = SnapshotFile(end_offset, epoch)
        if file not in self._files:
            insort(self._files, file, key=_order)

    def retire_before(self, end_offset: int, epoch: int) -> "SnapshotRemoval":
        """Let go of those that are older than one."""
        gone = [file for file in self._files if _order(file) < (end_offset, epoch)]
        self._files = [file for file in self._files if file not in gone]
        paths: list[str] = []
        for file in gone:
            deleted = self._path(file._replace(stage=SnapshotStage.DELETED))
            self._disk.rename(self._path(file), deleted)
            paths.append(deleted)
        return SnapshotRemoval(self._disk, paths)

    def _path(self, file: SnapshotFile) -> str:
        return f"{self._folder}/{file.name}"


def _order(file: SnapshotFile) -> tuple[int, int]:
    return file.end_offset, file.epoch


class SnapshotRemoval(NamedTuple):
    """Snapshots that wait to be removed; any thread may."""

    disk: Disk
    paths: Sequence[str]

    def run(self) -> None:
        """Remove them."""
        for path in self.paths:
            self.disk.remove(path)


class SnapshotPart:
    """A snapshot that is being written or fetched; it is on no list until it is whole."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._file = disk.open(path, create=True)
        self._file.truncate(0)
        self.size_bytes = 0

    def append(self, piece: Buffer) -> None:
        """Write what comes next."""
        self.size_bytes = write_all(self._file, [piece], self.size_bytes)

    def freeze(self) -> None:
        """Bring it to the device and give it its name; any thread may."""
        self._file.sync()
        self._file.close()
        self._disk.rename(self._path, self._path.removesuffix(SnapshotStage.PART))
        self._disk.sync_folder(self._path.rpartition("/")[0])

    def abandon(self) -> None:
        """Let there be no such part."""
        self._file.close()
        self._disk.remove(self._path)


def write_snapshot_file(disk: Disk, path: str, content: SnapshotContent) -> None:
    """Write a small snapshot at once, such as a formatter's; it is on the device then."""
    replace_file(disk, path, b"".join(write_snapshot_batches(content)))
