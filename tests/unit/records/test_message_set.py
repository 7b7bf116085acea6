"""Message sets: the shapes that Kafka's own writer does not make."""

from itertools import pairwise

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Malformed, Truncated, Unencodable
from ottla.records.compression import Codec, compress
from ottla.records.message_set import (
    CREATE_TIME,
    LOG_APPEND_TIME,
    WrongChecksum,
    checksum,
    entries,
    inner_entries,
    messages,
    set_offset,
    set_timestamp,
    write_message_set,
)

ROWS = [(7, 1000, b"a", b"first"), (9, 3000, None, b"second"), (10, 2000, b"c", None)]


def wrapped(
    inner: bytes, magic: int = 1, offset: int = 2, codec: int = Codec.GZIP, time: int = 5
) -> bytes:
    """A wrapper around any bytes."""
    shell = bytearray(write_message_set(magic, 0, [(offset, time, None, compress(codec, inner))]))
    shell[17] |= codec
    (entry,) = entries(shell)
    shell[12:16] = checksum(shell, entry).to_bytes(4, "big")
    return bytes(shell)


def plain(magic: int, offsets: list[int]) -> bytes:
    """Messages with these offsets, as they lie in a wrapper."""
    return b"".join(write_message_set(magic, 0, [(offset, 1, b"k", b"v")]) for offset in offsets)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_a_set_that_is_cut_off_anywhere_ends_before_the_cut(magic: int, codec: Codec) -> None:
    data = write_message_set(magic, codec, ROWS)
    ends = [0, *(entry.position + entry.size_bytes for entry in entries(data))]
    for count, (end, next_end) in enumerate(pairwise(ends)):
        for size in range(end, next_end):
            assert len(list(entries(data[:size]))) == count


@pytest.mark.parametrize("magic", [0, 1])
def test_the_last_inner_message_may_be_cut_off_too(magic: int) -> None:
    inner = plain(magic, [0, 1, 2])
    for cut in (1, 13, len(inner) // 3):
        found = list(messages(wrapped(inner[:-cut], magic, offset=1)))
        assert [message.offset for message in found] == [0, 1]


def test_inner_offsets_of_magic_1_count_back_from_the_wrappers() -> None:
    assert [one.offset for one in messages(wrapped(plain(1, [0, 1, 2]), offset=50))] == [48, 49, 50]
    # A compacted wrapper has gaps, and its first inner offset need not be 0.
    assert [one.offset for one in messages(wrapped(plain(1, [2, 5]), offset=50))] == [47, 50]
    assert [one.offset for one in messages(wrapped(plain(1, [0, 1]), offset=0))] == [0, 1]
    with pytest.raises(InvalidValue, match="below"):
        list(messages(wrapped(plain(1, [0, 1, 2]), offset=1)))


def test_inner_offsets_of_magic_0_are_absolute() -> None:
    assert [one.offset for one in messages(wrapped(plain(0, [7, 9]), 0, offset=9))] == [7, 9]


def test_a_wrapper_with_the_append_time_gives_it_to_all_within() -> None:
    data = bytearray(wrapped(plain(1, [0, 1]), offset=1, time=77))
    (wrapper,) = entries(data)
    set_timestamp(data, wrapper, LOG_APPEND_TIME, 88)
    assert [one[1:3] for one in messages(data)] == [(88, LOG_APPEND_TIME)] * 2
    (wrapper,) = entries(data)
    assert wrapper.crc == checksum(data, wrapper)
    set_timestamp(data, wrapper, CREATE_TIME, 88)
    assert [one[1:3] for one in messages(data)] == [(1, CREATE_TIME)] * 2


def test_setting_what_is_there_leaves_a_wrong_checksum_wrong() -> None:
    data = bytearray(write_message_set(1, 0, ROWS))
    data[12] ^= 1
    before = bytes(data)
    set_timestamp(data, next(entries(data)), CREATE_TIME, 1000)
    assert data == before


def test_an_offset_is_outside_of_the_checksum() -> None:
    data = bytearray(write_message_set(1, 0, ROWS))
    for place, entry in enumerate(list(entries(data))):
        set_offset(data, entry.position, 100 + place)
    found = list(entries(data))
    assert [entry.offset for entry in found] == [100, 101, 102]
    assert all(checksum(data, entry) == entry.crc for entry in found)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (wrapped(wrapped(plain(1, [0, 1, 2]))), InvalidValue),
        (wrapped(b""), InvalidValue),
        (wrapped(bytes(20)), InvalidValue),
        (wrapped(plain(1, [0]), offset=0).replace(b"\x1f\x8b", b"\x1f\x8c"), InvalidValue),
        (bytes(8) + b"\0\0\0\x0d" + bytes(13), InvalidValue),
        (bytes(8) + b"\0\0\0\x0e" + bytes(4) + b"\2" + bytes(9), InvalidValue),
        (bytes(8) + b"\0\0\0\x0e" + bytes(4) + b"\1" + bytes(9), InvalidValue),
        (bytes(8) + b"\0\0\0\x0e" + bytes(6) + b"\0\0\0\1" + bytes(4), Truncated),
    ],
)
def test_unsound_sets_are_refused(data: bytes, fault: type[Malformed]) -> None:
    with pytest.raises(fault):
        list(messages(data))


def test_a_null_wrapper_and_a_codec_of_later_formats_are_refused() -> None:
    for attributes, value in ((1, None), (4, b"x"), (7, b"x")):
        data = bytearray(write_message_set(1, 0, [(0, 1, None, value)]))
        data[17] = attributes
        with pytest.raises(InvalidValue):
            list(messages(data))


def test_negative_lengths_are_nulls() -> None:
    data = bytearray(write_message_set(0, 0, [(0, -1, None, None)]))
    data[18:22] = data[22:26] = (-5).to_bytes(4, "big", signed=True)
    (message,) = messages(data)
    assert (message.key, message.value) == (None, None)


def test_checksums_within_are_looked_at_when_asked_for() -> None:
    inner = bytearray(plain(1, [0, 1]))
    inner[-1] ^= 1
    (wrapper,) = entries(wrapped(bytes(inner), offset=1))
    assert len(inner_entries(wrapper)[1]) == 2
    with pytest.raises(WrongChecksum):
        inner_entries(wrapper, with_checksums=True)


def test_what_a_wrapper_may_hold_is_bounded() -> None:
    data = write_message_set(1, Codec.GZIP, [(0, 1, None, bytes(10_000))])
    assert len(list(messages(data, 10_034))) == 1
    with pytest.raises(LimitExceeded):
        list(messages(data, 10_033))


@pytest.mark.parametrize(
    ("magic", "codec", "rows"),
    [
        (1, Codec.ZSTD, ROWS),
        (2, Codec.NONE, ROWS),
        (1, Codec.NONE, [(3, 1, None, None), (3, 1, None, None)]),
        (1, Codec.NONE, [(0, 1, None, None), (1 << 31, 1, None, None)]),
        (1, Codec.NONE, [(0, -2, None, None)]),
        (1, Codec.NONE, [(0, 1 << 63, None, None)]),
        (0, Codec.NONE, [(1 << 63, 1, None, None)]),
    ],
)
def test_what_the_formats_lack_cannot_be_written(
    magic: int, codec: Codec, rows: list[tuple[int, int, bytes | None, bytes | None]]
) -> None:
    with pytest.raises(Unencodable):
        write_message_set(magic, codec, rows)


def test_no_messages_are_no_bytes() -> None:
    assert write_message_set(1, Codec.GZIP, []) == b""
    assert list(messages(b"")) == []
