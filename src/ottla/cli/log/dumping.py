"""Carry out `ottla log dump`: file by file, to whom it may concern."""

from collections.abc import Callable

from ottla.cli import EXIT_FINE, EXIT_FOUND, Refused
from ottla.cli.log.batches import Batch, Damage
from ottla.cli.log.choices import Decoding, FileKind
from ottla.cli.log.conditions import Wanted, patterns_bounded
from ottla.cli.log.decoding import Decoded, decode_control, decode_of
from ottla.cli.log.dump import PRINTED, DumpArguments
from ottla.cli.log.files import LogFile, find_files
from ottla.cli.log.printers import JsonPrinter, LinePrinter
from ottla.cli.log.question import Question, conditions_of, question_of
from ottla.cli.log.reading import HOLDS_BATCHES, read_batches, within
from ottla.cli.log.records import is_control, wanted_records
from ottla.cli.progress import Progress
from ottla.cli.terminal import Terminal
from ottla.kernels.faults import Malformed
from ottla.ports import Disk
from ottla.records.reader import Record
from ottla.runtime.disk import SystemDisk


def dump(typed: DumpArguments, terminal: Terminal) -> int:
    """Print what was asked for, and give the exit code."""
    question = question_of(typed, conditions_of(typed), terminal)
    disk = SystemDisk()
    files = _chosen(find_files(disk, typed.paths, typed.topic), typed, question)
    total_bytes = sum(f.size_bytes for f in files if f.kind in HOLDS_BATCHES)
    with patterns_bounded(), terminal.progress(total_bytes, beside_output=False) as progress:
        only_found = bool(question.conditions)
        printer: LinePrinter | JsonPrinter = LinePrinter(terminal, only_found=only_found)
        if typed.json:
            printer = JsonPrinter(terminal)
        has_records = typed.records or only_found or typed.max is not None
        dumping = _Dumping(disk, question, printer, progress, has_records)
        for file in files:
            if dumping.is_done:
                break
            dumping.dump(file)
    return EXIT_FOUND if printer.bad_count else EXIT_FINE


def _chosen(files: list[LogFile], typed: DumpArguments, question: Question) -> list[LogFile]:
    """The files to print: those asked for, and only logs if something is asked of records."""
    known = [f for f in files if f.kind.value in PRINTED]
    if not known:
        raise Refused(
            f"{typed.paths[0]}: no file there has the name of one that belongs to a log, such"
            " as 00000000000000000000.log"
        )
    only = set(typed.only)
    if question.conditions or typed.records:
        only = only or {kind.value for kind in HOLDS_BATCHES}
    chosen = [f for f in known if not only or f.kind.value in only]
    return within(chosen, question.window)


class _Dumping:
    """One run of the verb over its files."""

    def __init__(
        self,
        disk: Disk,
        question: Question,
        printer: LinePrinter | JsonPrinter,
        progress: Progress,
        has_records: bool,
    ) -> None:
        self._disk = disk
        self._question = question
        self._wanted = Wanted(question.window, question.conditions)
        self._printer = printer
        self._progress = progress
        self._has_records = has_records
        self._left = question.records_max

    @property
    def is_done(self) -> bool:
        """Were as many records printed as were asked for?"""
        return self._left == 0

    def dump(self, file: LogFile) -> None:
        """Print a file; what cannot be read of it is said, and the next one comes."""
        self._printer.heading(file)
        try:
            if file.kind in HOLDS_BATCHES:
                self._dump_batches(file)
            else:
                self._dump_entries(file)
        except Malformed as fault:
            self._printer.bad(file, max(fault.position, 0), 0, fault.reason)
        except OSError as fault:
            self._printer.bad(file, 0, 0, f"cannot be read: {fault.strerror or fault}")

    def _dump_entries(self, file: LogFile) -> None:
        from ottla.cli.log.small_contents import objects_of  # noqa: PLC0415  Logs need none of it.

        for entry in objects_of(self._disk, file):
            self._printer.entry(file, entry)

    def _dump_batches(self, file: LogFile) -> None:
        is_metadata = file.kind is FileKind.METADATA_SNAPSHOT
        decoding = self._question.decoding
        if is_metadata and decoding is Decoding.AUTO:
            decoding = Decoding.METADATA
        decode = decode_of(decoding, file.topic)
        for found in read_batches(self._disk, file, self._question.window, self._progress):
            if isinstance(found, Damage):
                self._printer.damage(file, found)
            elif not self._has_records:
                self._printer.batch(file, found, has_records=False)
            else:
                self._dump_records(file, found, decode_control if is_control(found) else decode)
            if self.is_done:
                return

    def _dump_records(
        self, file: LogFile, batch: Batch, decode: Callable[[Record], Decoded] | None
    ) -> None:
        """Print the wanted records of a batch, and the batch itself if there is any."""
        is_shown = bool(batch.faults) or not self._question.conditions
        if is_shown:
            self._printer.batch(file, batch, has_records=True)
        try:
            for record in wanted_records(batch, self._wanted):
                if not is_shown:
                    self._printer.batch(file, batch, has_records=True)
                    is_shown = True
                decoded = self._decoded(file, batch, record, decode)
                self._printer.record(file, batch, record, decoded, self._question)
                if self._left is not None:
                    self._left -= 1
                    if self._left == 0:
                        return
        except Malformed as fault:
            reason = f"the records cannot be read: {fault.reason}"
            self._printer.bad(file, batch.position, batch.row.size_bytes, reason)

    def _decoded(
        self,
        file: LogFile,
        batch: Batch,
        record: Record,
        decode: Callable[[Record], Decoded] | None,
    ) -> Decoded | None:
        if decode is None:
            return None
        try:
            return decode(record)
        except Malformed as fault:
            reason = f"the record at offset {record.offset} cannot be decoded: {fault.reason}"
            self._printer.bad(file, batch.position, 0, reason)
            return None
