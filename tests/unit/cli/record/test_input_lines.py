"""Lines become records, or are named by their number."""

import os

import pytest

from ottla.cli import Refused
from ottla.cli.record.input_lines import NewRecord, PlainLines, read_json, read_plain
from ottla.cli.record.lines import LiveLines


def of_json(*lines: str) -> list[NewRecord]:
    return list(read_json(line.encode() for line in lines))


def test_a_plain_line_is_a_value() -> None:
    form = PlainLines(key=b"k", headers=(("h", b"1"),))
    assert list(read_plain([b"one\n", b"two\r\n", b"three"], form)) == [
        NewRecord(b"k", value, [("h", b"1")]) for value in (b"one", b"two", b"three")
    ]


def test_the_key_stands_before_the_first_separator() -> None:
    form = PlainLines(key_separator=b"::", null=b"NULL")
    assert list(read_plain([b"k::v::w", b"k::NULL", b"NULL::", b"::v"], form)) == [
        NewRecord(b"k", b"v::w", []),
        NewRecord(b"k", None, []),
        NewRecord(None, b"", []),
        NewRecord(b"", b"v", []),
    ]


def test_a_line_without_separator_is_named() -> None:
    records = read_plain([b"a:b", b"ab"], PlainLines(key_separator=b":"))
    assert next(records).key == b"a"
    with pytest.raises(Refused, match="line 2 has no ':' between key and value"):
        next(records)


def test_an_object_is_a_record() -> None:
    assert of_json(
        '{"key": "k", "value": "AQI=", "value_form": "base64", "timestamp": 7, "partition": 2}',
        "",
        '{"key": "ff00", "key_form": "hex", "value": {"a": [1, null]}}',
        '{"value": null, "headers": [{"name": "h", "value": "x"}, {"name": "n", "value": null}]}',
        '{"value": "v", "timestamp": -1, "headers": {"h": "x"}}',
    ) == [
        NewRecord(b"k", b"\x01\x02", [], 7, 2),
        NewRecord(b"\xff\x00", b'{"a":[1,null]}', []),
        NewRecord(None, None, [("h", b"x"), ("n", None)]),
        NewRecord(None, b"v", [("h", b"x")]),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "no JSON object"),
        ("{}", 'neither "key" nor "value"'),
        ('{"value": "zz", "value_form": "hex"}', "value is no hex"),
        ('{"value": "=", "value_form": "base64"}', "value is no base64"),
        ('{"value": "v", "value_form": "rot13"}', "the form 'rot13', which is none of"),
        ('{"value": 7, "value_form": "text"}', "the form 'text'"),
        ('{"value": "v", "headers": "h"}', "neither an object nor a list"),
        ('{"value": "v", "headers": [{}]}', 'an object with "name"'),
        ('{"value": "v", "timestamp": "now"}', "timestamp is no number"),
        ('{"value": "v", "partition": true}', "partition is no number"),
        ("[" * 100_000, "line 2: "),
    ],
)
def test_what_is_no_record_is_named(line: str, reason: str) -> None:
    records = read_json([b'{"value": "fine"}', line.encode()])
    next(records)
    with pytest.raises(Refused, match=r"^line 2: ") as refused:
        next(records)
    assert reason in str(refused.value)


def test_a_line_that_nothing_follows_is_not_kept_waiting() -> None:
    reading, writing = os.pipe()
    lines = LiveLines(reading)
    found: list[tuple[bytes, bool]] = []
    os.write(writing, b"a\nb\n")
    for line in lines:
        is_idle = lines.is_idle()
        found.append((line, is_idle))
        if is_idle:
            # Only what was waited for is written, so a line that waits for more would hang here.
            os.write(writing, b"c\nrest")
            os.close(writing)
    os.close(reading)
    assert found == [(b"a", False), (b"b", True), (b"c", False), (b"rest", False)]
