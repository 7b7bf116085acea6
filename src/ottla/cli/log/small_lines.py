"""The entries of indexes, checkpoints and other small files as lines for people."""

from collections.abc import Callable
from typing import Any, Final

from ottla.cli.log.choices import FileKind
from ottla.cli.log.files import LogFile
from ottla.cli.log.values import Object, escaped
from ottla.cli.quantities import shown_size
from ottla.cli.times import shown_time

# Two kinds of file hold what was known below the offset in their names; the others begin at it.
_PREPOSITIONS: Final = {FileKind.PRODUCERS: "below", FileKind.METADATA_SNAPSHOT: "below"}


def heading_of(file: LogFile) -> str:
    """The line above what a file holds."""
    words = [escaped(file.path), f"({file.kind}"]
    if file.folder is not None:
        words.append(f"of {file.topic}-{file.partition}")
    if file.base_offset is not None:
        words.append(f"{_PREPOSITIONS.get(file.kind, 'from')} offset {file.base_offset}")
    if file.stage:
        words.append(f"named {file.stage}: not what is read now")
    return f"{', '.join([' '.join(words), shown_size(file.size_bytes)])})"


def line_of(entry: Object) -> str:
    """One entry."""
    return _LINES[str(entry["type"])](entry)


def _index(entry: Any) -> str:
    return f"offset {entry['offset']} at {entry['position']}"


def _time(entry: Any) -> str:
    return f"up to offset {entry['offset']} nothing is later than {shown_time(entry['timestamp'])}"


def _aborted(entry: Any) -> str:
    return (
        f"producer {entry['producer_id']} aborted {entry['first_offset']}..{entry['last_offset']},"
        f" last stable offset then {entry['last_stable_offset']}"
    )


def _producer(entry: Any) -> str:
    words = [f"producer {entry['producer_id']}/{entry['epoch']}"]
    if entry["last_sequence"] >= 0:
        words.append(f"sequence {entry['last_sequence'] - entry['offset_delta']}..")
        words[-1] += f"{entry['last_sequence']}"
    if entry["last_offset"] >= 0:
        words.append(f"offset {entry['last_offset'] - entry['offset_delta']}..")
        words[-1] += f"{entry['last_offset']}"
    words.append(shown_time(entry["timestamp"]))
    if entry["coordinator_epoch"] >= 0:
        words.append(f"coordinator epoch {entry['coordinator_epoch']}")
    if entry["current_txn_first_offset"] >= 0:
        words.append(f"transaction open since offset {entry['current_txn_first_offset']}")
    return "  ".join(words)


def _checkpoint(entry: Any) -> str:
    meaning = entry["meaning"].replace("_", " ")
    return f"{escaped(entry['topic'])}-{entry['partition']}  {meaning} {entry['offset']}"


def _fields(entry: Any) -> str:
    said = {name: value for name, value in entry.items() if name != "type"}
    return "  ".join(f"{name} {escaped(str(value))}" for name, value in said.items())


_LINES: Final[dict[str, Callable[[Any], str]]] = {
    "index_entry": _index,
    "timeindex_entry": _time,
    "aborted_transaction": _aborted,
    "producer": _producer,
    "leader_epoch": lambda entry: f"epoch {entry['epoch']} from offset {entry['start_offset']}",
    "checkpoint": _checkpoint,
    "partition_metadata": _fields,
    "meta_properties": _fields,
    "quorum_state": _fields,
    "clean_shutdown": _fields,
    "zeros": lambda entry: f"{shown_size(entry['size_bytes'])} of zeros for entries to come",
}
