"""Points in time as people type and read them; they are milliseconds since 1970 in UTC."""

import re
from datetime import UTC, datetime, timedelta
from time import time
from typing import Final

from ottla.cli import Refused

FORMS: Final = "now, -1h (or s, m, d, w), 2026-11-18T10:00Z (UTC unless said), or epoch ms"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)
_SPAN: Final = re.compile(r"[+-](\d+(ms|[smhdw]))+")
_PART: Final = re.compile(r"(\d+)(ms|[smhdw])")
_UNIT_MS: Final = {
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000,
}  # fmt: skip
_DIGITS_MAX: Final = 18


def now_ms() -> int:
    """What the clock says."""
    return int(time() * 1000)


def parse_time(text: str, now: int) -> int:
    """Read a point in time; `now` is what relative ones count from."""
    if text == "now":
        return now
    if text.isascii() and text.isdigit():
        return _milliseconds(text)
    if len(text) <= 2 * _DIGITS_MAX and _SPAN.fullmatch(text):
        span = sum(int(count) * _UNIT_MS[unit] for count, unit in _PART.findall(text))
        return now - span if text.startswith("-") else now + span
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Refused(f"{text!r} is no time; write {FORMS}") from None
    return (found.replace(tzinfo=found.tzinfo or UTC) - _EPOCH) // _MILLISECOND


def _milliseconds(text: str) -> int:
    if len(text) > _DIGITS_MAX:
        raise Refused(f"{text[:40]!r} is no time; write {FORMS}")
    return int(text)


def shown_time(timestamp: int) -> str:
    """A point in time to the millisecond; -1 is none, and what no calendar has stays a number."""
    if timestamp == -1:
        return "no time"
    try:
        found = _EPOCH + timedelta(milliseconds=timestamp)
    except OverflowError:
        return f"{timestamp} ms"
    return f"{found:%Y-%m-%dT%H:%M:%S}.{timestamp % 1000:03}Z"
