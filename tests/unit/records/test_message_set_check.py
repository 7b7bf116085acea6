"""The rules for message sets that no golden case holds."""

import pytest

from ottla.errors import ErrorCode
from ottla.records.check import Rules
from ottla.records.compression import Codec
from ottla.records.message_set import checksum, entries, messages, write_message_set
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set
from tests.costs import peak_bytes

NOW_MS = 1_000_000
ROWS = [(0, NOW_MS, b"a", b"first"), (1, NOW_MS - 5, b"b", b"second")]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_a_flipped_bit_anywhere_after_the_size_is_corruption(magic: int, codec: Codec) -> None:
    data = write_message_set(magic, codec, ROWS)
    first = next(entries(data)).size_bytes
    for place in range(12, first):
        damaged = bytearray(data)
        damaged[place] ^= 4
        verdict = check_message_set(damaged, Rules(), NOW_MS)
        assert verdict.error == ErrorCode.CORRUPT_MESSAGE


def test_an_entry_that_is_too_large_is_named_before_its_checksum() -> None:
    data = bytearray(write_message_set(1, 0, ROWS))
    data[12] ^= 1
    size = next(entries(data)).size_bytes
    for limit, error in (
        (size, ErrorCode.CORRUPT_MESSAGE),
        (size - 1, ErrorCode.MESSAGE_TOO_LARGE),
    ):
        assert check_message_set(data, Rules(batch_bytes_max=limit), NOW_MS).error == error


def test_a_wrapper_that_holds_too_much_is_too_large() -> None:
    data = write_message_set(1, Codec.GZIP, [(0, NOW_MS, b"k", bytes(5000))])
    verdict = check_message_set(data, Rules(inflated_bytes_max=5000), NOW_MS)
    assert verdict.error == ErrorCode.MESSAGE_TOO_LARGE
    assert check_message_set(data, Rules(inflated_bytes_max=6000), NOW_MS).error == ErrorCode.NONE


def test_a_wrapper_that_does_not_decompress_is_invalid() -> None:
    data = bytearray(write_message_set(1, 0, [(0, NOW_MS, None, b"no gzip")]))
    data[17] = Codec.GZIP
    data[12:16] = checksum(data, next(entries(data))).to_bytes(4, "big")
    assert check_message_set(data, Rules(), NOW_MS).error == ErrorCode.INVALID_RECORD


def test_two_wrappers_are_one_too_many() -> None:
    wrapper = write_message_set(1, Codec.GZIP, ROWS)
    plain = write_message_set(1, 0, ROWS)
    for data in (wrapper + wrapper, wrapper + plain, plain + wrapper):
        assert check_message_set(data, Rules(), NOW_MS).error == ErrorCode.INVALID_RECORD


def test_one_set_has_one_magic() -> None:
    data = write_message_set(1, 0, ROWS) + write_message_set(0, 0, ROWS)
    assert check_message_set(data, Rules(), NOW_MS).error == ErrorCode.INVALID_RECORD


def test_a_time_below_none_is_refused() -> None:
    data = bytearray(write_message_set(1, 0, ROWS))
    data[18:26] = (-2).to_bytes(8, "big", signed=True)
    data[12:16] = checksum(data, next(entries(data))).to_bytes(4, "big")
    for rules in (Rules(), Rules(is_append_time=True)):
        assert check_message_set(data, rules, NOW_MS).error == ErrorCode.INVALID_TIMESTAMP


def test_what_is_cut_off_is_not_appended() -> None:
    data = bytearray(write_message_set(1, 0, ROWS))
    verdict = check_message_set(data[:-1], Rules(), NOW_MS)
    assert verdict.error == ErrorCode.NONE
    appendable = assign_offsets(data, verdict, AppendTarget(40, magic=1))
    assert [one.offset for one in messages(appendable.data)] == [40]
    assert appendable.next_offset == 41


def test_no_whole_entry_is_no_error() -> None:
    for data in (b"", bytes(11), write_message_set(1, 0, ROWS)[:20]):
        verdict = check_message_set(data, Rules(), NOW_MS)
        assert (verdict.error, verdict.messages) == (ErrorCode.NONE, ())


def test_in_place_means_in_place() -> None:
    for codec in (Codec.NONE, Codec.LZ4):
        data = bytearray(write_message_set(1, codec, ROWS))
        verdict = check_message_set(data, Rules(), NOW_MS)
        appendable = assign_offsets(data, verdict, AppendTarget(9, magic=1, codec=codec))
        assert isinstance(appendable.data, memoryview)
        assert appendable.data.obj is data
        assert [one.offset for one in messages(data)] == [9, 10]


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_very_many_messages_are_refused_before_they_cost_memory(codec: Codec) -> None:
    rows = [(at, NOW_MS, None, None) for at in range(60_000)]
    data = write_message_set(1, codec, rows)
    rules = Rules(batch_bytes_max=1 << 24)

    def refuse() -> None:
        verdict = check_message_set(data, rules, NOW_MS)
        assert verdict.error == ErrorCode.MESSAGE_TOO_LARGE
        assert "more than 50000 messages" in verdict.reason

    assert peak_bytes(refuse, measures=1) < 64 << 20
