"""Carry out `ottla log verify`: partition by partition, then what speaks of several of them."""

from collections import deque
from collections.abc import Iterator
from contextlib import closing
from pathlib import PurePath
from typing import Final

from ottla.api.control_records import ControlType, read_control_key
from ottla.cli import EXIT_FINE, EXIT_FOUND
from ottla.cli.log.batches import Batch, Batches, Damage
from ottla.cli.log.choices import FileKind
from ottla.cli.log.files import LogFile, describe, find_files, folder_named
from ottla.cli.log.findings import Finding, Findings
from ottla.cli.log.partition_check import PartitionCheck, Seen
from ottla.cli.log.record_checks import fault_of
from ottla.cli.log.records import is_control, records_of
from ottla.cli.log.recovery_points import RecoveryPoints
from ottla.cli.log.small_contents import OFFSET_MEANINGS, content_of, objects_of
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.log.verify import VerifyArguments
from ottla.cli.progress import Progress
from ottla.cli.quantities import shown_count, shown_size
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.runtime.disk import SystemDisk
from ottla.storage.checkpoints import parse_offsets
from ottla.storage.file_names import LOG_START_OFFSETS, parse_remote_index_file
from ottla.storage.partition_metadata import parse_partition_metadata
from ottla.wire.fields import NO_ID, Uuid
from ottla.wire.topics import TopicPartition
from ottla.wire.uuids import uuid_text

_OF_PARTITIONS: Final = (
    FileKind.LOG,
    FileKind.INDEX,
    FileKind.TIME_INDEX,
    FileKind.TXN_INDEX,
    FileKind.PRODUCERS,
    FileKind.EPOCHS,
)
_LEFT_OVER: Final = {
    ".deleted": "it waits to be deleted",
    ".cleaned": "a cleaner or a split left it, and it is not read",
    ".swap": "it is about to replace what it was made of: the log was not opened since",
    ".tmp": "it was being written, and is not read",
    ".part": "it is not whole, and is not read",
}


def verify(typed: VerifyArguments, terminal: Terminal) -> int:
    """Check what was asked for, and give the exit code."""
    disk = SystemDisk()
    files = find_files(disk, typed.paths, typed.topic)
    alone = {file.parent for file in files if file.path in typed.paths}
    files += [
        beside for file in files if file.path in typed.paths for beside in _beside(disk, file)
    ]
    total_bytes = sum(file.size_bytes for file in files if file.kind is FileKind.LOG)
    report = _Report(typed, terminal)
    with terminal.progress(total_bytes) as progress:
        _Check(disk, files, report, progress).run(alone)
    report.sum_up()
    return EXIT_FOUND if report.findings.bad_count else EXIT_FINE


def _beside(disk: Disk, file: LogFile) -> list[LogFile]:
    """The other files of the segment that one file belongs to."""
    stem, folder = PurePath(file.path).stem, folder_named(file.path, is_file=True)
    found: list[LogFile] = []
    for name in disk.names(file.parent) if file.base_offset is not None else []:
        path = str(PurePath(file.path).with_name(name))
        status = disk.status(path)
        if PurePath(name).stem == stem and name != file.name and status is not None:
            found.append(describe(path, status.size_bytes, folder))
    return found


