"""Messages to bytes and back: what is written, what is refused, and where the fault lies."""

import struct

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated, Unencodable
from ottla.wire.codec import UnsupportedVersion, decode, decode_prefix, encode, encode_parts
from ottla.wire.fields import Message, Struct, blank, field, int8, int32
from tests.unit.wire.samples import Everything, everything


class Small(Message, key=301, versions="0-1", flexible="1+"):
    """Short enough to write its bytes by hand."""

    name: str
    sizes: list[int32]


class Crowd(Message, key=302, versions="0"):
    """Many objects in few bytes."""

    class Dot(Struct):
        a: int8

    dots: list[Dot]


@pytest.mark.parametrize("version", range(4))
def test_a_message_comes_back_as_it_went(version: int) -> None:
    message = everything(version)
    data = encode(message, version)
    again = decode(Everything, data, version)
    assert again == message
    assert encode(again, version) == data


def test_bytes_are_those_of_the_protocol() -> None:
    message = Small(name="ab", sizes=[1, -1])
    classic = b"\x00\x02ab" + struct.pack(">iii", 2, 1, -1)
    assert encode(message, 0) == classic
    assert encode(message, 1) == b"\x03ab" + b"\x03" + struct.pack(">ii", 1, -1) + b"\x00"


def test_records_are_never_copied() -> None:
    batches = bytearray(b"0123456789")
    message = everything(2)
    message.batches = memoryview(batches)
    parts = encode_parts(message, 2)
    assert parts[1] is message.batches
    data = b"".join(parts)
    again = decode(Everything, data, 2)
    assert isinstance(again.batches, memoryview)
    assert again.batches.obj is data
    assert again.batches == b"0123456789"


@pytest.mark.parametrize("version", range(4))
def test_every_truncation_is_an_error(version: int) -> None:
    data = encode(everything(version), version)
    for end in range(len(data)):
        with pytest.raises(Malformed):
            decode(Everything, data[:end], version)


def test_a_fault_names_its_place() -> None:
    message = everything(1)
    message.inners.append(Everything.Inner(name="second", size=1))
    data = encode(message, 1)
    cut = data.index(b"second") + 6 + 3
    with pytest.raises(
        Truncated, match=r"Everything\.inners\[1\]\.size at byte \d+: needs 8 bytes"
    ):
        decode(Everything, data[:cut], 1)


def test_bytes_left_over_are_an_error_unless_asked_for() -> None:
    data = encode(Small(name="", sizes=[]), 0)
    with pytest.raises(InvalidValue, match="1 bytes are left over"):
        decode(Small, data + b"x", 0)
    assert decode_prefix(Small, b"xx" + data + b"y", 0, 2) == (Small(name="", sizes=[]), 8)


@pytest.mark.parametrize("data", [b"\xff\xff\x00\x00\x00\x00", b"\x00\x00\xff\xff\xff\xff"])
def test_null_where_it_is_not_allowed(data: bytes) -> None:
    with pytest.raises(InvalidValue, match="null is not allowed"):
        decode(Small, data, 0)


def test_negative_lengths_are_refused() -> None:
    with pytest.raises(InvalidValue, match="negative length -2"):
        decode(Small, b"\xff\xfe", 0)


def test_varints_are_bounded() -> None:
    with pytest.raises(InvalidValue, match="more than 32 bits"):
        decode(Small, b"\xff\xff\xff\xff\xff\x01", 1)
    with pytest.raises(InvalidValue, match="more than 32 bits"):
        decode(Small, b"\xff\xff\xff\xff\x1f", 1)


def test_an_array_longer_than_its_bytes_allocates_nothing() -> None:
    with pytest.raises(Truncated, match="2147483647 elements"):
        decode(Small, b"\x00\x00\x7f\xff\xff\xff", 0)


def test_objects_are_charged_before_they_are_made() -> None:
    dots = 100_000
    data = struct.pack(">i", dots) + bytes(dots)
    assert len(decode(Crowd, data, 0).dots) == dots
    with pytest.raises(LimitExceeded):
        decode(Crowd, data, 0, slack_bytes=1 << 20)


