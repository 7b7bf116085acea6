"""A nullable struct that is tagged has a mark of its own for null, unlike one that is not."""

import pytest

from ottla.kernels.faults import Malformed
from ottla.wire.codec import decode, encode
from ottla.wire.fields import Message, Struct, blank, field, int32


class Outer(Message, versions="0-1", flexible="0+"):
    """The same struct plain in version 0 and tagged in version 1."""

    class Inner(Struct):
        size: int32
        names: list[str]

    inner: Inner | None = field(tag=0, tagged="1+", default=blank(Inner))


FULL = Outer(inner=Outer.Inner(size=1, names=["a"]))
NULL = Outer(inner=None)
BODY = b"\0\0\0\x01\x02\x02a\0"


@pytest.mark.parametrize(
    ("message", "version", "data"),
    [
        (FULL, 0, b"\x01" + BODY + b"\0"),
        (NULL, 0, b"\xff\0"),
        (FULL, 1, b"\x01\0\x09\x01" + BODY),
        (NULL, 1, b"\x01\0\x01\0"),
    ],
)
def test_null_has_two_marks(message: Outer, version: int, data: bytes) -> None:
    assert encode(message, version) == data
    assert decode(Outer, data, version) == message


def test_a_blank_default_is_left_out() -> None:
    assert encode(Outer(), 1) == b"\0"
    assert encode(Outer(inner=Outer.Inner(size=0, names=[])), 1) == b"\0"
    assert decode(Outer, b"\0", 1).inner is blank(Outer.Inner)
    assert decode(Outer, b"\0", 1).inner == Outer.Inner(size=0, names=[])
    assert encode(Outer(), 0) == b"\x01\0\0\0\0\x01\0\0"


def test_nothing_may_follow_the_mark_of_null() -> None:
    with pytest.raises(Malformed, match="shorter than its size"):
        decode(Outer, b"\x01\0\x02\0\0", 1)
