"""What the files beside a log say, entry by entry, as objects for JSON.

Each object has a `type`; where a file says what to think of a number, its name is there too.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Final, TypeVar

from ottla.cli.log.choices import FileKind
from ottla.cli.log.files import LogFile
from ottla.cli.log.indexes import Entries
from ottla.cli.log.values import Object
from ottla.kernels.faults import InvalidValue
from ottla.ports import Disk
from ottla.storage import (
    checkpoints,
    file_names,
    offset_index,
    time_index,
    transaction_index,
)
from ottla.storage.clean_shutdown import parse_clean_shutdown
from ottla.storage.meta_properties import parse_meta_properties
from ottla.storage.partition_metadata import parse_partition_metadata
from ottla.storage.producer_snapshot import parse_producer_snapshot
from ottla.storage.quorum_state import parse_quorum_state
from ottla.storage.small_files import read_file
from ottla.wire.uuids import uuid_text

_T = TypeVar("_T")

OFFSET_MEANINGS: Final = {
    file_names.HIGH_WATERMARKS: "high_watermark",
    file_names.RECOVERY_POINTS: "recovery_point",
    file_names.LOG_START_OFFSETS: "log_start_offset",
    file_names.CLEANER_OFFSETS: "first_dirty_offset",
}


def objects_of(disk: Disk, file: LogFile) -> Iterator[Object]:
    """The entries of any file but those with batches; Malformed where it cannot be read."""
    read = _READERS.get(file.kind)
    if read is not None:
        yield from read(disk, file)


def content_of(disk: Disk, file: LogFile, parse: Callable[[bytes], _T]) -> _T:
    """What a small file says; it may have gone since it was listed."""
    found = read_file(disk, file.path, parse)
    if found is None:
        raise FileNotFoundError(2, "the file has gone meanwhile", file.path)
    return found


def _offset_index(disk: Disk, file: LogFile) -> Iterator[Object]:
    with closing(disk.open(file.path, read_only=True)) as opened:
        entries = Entries(opened, offset_index.LAYOUT)
        for offset, position in entries:
            yield {
                "type": "index_entry",
                "offset": offset + (file.base_offset or 0),
                "position": position,
            }
        yield from _rest(entries)


def _time_index(disk: Disk, file: LogFile) -> Iterator[Object]:
    with closing(disk.open(file.path, read_only=True)) as opened:
        entries = Entries(opened, time_index.LAYOUT)
        for timestamp, offset in entries:
            yield {
                "type": "timeindex_entry",
                "timestamp": timestamp,
                "offset": offset + (file.base_offset or 0),
            }
        yield from _rest(entries)


def _transaction_index(disk: Disk, file: LogFile) -> Iterator[Object]:
    with closing(disk.open(file.path, read_only=True)) as opened:
        entries = Entries(opened, transaction_index.LAYOUT)
        names = transaction_index.AbortedTransaction._fields
        for version, *values in entries:
            if version != transaction_index.VERSION:
                raise InvalidValue(f"an entry has version {version}, only 0 is read")
            yield {"type": "aborted_transaction", **dict(zip(names, values, strict=True))}
        yield from _rest(entries)


def _rest(entries: Entries) -> Iterator[Object]:
    if entries.left_over_bytes:
        raise InvalidValue(f"{entries.left_over_bytes} bytes at the end are no whole entry")
    zeros = entries.size_bytes - len(entries) * entries.entry_bytes
    if zeros:
        yield {"type": "zeros", "size_bytes": zeros}


def _producers(disk: Disk, file: LogFile) -> Iterator[Object]:
    for entry in content_of(disk, file, parse_producer_snapshot):
        fields = {one.name: getattr(entry, one.name) for one in entry.fields}
        yield {"type": "producer", "end_offset": file.base_offset, **fields}


def _epochs(disk: Disk, file: LogFile) -> Iterator[Object]:
    for epoch, start_offset in content_of(disk, file, checkpoints.parse_epochs):
        yield {"type": "leader_epoch", "epoch": epoch, "start_offset": start_offset}


def _offsets(disk: Disk, file: LogFile) -> Iterator[Object]:
    meaning = OFFSET_MEANINGS.get(file.name.removesuffix(".tmp"), "offset")
    for (topic, partition), offset in content_of(disk, file, checkpoints.parse_offsets).items():
        yield {
            "type": "checkpoint",
            "meaning": meaning,
            "topic": topic,
            "partition": partition,
            "offset": offset,
        }


def _partition_metadata(disk: Disk, file: LogFile) -> Iterator[Object]:
    topic_id = content_of(disk, file, parse_partition_metadata)
    yield {"type": "partition_metadata", "topic_id": uuid_text(topic_id)}


def _meta_properties(disk: Disk, file: LogFile) -> Iterator[Object]:
    meta = content_of(disk, file, parse_meta_properties)
    directory = meta.directory_id
    yield {
        "type": "meta_properties",
        "version": meta.version,
        "cluster_id": meta.cluster_id,
        "node_id": meta.node_id,
        "directory_id": None if directory is None else uuid_text(directory),
    }


def _quorum_state(disk: Disk, file: LogFile) -> Iterator[Object]:
    state = content_of(disk, file, parse_quorum_state)
    voters = state.current_voters
    yield {
        "type": "quorum_state",
        "version": state.version,
        "leader_id": state.leader_id,
        "leader_epoch": state.leader_epoch,
        "voted_id": state.voted_id,
        "voted_directory_id": uuid_text(state.voted_directory_id),
        "cluster_id": state.cluster_id,
        "applied_offset": state.applied_offset,
        "current_voters": None if voters is None else list(voters),
    }


def _clean_shutdown(disk: Disk, file: LogFile) -> Iterator[Object]:
    epoch = content_of(disk, file, parse_clean_shutdown).broker_epoch
    yield {"type": "clean_shutdown", "broker_epoch": epoch}


_READERS: Final[dict[FileKind, Callable[[Disk, LogFile], Iterator[Object]]]] = {
    FileKind.INDEX: _offset_index,
    FileKind.TIME_INDEX: _time_index,
    FileKind.TXN_INDEX: _transaction_index,
    FileKind.PRODUCERS: _producers,
    FileKind.EPOCHS: _epochs,
    FileKind.OFFSETS: _offsets,
    FileKind.PARTITION_METADATA: _partition_metadata,
    FileKind.META_PROPERTIES: _meta_properties,
    FileKind.QUORUM_STATE: _quorum_state,
    FileKind.CLEAN_SHUTDOWN: _clean_shutdown,
}