class _Report:
    """Tells of findings at once, and sums up partition by partition."""

    def __init__(self, typed: VerifyArguments, terminal: Terminal) -> None:
        self.findings = Findings(self._tell)
        self._is_json = typed.json
        self._is_quiet = typed.quiet
        self._terminal = terminal
        self._partitions_count = 0
        self._size_bytes = 0

    def _tell(self, finding: Finding) -> None:
        path, position, reason, is_note = finding
        if is_note and self._is_quiet:
            return
        if self._is_json:
            said: Object = {"type": "note" if is_note else "finding", "path": path}
            self._terminal.say(json_line(said | {"position": position, "reason": reason}))
            return
        place = escaped(path) if position is None else f"{escaped(path)}:{position}"
        word = self._terminal.paint("note", "yellow") if is_note else self._bad_word()
        self._terminal.say(f"{word} {place}: {escaped(reason)}")

    def _bad_word(self) -> str:
        return self._terminal.paint("BAD", "red")

    def partition(self, folder: str, seen: Seen, bad_count: int) -> None:
        """One partition was checked."""
        self._partitions_count += 1
        self._size_bytes += seen.size_bytes
        if self._is_quiet:
            return
        if self._is_json:
            counts: Object = {"type": "partition", "path": folder}
            self._terminal.say(json_line(counts | vars(seen) | {"bad_count": bad_count}))
            return
        word = self._bad_word() if bad_count else self._terminal.paint("ok ", "green")
        offsets = "no offsets"
        if seen.end_offset > seen.start_offset:
            offsets = f"offsets {seen.start_offset}..{seen.end_offset - 1}"
        words = [
            shown_count(seen.segments_count, "segment"),
            shown_count(seen.batches_count, "batch", "batches"),
            shown_count(seen.records_count, "record"),
            offsets,
            shown_size(seen.size_bytes),
        ]
        self._terminal.say(f"{word} {escaped(folder)}: {', '.join(words)}")

    def sum_up(self) -> None:
        """Say how it went altogether."""
        if self._is_quiet:
            return
        found = shown_count(self.findings.bad_count, "finding")
        notes = shown_count(self.findings.notes_count, "note")
        looked = (
            f"{shown_count(self._partitions_count, 'partition')}, {shown_size(self._size_bytes)}"
        )
        self._terminal.note(f"{looked}: {found}, {notes}")


