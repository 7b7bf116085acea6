"""A value of another type than its field's is named with its place, and nothing is guessed."""

from typing import Any

import pytest

from ottla.errors import ErrorCode
from ottla.kernels.faults import InvalidValue, Unencodable
from ottla.wire.codec import decode, encode, encode_parts
from ottla.wire.fields import Message, Struct, Uuid
from tests.unit.wire.samples import Everything, everything

VERSION = 3


def released() -> memoryview:
    """A view that can no longer be read."""
    view = memoryview(b"gone")
    view.release()
    return view


ALIEN: dict[str, Any] = {
    "object": object(),
    "text": "\ud800",
    "bytes": b"abc",
    "float": 1.5,
    "not a number": float("nan"),
    "complex": 1j,
    "huge": 1 << 70,
    "list": [object()],
    "nested": [[None]],
    "set": {1},
    "dict": {1: 2},
    "class": int,
    "view": memoryview(b"abcdef")[::2],
    "released view": released(),
}
FITTING = {
    ("float64", "float"), ("float64", "not a number"), ("float64", "huge"),
    ("bytes", "bytes"), ("bytes", "view"), ("records", "bytes"),
}  # fmt: skip


@pytest.mark.parametrize("alien", ALIEN)
@pytest.mark.parametrize("field", Everything.fields, ids=lambda field: field.name)
def test_what_no_field_of_its_kind_holds_is_named(field: Any, alien: str) -> None:
    message = everything(VERSION)
    setattr(message, field.name, ALIEN[alien])
    if (field.kind, alien) in FITTING:
        assert encode(message, VERSION)
        return
    with pytest.raises(Unencodable) as caught:
        encode(message, VERSION)
    assert caught.value.place.startswith(f"Everything.{field.name}")


@pytest.mark.parametrize("value", [None, 0, 1, "", "no"])
def test_a_flag_is_true_or_false(value: Any) -> None:
    message = everything(VERSION)
    message.flag = value
    with pytest.raises(Unencodable, match=r"Everything\.flag: .* expected True or False"):
        encode(message, VERSION)


@pytest.mark.parametrize("value", ["ab", b"ab", {"a": "b"}, {"a"}, iter(["a"])])
def test_an_array_is_a_list_or_a_tuple(value: Any) -> None:
    message = everything(0)
    message.names = value
    with pytest.raises(Unencodable, match=r"Everything\.names: .* expected a list"):
        encode(message, 0)
    message.names = ("a", "b")
    assert decode(Everything, encode(message, 0), 0).names == ["a", "b"]


def test_a_name_for_a_number_is_the_number() -> None:
    message = everything(VERSION)
    message.small = ErrorCode.UNSUPPORTED_VERSION
    message.number = True
    again = decode(Everything, encode(message, VERSION), VERSION)
    assert (again.small, again.number) == (35, 1)


def test_an_id_is_counted_in_bytes() -> None:
    message = everything(VERSION)
    message.id = memoryview(bytearray(64)).cast("i")
    with pytest.raises(Unencodable, match="a uuid has 16 bytes, not 64"):
        encode(message, VERSION)
    message.id = memoryview(bytes(range(16)))
    assert decode(Everything, encode(message, VERSION), VERSION).id == Uuid(bytes(range(16)))


def test_parts_are_counted_in_bytes() -> None:
    message = everything(VERSION)
    message.batches = memoryview(bytearray(8)).cast("i")
    assert [len(part) for part in encode_parts(message, VERSION)][1] == 8


class Words(Message, versions="0-1", flexible="1+"):
    """A string, written with either length."""

    class Inner(Struct):
        word: str

    inner: Inner


@pytest.mark.parametrize("version", [0, 1])
def test_a_string_has_at_most_as_many_bytes_as_kafka_takes(version: int) -> None:
    longest = Words(inner=Words.Inner(word="x" * 32767))
    data = encode(longest, version)
    assert decode(Words, data, version) == longest
    with pytest.raises(Unencodable, match=r"Words\.inner\.word: 32768 bytes are too many"):
        encode(Words(inner=Words.Inner(word="x" * 32768)), version)


def test_a_longer_string_is_not_read_either() -> None:
    data = b"\x81\x80\x02" + bytes(32768) + b"\0\0"
    with pytest.raises(InvalidValue, match=r"Words\.inner\.word .*32768 bytes are too many"):
        decode(Words, data, 1)


@pytest.mark.parametrize(
    "tags", [{-1: b""}, {1 << 32: b""}, {"9": b""}, {9.5: b""}, {9: "text"}, {9: 1}, [9], 9]
)
def test_unknown_tags_are_bytes_by_tag(tags: Any) -> None:
    message = everything(VERSION)
    message.unknown_tags = tags
    with pytest.raises(Unencodable, match="Everything: unknown_tags are bytes by tag"):
        encode(message, VERSION)


def test_the_largest_tag_comes_back() -> None:
    message = everything(VERSION)
    message.unknown_tags = {(1 << 32) - 1: b"x"}
    assert decode(Everything, encode(message, VERSION), VERSION) == message


@pytest.mark.parametrize("wrong", [(), ("file",), ("file", -1), ("file", 1.5), (0, 1 << 31)])
def test_a_range_of_a_file_says_last_how_long_it_is(wrong: tuple[object, ...]) -> None:
    message = everything(VERSION)
    message.batches = ("file", 0, 5)
    parts = encode_parts(message, VERSION)
    assert parts[1] == ("file", 0, 5)
    message.batches = wrong
    with pytest.raises(Unencodable) as caught:
        encode_parts(message, VERSION)
    assert caught.value.place == "Everything.batches"
