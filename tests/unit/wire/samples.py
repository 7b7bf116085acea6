"""Messages that use every feature of the declaration language, for the tests of the codec."""

from ottla.wire.fields import (
    NO_ID,
    Message,
    Records,
    Struct,
    Uuid,
    blank,
    field,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint16,
    uint32,
)


class Everything(Message, key=300, versions="0-3", flexible="2+"):
    """One field of every kind, in each of the ways that a version can treat it."""

    class Inner(Struct):
        name: str
        size: int64
        note: str | None = field("1+", default=None)

    class Point(Struct):
        x: int32
        y: int32

    flag: bool
    tiny: int8
    small: int16
    port: uint16
    number: int32
    count: uint32
    big: int64
    ratio: float64
    id: Uuid
    text: str
    data: bytes
    batches: Records | None
    numbers: list[int32]
    names: list[str] | None = field("0+", nullable="1+")
    inners: list[Inner]
    point: Point
    place: Point | None = field("1+", default=None)
    late: int32 = field("3+", default=7)
    kind: str = field("3+", default="", ignorable=True)
    epoch: int32 = field("2+", tag=0, default=-1)
    origin: Point = field("2+", tag=1, default=blank(Point))
    hints: list[int32] = field("2+", tag=3, default_factory=list)
    cluster: str | None = field("2+", tag=2, default=None)


def everything(version: int) -> Everything:
    """A message that `version` can carry, with nothing at its default that need not be."""
    message = Everything(
        flag=True, tiny=-5, small=-300, port=65535, number=-(1 << 31), count=(1 << 32) - 1,
        big=-(1 << 63), ratio=-2.5, id=Uuid(bytes(range(16))), text="größe", data=b"\x00\xff",
        batches=b"batches", numbers=[1, -1], names=["a", "ß"],
        inners=[Everything.Inner(name="i", size=1 << 40)], point=Everything.Point(x=1, y=-2),
    )  # fmt: skip
    if version >= 1:
        message.names = None
        message.inners[0].note = "n"
        message.place = Everything.Point(x=3, y=4)
    if version >= 2:
        message.epoch = 9
        message.origin = Everything.Point(x=0, y=1)
        message.hints = [5]
        message.cluster = "c"
        message.unknown_tags = {7: b"seven", 2000: b""}
    if version >= 3:
        message.late = 8
    return message


EMPTY_ID = NO_ID