def test_bytes_that_are_not_utf8_become_replacement_characters() -> None:
    assert decode(Small, b"\x00\x02\xc3\x28\x00\x00\x00\x00", 0).name == "\ufffd("


@pytest.mark.parametrize(
    ("name", "value", "version", "reason"),
    [
        ("late", 9, 2, r"Everything\.late: is set, but this version does not have it"),
        ("place", Everything.Point(x=1, y=1), 0, "is set, but"),
        ("epoch", 3, 1, "is set, but"),
        ("origin", Everything.Point(x=1, y=1), 1, "is set, but"),
        ("number", 1 << 31, 1, r"Everything\.number: 2147483648 is out of range for int32"),
        ("big", 1 << 63, 1, "is no int64"),
        ("port", -1, 1, "out of range for uint16"),
        ("number", "1", 1, "'1' is no int32"),
        ("number", None, 1, "None is no int32"),
        ("text", None, 1, "null is not allowed"),
        ("text", "\ud800", 1, "is no string"),
        ("text", "x" * 32768, 1, "32768 bytes are too many for a string"),
        ("names", None, 0, "null is not allowed"),
        ("names", ["a", 3], 1, r"Everything\.names\[1\]: 3 is no string"),
        ("id", b"short", 1, "16 bytes, not 5"),
        ("inners", [Everything.Point(x=1, y=1)], 1, r"Everything\.inners"),
        ("unknown_tags", {9: b""}, 1, "need a flexible version"),
        ("unknown_tags", {1: b""}, 2, "both as a field and as an unknown tag"),
    ],
)
def test_what_cannot_be_carried_is_refused(
    name: str, value: object, version: int, reason: str
) -> None:
    message = everything(version)
    setattr(message, name, value)
    with pytest.raises(Unencodable, match=reason):
        encode(message, version)


def test_an_ignorable_field_is_left_out() -> None:
    message = everything(2)
    message.kind = "dropped"
    assert decode(Everything, encode(message, 2), 2).kind == ""


def test_a_tagged_field_at_its_default_takes_no_bytes() -> None:
    message = everything(2)
    length = len(encode(message, 2))
    message.epoch = -1
    message.origin = Everything.Point(x=0, y=0)
    message.hints = []
    assert len(encode(message, 2)) == length - (2 + 4) - (2 + 9) - (2 + 5)


def test_a_tagged_field_fills_its_size() -> None:
    data = bytearray(encode(everything(2), 2))
    at = data.index(b"\x00\x04\x00\x00\x00\x09")
    data[at + 1] = 3
    with pytest.raises(Malformed, match="epoch"):
        decode(Everything, bytes(data), 2)
    data[at + 1] = 5
    with pytest.raises(InvalidValue, match="shorter than its size"):
        decode(Everything, bytes(data), 2)


def test_versions_are_checked() -> None:
    with pytest.raises(UnsupportedVersion, match="Everything has versions 0-3, not 4"):
        encode(everything(3), 4)
    with pytest.raises(UnsupportedVersion):
        decode(Everything, b"", -1)


def test_a_shared_default_cannot_be_changed() -> None:
    again = decode(Everything, encode(everything(1), 1), 1)
    assert again.origin is blank(Everything.Point)
    assert again.origin == Everything.Point(x=0, y=0)
    with pytest.raises(AttributeError, match="shared default"):
        again.origin.x = 1


def test_lists_are_never_shared() -> None:
    first, second = everything(0), everything(0)
    first.hints.append(1)
    assert second.hints == []
    assert decode(Everything, encode(second, 0), 0).hints == []


def test_a_constructor_asks_for_what_has_no_default() -> None:
    with pytest.raises(TypeError, match="sizes"):
        Small(name="a")
    with pytest.raises(TypeError, match="colour"):
        Small(name="a", sizes=[], colour=1)


def test_structs_of_different_classes_are_never_equal() -> None:
    class Other(Struct):
        x: int32 = field(default=0)
        y: int32 = field(default=0)

    assert Everything.Point(x=0, y=0) != Other()
    assert repr(Everything.Point(x=0, y=1)) == "Everything.Point(x=0, y=1)"
