"""How `ottla log recover` tells what it found and did."""

from collections.abc import Sequence
from typing import Final

from ottla.cli.log.examined import Examined, Repaired
from ottla.cli.log.overlay_disk import Change
from ottla.cli.log.values import Object, escaped, json_line
from ottla.cli.quantities import shown_count, shown_size
from ottla.cli.terminal import Terminal
from ottla.storage.file_names import Kind, parse_segment_file

_STYLES: Final = {
    "fine": "green", "would": "yellow", "CORRUPT": "red", "FAILED": "red", "done": "green",
}  # fmt: skip


class Told:
    """Where it is told."""

    def __init__(self, terminal: Terminal, *, is_json: bool) -> None:
        self.terminal = terminal
        self.is_json = is_json

    def line(self, word: str, text: str) -> None:
        """Say a line for people."""
        self.terminal.say(f"{self.terminal.paint(f'{word:8}', _STYLES[word])}{text}")

    def object(self, value: Object) -> None:
        """Say an object for programs."""
        self.terminal.say(json_line(value))


def tell(told: Told, one: Examined, *, cuts_corrupt: bool) -> None:
    """Say what was found of a partition, and what is to be done."""
    if told.is_json:
        told.object(_found_object(one))
        return
    path = escaped(one.target.path)
    if one.fault is not None:
        told.line("FAILED", f"{path}: {escaped(str(one.fault))}")
        return
    if one.corrupt is not None:
        fault = one.corrupt
        place = f"{escaped(fault.place)}:{fault.position}"
        told.line("CORRUPT", f"{place}: {fault.reason}; nothing of it is changed")
        if cuts_corrupt:
            told.line("would", "cut it there, and keep what goes beside it")
        return
    _tell_changes(told, one, path)


def _tell_changes(told: Told, one: Examined, path: str) -> None:
    checked = f"{shown_size(one.findings.checked_bytes)} checked"
    first, end = one.bounds or (0, 0)
    offsets = f"offsets {first}..{end - 1}" if end > first else "no offsets"
    told.line("would" if one.changes else "fine", f"{path}: {checked}, {offsets}")
    for cut in one.findings.cuts:
        reason = f"no batch there, but {cut.stop.name.lower()}"
        size = shown_size(cut.size_bytes)
        told.terminal.say(f"        CUT {size} at {escaped(cut.path)}:{cut.position}: {reason}")
    for change in one.changes:
        if _is_log(change) and change.size_after is None:
            told.terminal.say(
                f"        REMOVE {escaped(change.path)}, {shown_size(change.size_before or 0)}"
            )
    others = [change for change in one.changes if not _is_log(change)]
    for verb, some in _by_verb(others):
        names = ", ".join(escaped(change.path.rpartition("/")[2]) for change in some[:3])
        more = f" and {len(some) - 3} more" if len(some) > 3 else ""
        told.terminal.say(f"        {verb} {names}{more}")
    for fault in one.findings.refused:
        told.terminal.say(f"        not readable: {escaped(str(fault))}")


def _is_log(change: Change) -> bool:
    file = parse_segment_file(change.path.rpartition("/")[2])
    return file is not None and file.kind is Kind.LOG


def _by_verb(changes: Sequence[Change]) -> list[tuple[str, list[Change]]]:
    verbs: dict[str, list[Change]] = {}
    for change in changes:
        if change.size_after is None:
            verb = "remove"
        elif change.size_before is None:
            verb = "make"
        else:
            verb = "rewrite"
        verbs.setdefault(verb, []).append(change)
    return sorted(verbs.items())


def _found_object(one: Examined) -> Object:
    said: Object = {"type": "found", "path": one.target.path, "state": _state(one)}
    said |= {"topic": one.target.partition.topic, "partition": one.target.partition.partition}
    if one.fault is not None:
        return said | {"reason": str(one.fault)}
    if one.corrupt is not None:
        fault = one.corrupt
        place: Object = {"file": fault.place, "position": fault.position, "offset": fault.offset}
        return said | place | {"reason": fault.reason}
    first, end = one.bounds or (0, 0)
    cuts = [
        {"file": c.path, "position": c.position, "size_bytes": c.size_bytes, "stop": c.stop.name}
        for c in one.findings.cuts
    ]
    changes = [
        {"file": c.path, "size_before": c.size_before, "size_after": c.size_after}
        for c in one.changes
    ]
    bounds: Object = {"start_offset": first, "end_offset": end}
    return (
        said
        | bounds
        | {
            "checked_bytes": one.findings.checked_bytes,
            "cuts": cuts,
            "changes": changes,
        }
    )


def _state(one: Examined) -> str:
    if one.fault is not None:
        return "failed"
    if one.corrupt is not None:
        return "corrupt"
    return "to_do" if one.changes else "fine"


def tell_done(told: Told, done: Repaired) -> None:
    """Say what was done to a partition."""
    path = done.target.path
    if told.is_json:
        said: Object = {"type": "done", "path": path, "end_offset": done.end_offset}
        said |= {"kept": list(done.kept), "fault": str(done.fault) if done.fault else None}
        told.object(said)
        return
    if done.fault is not None:
        told.line("FAILED", f"{escaped(path)}: {escaped(str(done.fault))}")
        return
    kept = f"; {shown_count(len(done.kept), 'file')} of what was cut" if done.kept else ""
    told.line("done", f"{escaped(path)}: ends at {done.end_offset}{kept}")
    for one in done.kept:
        told.terminal.say(f"        kept {escaped(one)}")
