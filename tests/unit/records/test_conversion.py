"""Converting a fetched run for older consumers, a chunk at a time."""

import pytest

from ottla.kernels.faults import InvalidValue
from ottla.records.batch import CONTROL_BIT, BatchHeader
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.compression import Codec
from ottla.records.conversion import CodecNotSupported, DownConversion, down_convert
from ottla.records.message_set import entries, messages, write_message_set
from tests.costs import peak_bytes


def batch(base_offset: int, codec: int = Codec.NONE, count: int = 3, size: int = 50) -> bytes:
    """One batch of records that are alike."""
    rows = [
        (base_offset + place, 1000 + place, b"k", b"v" * size, [("h", b"x")])
        for place in range(count)
    ]
    return bytes(write_batch(rows, BatchOptions(base_offset=base_offset, codec=codec)))


def control_batch(base_offset: int) -> bytes:
    """A transaction's marker."""
    options = BatchOptions(base_offset=base_offset, is_control=True, is_transactional=True)
    marker = bytes(write_batch([(base_offset, 1, bytes(4), bytes(6), ())], options))
    assert BatchHeader.parse(marker).attributes & CONTROL_BIT
    return marker


def offsets(data: bytes) -> list[int]:
    """The offsets of all messages of a set."""
    return [message.offset for message in messages(data)]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("chunk_bytes", [0, 1, 200, 1 << 20])
def test_chunks_are_as_many_bytes_as_were_announced(magic: int, chunk_bytes: int) -> None:
    data = batch(10) + control_batch(13) + batch(14, Codec.LZ4, 40) + batch(54, Codec.GZIP)
    conversion = DownConversion(data, magic)
    sent = b"".join(conversion.chunks(chunk_bytes))
    assert len(sent) == conversion.size_bytes == len(data)
    whole = down_convert(data, magic)
    assert offsets(sent) == offsets(whole.data)[: len(offsets(sent))]
    assert whole.records_count == 46


def test_the_first_batch_is_sent_even_if_it_grows() -> None:
    data = batch(0, count=20, size=0)
    conversion = DownConversion(data, 1)
    assert conversion.size_bytes > len(data)
    assert offsets(b"".join(conversion.chunks())) == list(range(20))


def test_what_is_missing_looks_like_an_entry_that_is_cut_off() -> None:
    data = batch(0, Codec.LZ4) + control_batch(3) * 3
    conversion = DownConversion(data, 1)
    sent = b"".join(conversion.chunks())
    assert len(sent) == len(data)
    (wrapper,) = entries(sent)
    assert wrapper.offset == 2
    filler = sent[wrapper.size_bytes :]
    assert int.from_bytes(filler[8:12], "big") > len(filler)


def test_nothing_to_convert_is_one_entry_header_that_is_cut_off() -> None:
    assert DownConversion(b"", 1).size_bytes == 0
    conversion = DownConversion(control_batch(0), 1)
    assert b"".join(conversion.chunks()) == b"\xff" * 8 + b"\0\0\0\x3d"
    assert list(entries(b"".join(conversion.chunks()))) == []


def test_zstd_at_the_start_is_refused_and_later_ends_what_can_be_had() -> None:
    with pytest.raises(CodecNotSupported):
        DownConversion(batch(0, Codec.ZSTD), 1)
    data = batch(0) + batch(3, Codec.ZSTD, 90) + batch(93)
    conversion = DownConversion(data, 1)
    sent = b"".join(conversion.chunks(0))
    assert len(sent) == len(data)
    assert offsets(sent) == [0, 1, 2]


def test_records_before_the_fetch_offset_are_dropped_unless_compressed() -> None:
    assert offsets(down_convert(batch(0), 1, 2).data) == [2]
    assert down_convert(batch(0), 1, 3).data == b""
    assert offsets(down_convert(batch(0, Codec.SNAPPY), 1, 2).data) == [0, 1, 2]
    older = write_message_set(0, 0, [(0, -1, b"k", b"v")])
    assert down_convert(older, 0, 5).data == older


def test_a_message_set_is_converted_only_if_it_is_too_new() -> None:
    rows = [(4, 1000, b"k", b"v"), (6, 1001, None, b"w")]
    for codec in (Codec.NONE, Codec.LZ4):
        newer = write_message_set(1, codec, rows, append_time=5)
        assert down_convert(newer, 1) == (newer, 0, len(newer))
        older = down_convert(newer, 0)
        assert older.data == write_message_set(0, codec, rows)
        assert older.records_count == 2


def test_what_is_no_batch_is_refused_and_what_is_cut_off_left_out() -> None:
    data = batch(0)
    assert offsets(down_convert(data + data[:-1], 1).data) == [0, 1, 2]
    with pytest.raises(InvalidValue):
        down_convert(data + bytes(8) + b"\0\0\0\x20" + bytes(4) + b"\3" + bytes(30), 1)
    with pytest.raises(InvalidValue):
        down_convert(bytes(40), 1)


def test_a_negative_length_is_no_end() -> None:
    data = bytearray(batch(0) + batch(3))
    data[len(data) // 2 + 8] = 0xFF
    with pytest.raises(InvalidValue, match="no batch begins here"):
        down_convert(data, 1)


def test_a_batch_of_very_many_small_records_costs_what_they_take_when_written() -> None:
    count = 100_000
    rows = [(at, 0, None, None, []) for at in range(count)]
    batch = write_batch(rows, BatchOptions(codec=Codec.LZ4))

    def convert() -> None:
        assert down_convert(batch, 1).records_count == count

    # A message of magic 1 has 34 bytes beside its key and value; the buffer grows by an eighth.
    assert peak_bytes(convert, measures=1) < 3 * 34 * count
