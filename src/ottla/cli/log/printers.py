"""Print what was found: for people, or for programs."""

from ottla.cli.log.batch_objects import (
    batch_line,
    batch_object,
    damage_object,
    record_line,
    record_object,
)
from ottla.cli.log.batches import Batch, Damage
from ottla.cli.log.decoding import Decoded
from ottla.cli.log.files import LogFile
from ottla.cli.log.question import Question
from ottla.cli.log.small_lines import heading_of, line_of
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.quantities import shown_size
from ottla.cli.terminal import Terminal
from ottla.records.reader import Record


class LinePrinter:
    """Prints for people: a heading a file, then a line an entry."""

    def __init__(self, terminal: Terminal, *, only_found: bool) -> None:
        """With `only_found` a file has its heading only if there is something to say of it."""
        self.terminal = terminal
        self.bad_count = 0
        self._only_found = only_found
        self._is_first = True
        self._heading: str | None = None

    def heading(self, file: LogFile) -> None:
        self._heading = heading_of(file)
        if not self._only_found:
            self._say_heading()

    def _say_heading(self) -> None:
        if self._heading is not None:
            if not self._is_first:
                self.terminal.say("")
            self._is_first = False
            self.terminal.say(self.terminal.paint(self._heading, "bold"))
            self._heading = None

    def _say(self, line: str, style: str | None = None) -> None:
        self._say_heading()
        self.terminal.say(self.terminal.paint(line, style) if style else line)

    def entry(self, _file: LogFile, entry: Object) -> None:
        self._say("  " + line_of(entry))

    def batch(self, file: LogFile, batch: Batch, *, has_records: bool) -> None:
        self._say("  " + batch_line(batch), "dim" if has_records else None)
        for fault in batch.faults:
            self.bad(file, batch.position, batch.row.size_bytes, fault)

    def record(
        self, _file: LogFile, _batch: Batch, record: Record, decoded: Decoded | None, q: Question
    ) -> None:
        self._say("    " + record_line(record, decoded, q.forms))

    def damage(self, file: LogFile, damage: Damage) -> None:
        if damage.is_zeros:
            size = shown_size(damage.size_bytes)
            self._say(f"  {size} of {damage.reason}")
        else:
            self.bad(file, damage.position, damage.size_bytes, damage.reason)

    def bad(self, file: LogFile, position: int, size_bytes: int, reason: str) -> None:
        self.bad_count += 1
        skipped = f" ({size_bytes:,} bytes)" if size_bytes else ""
        self._say(f"  BAD {escaped(file.path)}:{position}{skipped}: {reason}", "red")


class JsonPrinter:
    """Prints for programs: one object a line, each with the file that it comes from."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.bad_count = 0

    def heading(self, file: LogFile) -> None:
        """An object says its file itself."""

    def entry(self, file: LogFile, entry: Object) -> None:
        place: Object = {"type": entry["type"], "path": file.path}
        if file.folder is not None:
            place |= {"topic": file.topic, "partition": file.partition}
        self.terminal.say(json_line(place | entry))

    def batch(self, file: LogFile, batch: Batch, *, has_records: bool) -> None:
        if not has_records:
            self.entry(file, batch_object(batch))
            self.bad_count += len(batch.faults)
        else:
            for fault in batch.faults:
                self.bad(file, batch.position, batch.row.size_bytes, fault)

    def record(
        self, file: LogFile, batch: Batch, record: Record, decoded: Decoded | None, q: Question
    ) -> None:
        self.entry(file, record_object(batch, record, decoded, q.forms))

    def damage(self, file: LogFile, damage: Damage) -> None:
        self.bad_count += not damage.is_zeros
        self.entry(file, damage_object(damage))

    def bad(self, file: LogFile, position: int, size_bytes: int, reason: str) -> None:
        self.bad_count += 1
        self.entry(file, damage_object(Damage(position, size_bytes, reason)))
