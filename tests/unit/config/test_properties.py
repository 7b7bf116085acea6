"""Java's .properties files, against what Java made of them."""

from pathlib import Path

import pytest

from ottla.config.faults import MalformedProperties
from ottla.config.properties import Entry, dump, entries, load
from tests.costs import peak_bytes

GOLDEN = Path(__file__).parents[2] / "golden" / "properties"


def golden(name: str) -> list[tuple[str, str]]:
    lines = (GOLDEN / name).read_text("ascii").splitlines()
    return [line.partition(" -> ")[::2] for line in lines if not line.startswith("#")]


def utf16(text: str) -> str:
    return text.encode("utf-16-be", "surrogatepass").hex()


def text_of(units: str) -> str:
    return bytes.fromhex(units).decode("utf-16-be", "surrogatepass")


@pytest.mark.parametrize(("data", "expected"), golden("loaded.txt"))
def test_file_says_what_java_reads(data: str, expected: str) -> None:
    try:
        pairs = load(bytes.fromhex(data))
    except MalformedProperties:
        assert expected == "refused"
        return
    shown = sorted(f"{utf16(key)}={utf16(value)}" for key, value in pairs.items())
    assert " ".join(shown) == expected


@pytest.mark.parametrize(("pair", "expected"), golden("stored.txt"))
def test_file_is_written_as_java_stores_it(pair: str, expected: str) -> None:
    key, value = map(text_of, pair.split("="))
    assert dump({key: value}).hex() == expected


def test_entries_know_where_they_begin_and_repeat() -> None:
    text = "# first\na=1\n\nb=2\\\n  3\na : 4\n"
    assert list(entries(text)) == [Entry("a", "1", 2), Entry("b", "23", 4), Entry("a", "4", 6)]
    assert load(text.encode()) == {"a": "4", "b": "23"}


def test_bad_escape_names_its_line() -> None:
    with pytest.raises(MalformedProperties, match=r"^line 3: ") as raised:
        load(b"a=1\n# \\u is nothing in a comment\nb=\\u12\n")
    assert raised.value.line == 3


def test_bytes_are_latin_1_and_text_is_what_it_is() -> None:
    assert load("a=é".encode()) == {"a": "Ã©"}
    assert load("a=é".encode("latin-1")) == {"a": "é"}
    assert list(entries("a=✓")) == [Entry("a", "✓", 1)]


def test_comment_stands_on_top_line_by_line() -> None:
    assert dump({"a": "1"}, "one\ntwo ✓") == b"#one\n#two \\u2713\na=1\n"
    assert load(dump({"a": "1"}, "one\ntwo\rthree=3")) == {"a": "1"}


def test_order_is_kept() -> None:
    assert dump({"z": "1", "a": "2"}) == b"z=1\na=2\n"


def test_many_backslashes_are_read_at_once() -> None:
    """With time for the square of their number this takes minutes."""
    assert load(b"a=" + b"\\" * 200_000 + b"x") == {"a": "\\" * 100_000 + "x"}


def test_a_long_key_takes_no_more_memory_than_a_long_value() -> None:
    assert load(b"k" * 100_000) == {"k" * 100_000: ""}
    assert peak_bytes(lambda: load(b"k" * 100_000)) < 10 * 100_000
