"""Carry out `ottla log grep`: partition by partition, batch by batch."""

from collections import Counter
from collections.abc import Iterator

from ottla.cli import EXIT_FINE, EXIT_FOUND, Refused
from ottla.cli.log.batch_objects import record_line, record_object
from ottla.cli.log.batches import Batch, Damage
from ottla.cli.log.choices import FileKind
from ottla.cli.log.conditions import Condition, Wanted, compiled, patterns_bounded
from ottla.cli.log.decoding import Decoded, decode_of
from ottla.cli.log.files import LogFile, find_files
from ottla.cli.log.grep import GrepArguments
from ottla.cli.log.matching import (
    Decode,
    Pattern,
    in_decoded,
    in_field,
    in_place,
    literal_of,
    tolerant,
)
from ottla.cli.log.question import Question, question_of
from ottla.cli.log.reading import read_batches, within
from ottla.cli.log.records import is_control, wanted_records
from ottla.cli.log.values import escaped, json_line
from ottla.cli.progress import Progress
from ottla.cli.quantities import shown_count, shown_size
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.records.reader import Record
from ottla.runtime.disk import SystemDisk


def grep(typed: GrepArguments, terminal: Terminal) -> int:
    """Print the records that are looked for, and give the exit code."""
    question = question_of(typed, (), terminal)
    disk = SystemDisk()
    files = [
        file
        for file in find_files(disk, typed.paths, typed.topic)
        if file.kind is FileKind.LOG and (not file.stage or file.path in typed.paths)
    ]
    if not files:
        raise Refused(f"{typed.paths[0]}: no log file lies there, such as {0:020}.log")
    files = within(files, question.window)
    total_bytes = sum(file.size_bytes for file in files)
    with patterns_bounded(), terminal.progress(total_bytes) as progress:
        search = _Search(disk, typed, question, terminal, progress)
        for file in files:
            if search.is_done:
                break
            search.look_through(file)
    search.sum_up()
    return EXIT_FOUND if search.bad_count else EXIT_FINE


class _Search:
    """One run of the verb over its files."""

    def __init__(
        self,
        disk: Disk,
        typed: GrepArguments,
        question: Question,
        terminal: Terminal,
        progress: Progress,
    ) -> None:
        self.bad_count = 0
        self._disk = disk
        self._typed = typed
        self._question = question
        self._terminal = terminal
        self._progress = progress
        self._pattern = Pattern(
            compiled(typed.pattern, is_fixed=typed.fixed, ignores_case=typed.ignore_case),
            literal_of(typed.pattern, is_fixed=typed.fixed, ignores_case=typed.ignore_case),
        )
        self._counts: Counter[tuple[str, int]] = Counter()
        self._partitions: set[str] = set()
        self._looked_bytes = 0

    @property
    def is_done(self) -> bool:
        """Were as many records found as were asked for?"""
        return self._counts.total() == self._question.records_max

    def look_through(self, file: LogFile) -> None:
        """Print the records of a file that are looked for."""
        self._partitions.add(file.parent)
        decode = tolerant(decode_of(self._question.decoding, file.topic))
        wanted = Wanted(self._question.window, (self._condition(decode),))
        try:
            for batch in self._batches(file):
                for record in self._wanted(file, batch, wanted):
                    self._found(file, batch, record, decode)
                    if self.is_done:
                        return
        except OSError as fault:
            self._bad(file, 0, f"cannot be read: {fault.strerror or fault}")

    def sum_up(self) -> None:
        """Say how many there were, and how much was looked through for them."""
        if self._typed.count:
            for (topic, partition), count in sorted(self._counts.items()):
                line = json_line(
                    {"type": "count", "topic": topic, "partition": partition, "count": count}
                )
                self._terminal.say(line if self._typed.json else f"{topic}-{partition}  {count}")
        found = shown_count(self._counts.total(), "record")
        where = shown_count(len(self._partitions), "partition")
        looked = shown_size(self._looked_bytes)
        self._terminal.note(f"{found} found; looked through {looked} of {where}")

    def _condition(self, decode: Decode | None) -> Condition:
        if self._typed.field is not None:
            return in_field(self._pattern, self._typed.field, decode)
        if decode is not None:
            return in_decoded(self._pattern, decode)
        return in_place(self._pattern, self._typed.in_)

    def _batches(self, file: LogFile) -> Iterator[Batch]:
        """The batches with records of users; damage is said on the way."""
        for found in read_batches(self._disk, file, self._question.window, self._progress):
            if isinstance(found, Damage):
                if not found.is_zeros:
                    self._bad(file, found.position, f"{found.size_bytes:,} bytes: {found.reason}")
                continue
            self._looked_bytes += found.row.size_bytes
            for fault in found.faults:
                self._bad(file, found.position, fault)
            if not is_control(found):
                yield found

    def _wanted(self, file: LogFile, batch: Batch, wanted: Wanted) -> Iterator[Record]:
        try:
            yield from wanted_records(batch, wanted)
        except Malformed as fault:
            self._bad(file, batch.position, f"the records cannot be read: {fault.reason}")

    def _found(self, file: LogFile, batch: Batch, record: Record, decode: Decode | None) -> None:
        topic = file.topic if file.topic is not None else file.name
        partition = -1 if file.partition is None else file.partition
        self._counts[topic, partition] += 1
        if self._typed.count:
            return
        decoded: Decoded | None = None if decode is None else decode(record)
        if self._typed.json:
            place = {"type": "record", "path": file.path, "topic": topic, "partition": partition}
            shown = record_object(batch, record, decoded, self._question.forms)
            self._terminal.say(json_line(place | shown))
        else:
            line = record_line(record, decoded, self._question.forms)
            self._terminal.say(f"{self._terminal.paint(f'{topic}-{partition}', 'bold')}  {line}")

    def _bad(self, file: LogFile, position: int, reason: str) -> None:
        self.bad_count += 1
        self._terminal.note(f"BAD {escaped(file.path)}:{position}: {reason}")