class _Check:
    """One run of the verb over its files."""

    def __init__(
        self, disk: Disk, files: list[LogFile], report: _Report, progress: Progress
    ) -> None:
        self._disk = disk
        self._files = files
        self._report = report
        self._findings = report.findings
        self._progress = progress
        self._recovery_points = RecoveryPoints(disk)
        self._seen: dict[tuple[str, TopicPartition], Seen] = {}

    def run(self, alone: set[str]) -> None:
        """Check everything; `alone` are folders of which not all files are looked at."""
        # Before the logs, which go on meanwhile: what a checkpoint says must be in them later.
        offsets = [*self._checkpoints()]
        starts = {
            (file.parent, partition): offset
            for file, said in offsets
            if file.name == LOG_START_OFFSETS
            for partition, offset in said.items()
        }
        for parent, files in self._by_parent().items():
            self._check_partition(parent, files, starts, is_folder=parent not in alone)
        self._check_offsets(offsets)
        self._check_topic_ids()
        for file in self._files:
            self._check_file(file)

    def _by_parent(self) -> dict[str, list[LogFile]]:
        found: dict[str, list[LogFile]] = {}
        for file in self._files:
            if file.kind in _OF_PARTITIONS and not _is_cached(file):
                found.setdefault(file.parent, []).append(file)
        return found

    def _check_partition(
        self,
        parent: str,
        files: list[LogFile],
        starts: dict[tuple[str, TopicPartition], int],
        *,
        is_folder: bool,
    ) -> None:
        folder = files[0].folder
        key = None if folder is None else (str(PurePath(parent).parent), folder.partition)
        start = starts.get(key, 0) if key else 0
        before = self._findings.bad_count
        point = self._recovery_points.of(parent, folder)
        check = PartitionCheck(
            self._disk, files, self._findings, self._progress, start, is_folder, point
        )
        seen = check.run()
        if seen.segments_count:
            self._report.partition(parent, seen, self._findings.bad_count - before)
            if key and is_folder and folder is not None and not folder.purpose:
                self._seen[key] = seen

    def _checkpoints(self) -> Iterator[tuple[LogFile, dict[TopicPartition, int]]]:
        for file in self._files:
            if file.kind is FileKind.OFFSETS and not file.stage:
                try:
                    yield file, content_of(self._disk, file, parse_offsets)
                except Malformed as fault:
                    self._findings.bad(file.path, max(fault.position, 0), fault.reason)
                except OSError as fault:
                    self._findings.bad(file.path, None, f"it cannot be read: {fault}")

    def _check_offsets(self, offsets: list[tuple[LogFile, dict[TopicPartition, int]]]) -> None:
        """No offset that was noted lies behind the end of its log."""
        for file, said in offsets:
            meaning = OFFSET_MEANINGS[file.name].replace("_", " ")
            for partition, offset in said.items():
                seen = self._seen.get((file.parent, partition))
                if seen is not None and not 0 <= offset <= seen.end_offset:
                    reason = f"the {meaning} of {partition.topic}-{partition.partition} is {offset}"
                    reason += f", where the log ends at {seen.end_offset}"
                    self._findings.bad(file.path, None, reason)

    def _check_topic_ids(self) -> None:
        """All partitions of a topic have one id, unless it was deleted and made again."""
        firsts: dict[str, LogFile] = {}
        for file in self._files:
            topic_id = self._topic_id(file)
            first = firsts.setdefault(file.topic or "", file) if topic_id else file
            if first is not file and (other := self._topic_id(first)) != topic_id:
                said, elsewhere = (uuid_text(one or NO_ID) for one in (topic_id, other))
                reason = f"the topic's id is {said}, but in {first.path} it is {elsewhere}"
                self._findings.bad(file.path, None, reason)

    def _topic_id(self, file: LogFile) -> Uuid | None:
        """The id of the topic of a current partition; one that cannot be read is named later."""
        is_current = file.folder is not None and not file.folder.purpose
        if file.kind is not FileKind.PARTITION_METADATA or file.stage or not is_current:
            return None
        try:
            return content_of(self._disk, file, parse_partition_metadata)
        except (Malformed, OSError):
            return None

    def _check_file(self, file: LogFile) -> None:
        """Check a file that no check of a partition has read, or say why it is there."""
        if file.stage:
            self._findings.note(file.path, _LEFT_OVER[file.stage])
        elif file.kind is FileKind.UNKNOWN:
            self._findings.note(file.path, "it has no name that a log directory has")
        elif file.kind not in _OF_PARTITIONS and file.kind is not FileKind.OFFSETS:
            try:
                if file.kind is FileKind.METADATA_SNAPSHOT:
                    self._check_snapshot(file)
                else:
                    deque(objects_of(self._disk, file), maxlen=0)
            except Malformed as fault:
                self._findings.bad(file.path, max(fault.position, 0), fault.reason)
            except OSError as fault:
                self._findings.bad(file.path, None, f"it cannot be read: {fault.strerror}")

    def _check_snapshot(self, file: LogFile) -> None:
        """A metadata snapshot is whole if it begins and ends with the control records for that."""
        kinds: list[int] = []
        with closing(self._disk.open(file.path, read_only=True)) as opened:
            for found in Batches(opened, 0, opened.size(), 0):
                if isinstance(found, Damage):
                    self._findings.bad(file.path, found.position, found.reason)
                    continue
                for fault in (*found.faults, fault_of(found)):
                    if fault is not None:
                        self._findings.bad(file.path, found.position, fault)
                kinds = [*kinds[:1], *_kinds_of(found)[-1:]] if kinds else _kinds_of(found)
        if kinds[:1] != [ControlType.SNAPSHOT_HEADER]:
            self._findings.bad(file.path, 0, "it does not begin with the header of a snapshot")
        if kinds[-1:] != [ControlType.SNAPSHOT_FOOTER]:
            self._findings.bad(file.path, None, "it does not end with the footer of a snapshot")


def _kinds_of(batch: Batch) -> list[int]:
    """The control records of a batch, -1 for any other batch."""
    if not is_control(batch) or batch.faults:
        return [-1]
    return [read_control_key(record.key or b"") for record in records_of(batch)]


def _is_cached(file: LogFile) -> bool:
    """Is it an index of a remote segment, which lies in a cache without its log?"""
    return parse_remote_index_file(file.name) is not None
