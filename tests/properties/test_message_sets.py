"""What was written as a message set is read again, and no bytes can hurt a reader."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.errors import ErrorCode
from ottla.kernels.faults import Malformed, Unencodable
from ottla.records.builder import BatchOptions, write_batch
from ottla.records.check import Rules
from ottla.records.compression import Codec
from ottla.records.conversion import DownConversion, down_convert
from ottla.records.message_set import Row, messages, write_message_set
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set
from ottla.records.reader import read_records
from tests.properties.test_compression import edited, edits

NOW_MS = 10_000
contents = st.none() | st.binary(max_size=40)
codecs = st.sampled_from([Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
magics = st.sampled_from([0, 1])


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Messages with rising offsets, not all of them following one another."""
    found: list[Row] = []
    offset = draw(st.integers(0, 1 << 40))
    for gap in draw(st.lists(st.integers(1, 3), min_size=1, max_size=8)):
        found.append((offset, draw(st.integers(-1, NOW_MS)), draw(contents), draw(contents)))
        offset += gap
    return found


@settings(max_examples=200, deadline=None)
@given(magic=magics, codec=codecs, rows=rows(), append_time=st.none() | st.integers(0, NOW_MS))
def test_round_trip(magic: int, codec: int, rows: list[Row], append_time: int | None) -> None:
    data = write_message_set(magic, codec, rows, append_time=append_time)
    for written, read in zip(rows, messages(data), strict=True):
        assert (read.offset, read.key, read.value) == (written[0], written[2], written[3])
        time = written[1] if append_time is None else append_time
        assert read.timestamp == (time if magic else -1)


@settings(max_examples=200, deadline=None)
@given(
    magic=magics,
    codec=codecs,
    rows=rows(),
    to_magic=st.integers(0, 2),
    to_codec=codecs,
    append_time=st.none() | st.integers(0, NOW_MS),
)
def test_messages_survive_what_an_append_does_to_them(
    magic: int, codec: int, rows: list[Row], to_magic: int, to_codec: int, append_time: int | None
) -> None:
    data = bytearray(write_message_set(magic, codec, rows))
    verdict = check_message_set(data, Rules(is_append_time=append_time is not None), NOW_MS)
    assert verdict.error == ErrorCode.NONE
    target = AppendTarget(500, to_magic, to_codec, None, append_time)
    appendable = assign_offsets(data, verdict, target)
    if to_magic == 2:
        found = [record[:4] for record in read_records(appendable.data, 1 << 20)]
    else:
        found = [(one[0], one[1], *one[3:]) for one in messages(appendable.data)]
    for index, (written, read) in enumerate(zip(rows, found, strict=True)):
        time = written[1] if magic else -1
        time = time if append_time is None else append_time
        assert read == (500 + index, time if to_magic else -1, *written[2:])
    assert appendable.next_offset == 500 + len(rows)


@settings(max_examples=800, deadline=None)
@given(magic=magics, codec=codecs, rows=rows(), changes=edits)
def test_changed_bytes_are_read_or_refused(
    magic: int, codec: int, rows: list[Row], changes: list[tuple[int, int, bytes]]
) -> None:
    data = bytearray(edited(write_message_set(magic, codec, rows), changes))
    verdict = check_message_set(data, Rules(), NOW_MS)
    if verdict.error == ErrorCode.NONE and verdict.messages:
        assign_offsets(data, verdict, AppendTarget(0, 2, Codec.LZ4))
    try:
        list(messages(data))
    except Malformed:
        return


@settings(max_examples=800, deadline=None)
@given(
    magic=magics,
    codec=st.sampled_from(list(Codec)),
    rows=rows(),
    changes=edits,
    chunk_bytes=st.integers(0, 400),
)
def test_changed_batches_are_converted_or_refused(
    magic: int,
    codec: int,
    rows: list[Row],
    changes: list[tuple[int, int, bytes]],
    chunk_bytes: int,
) -> None:
    options = BatchOptions(base_offset=rows[0][0], codec=codec)
    batch = write_batch([(*row, [("h", b"x")]) for row in rows], options)
    data = edited(bytes(batch) * 2, changes)
    try:
        down_convert(data, magic)
        conversion = DownConversion(data, magic)
        sent = b"".join(conversion.chunks(chunk_bytes))
    except (Malformed, Unencodable):
        return
    assert len(sent) == conversion.size_bytes
