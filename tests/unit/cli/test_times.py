"""Points in time, sizes and durations as they are typed and shown."""

import pytest

from ottla.cli import Refused
from ottla.cli.quantities import shown_count, shown_duration, shown_size
from ottla.cli.times import parse_time, shown_time

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("now", NOW),
        ("-1h", NOW - 3_600_000),
        ("-2d12h", NOW - 216_000_000),
        ("+5m", NOW + 300_000),
        ("-250ms", NOW - 250),
        ("-1w", NOW - 604_800_000),
        ("-90s", NOW - 90_000),
        ("0", 0),
        ("1700000000123", 1_700_000_000_123),
        ("2023-11-14T22:13:20Z", NOW),
        ("2023-11-14T22:13:20.123Z", NOW + 123),
        ("2023-11-14T22:13:20", NOW),
        ("2023-11-15T00:13:20+02:00", NOW),
        ("2023-11-14", 1_699_920_000_000),
        ("1969-12-31T23:59:59Z", -1000),
    ],
)
def test_a_time_is_read(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


@pytest.mark.parametrize(
    "text",
    ["", "yesterday", "1h", "-1x", "-h", "--1h", "2023-13-01", "1" * 19, "-" + "9" * 50 + "d"],
)
def test_what_is_no_time_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(Refused, match="is no time; write now, -1h"):
        parse_time(text, NOW)


@pytest.mark.parametrize(
    ("timestamp", "shown"),
    [
        (NOW + 7, "2023-11-14T22:13:20.007Z"),
        (-1, "no time"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-1001, "1969-12-31T23:59:58.999Z"),
        (2**63 - 1, "9223372036854775807 ms"),
        (-(2**63), "-9223372036854775808 ms"),
    ],
)
def test_a_time_is_shown(timestamp: int, shown: str) -> None:
    assert shown_time(timestamp) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1 << 20, "1.0 MiB"),
        (150 << 20, "150 MiB"),
        (3 << 50, "3.0 PiB"),
        (5000 << 50, "5000 PiB"),
    ],
)
def test_a_size_is_shown(size: int, shown: str) -> None:
    assert shown_size(size) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0s"), (59.4, "59s"), (59.6, "1m00s"), (3599, "59m59s"), (7800, "2h10m"), (1e6, "11d")],
)
def test_a_duration_is_shown(seconds: float, shown: str) -> None:
    assert shown_duration(seconds) == shown


def test_a_count_is_shown() -> None:
    assert [shown_count(count, "batch", "batches") for count in (0, 1, 1234)] == [
        "0 batches",
        "1 batch",
        "1,234 batches",
    ]
