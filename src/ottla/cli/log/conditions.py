"""What is asked of records: a window of offsets and times, and what keys, values, headers hold."""

import re
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

from ottla.cli import Refused
from ottla.records.batch import APPEND_TIME_BIT
from ottla.records.reader import Record
from ottla.records.scan import BatchRow

OFFSET_MAX: Final = 2**63 - 1
PATTERN_SECONDS_MAX: Final = 1.0
"""How much of the processor's time a pattern may take for one text."""

_RANGE: Final = re.compile(r"(\d{1,19})?(\.\.(\d{1,19})?)?")


@dataclass(frozen=True, slots=True)
class Window:
    """Offsets, both ends within, and times, the second excluded; None is no bound."""

    offset_first: int = 0
    offset_last: int = OFFSET_MAX
    from_ms: int | None = None
    to_ms: int | None = None

    def may_hold(self, row: BatchRow) -> bool:
        """Can a batch have a record of the window, by its header?"""
        if row.last_offset < self.offset_first or row.base_offset > self.offset_last:
            # A wrapper of magic 0 or 1 shows only its last offset.
            return row.magic < 2 and row.last_offset >= self.offset_first
        if self.from_ms is not None and row.magic and row.max_timestamp < self.from_ms:
            return False
        is_append_time = row.magic == 2 and row.attributes & APPEND_TIME_BIT
        return not (self.to_ms is not None and is_append_time and row.max_timestamp >= self.to_ms)

    def holds(self, record: Record) -> bool:
        """Does a record lie in it?"""
        if not self.offset_first <= record.offset <= self.offset_last:
            return False
        if self.from_ms is not None and record.timestamp < self.from_ms:
            return False
        return self.to_ms is None or record.timestamp < self.to_ms


@dataclass(frozen=True, slots=True)
class Condition:
    """What a record must have; `needle` are bytes that it cannot do without, to look for first."""

    holds: Callable[[Record], bool]
    needle: bytes = b""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A window and all conditions; without conditions every record of the window is wanted."""

    window: Window = field(default_factory=Window)
    conditions: tuple[Condition, ...] = ()

    def holds(self, record: Record) -> bool:
        """Is a record wanted?"""
        return self.window.holds(record) and all(one.holds(record) for one in self.conditions)

    def may_hold(self, section: bytes | memoryview) -> bool:
        """Can there be a wanted record in the records of a batch, as they lie uncompressed?"""
        needles = [one.needle for one in self.conditions if one.needle]
        if not needles:
            return True
        data = bytes(section)
        return all(needle in data for needle in needles)


def parse_offsets(text: str) -> tuple[int, int]:
    """Read `5`, `5..9`, `5..` or `..9`, both ends within."""
    found = _RANGE.fullmatch(text)
    if found is None or not text.strip("."):
        raise Refused(f"{text!r} is no range of offsets; write 5, 5..9, 5.. or ..9, ends included")
    first = int(found[1] or 0)
    last = first if found[2] is None else int(found[3] or OFFSET_MAX)
    if first > last:
        raise Refused(f"the range of offsets {text!r} ends before it begins")
    return first, last


def key_is(text: str) -> Condition:
    """The key is exactly a text."""
    wanted = text.encode(errors="surrogateescape")
    return Condition(lambda record: record.key is not None and record.key == wanted, wanted)


def key_matches(pattern: re.Pattern[str]) -> Condition:
    """A pattern is found in the key."""
    return Condition(lambda record: record.key is not None and found_in(pattern, record.key))


def value_contains(text: str) -> Condition:
    """The value has a text in it."""
    wanted = text.encode(errors="surrogateescape")
    return Condition(
        lambda record: record.value is not None and wanted in bytes(record.value), wanted
    )


def header_is(text: str) -> Condition:
    """One header has a name and a value; with a name alone its value does not matter."""
    name, has_value, value = text.partition("=")
    wanted = value.encode(errors="surrogateescape") if has_value else None

    def holds(record: Record) -> bool:
        return any(
            one == name and (wanted is None or held == wanted) for one, held in record.headers
        )

    return Condition(holds, name.encode(errors="surrogateescape"))


def compiled(
    pattern: str, *, is_fixed: bool = False, ignores_case: bool = False
) -> re.Pattern[str]:
    """A pattern that was typed; Refused, with the place, if it is none."""
    text = re.escape(pattern) if is_fixed else pattern
    try:
        return re.compile(text, (re.IGNORECASE if ignores_case else 0) | re.DOTALL)
    except (re.error, OverflowError, RecursionError) as fault:
        raise Refused(f"the pattern {pattern!r} is none: {fault}") from None


def found_in(pattern: re.Pattern[str], data: bytes | bytearray | memoryview) -> bool:
    """Is a pattern found in bytes, which are taken for UTF-8?"""
    return searched(pattern, str(data, "utf-8", "surrogateescape"))


def searched(pattern: re.Pattern[str], text: str) -> bool:
    """Is a pattern found in a text? `patterns_bounded` says for how long it may be looked for."""
    _watch.searches += 1
    _watch.is_busy = True
    found = pattern.search(text)
    _watch.is_busy = False
    return found is not None


class _Watch:
    """Which search is under way, and which was when the alarm last rang."""

    def __init__(self) -> None:
        self.searches = 0
        self.is_busy = False
        self.seen = 0

    def ring(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_busy and self.seen == self.searches:
            self.is_busy = False
            raise Refused(
                f"the pattern took longer than {PATTERN_SECONDS_MAX:g} s on one text;"
                " write it without a repetition within another, or use --fixed"
            )
        self.seen = self.searches


_watch: Final = _Watch()


@contextmanager
def patterns_bounded() -> Generator[None, None, None]:
    """Stop a pattern that goes back and forth for ever on one text.

    The regular expressions of Python cannot be given a limit, but they look for signals while they
    search. An alarm rings all the time, and ends a search during which it has rung twice. Its clock
    stands while this process does not run, so that a busy machine is no reason to give up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, _watch.ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATTERN_SECONDS_MAX, PATTERN_SECONDS_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        _watch.is_busy = False
