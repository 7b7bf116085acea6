"""Any bytes come back from any codec, and no bytes can hurt a decompressor."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.kernels.faults import LimitExceeded, Malformed
from ottla.records.compression import Codec, compress, decompress, decompress_into

contents = st.builds(
    lambda part, count, rest: part * count + rest,
    st.binary(max_size=300),
    st.integers(1, 400),
    st.binary(max_size=300),
)
codecs = st.sampled_from(list(Codec))
edits = st.lists(
    st.tuples(st.integers(0, 1 << 20), st.integers(0, 3), st.binary(max_size=3)),
    min_size=1,
    max_size=4,
)


def edited(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Some bytes cut out, put in or changed."""
    changed = bytearray(data)
    for place, count, put in changes:
        at = place % (len(changed) + 1)
        changed[at : at + count] = put
    return bytes(changed)


@settings(max_examples=300, deadline=None)
@given(codec=codecs, content=contents, legacy_checksum=st.booleans())
def test_round_trip(codec: Codec, content: bytes, legacy_checksum: bool) -> None:
    compressed = compress(codec, content, legacy_checksum=legacy_checksum)
    assert decompress(codec, compressed, len(content), legacy_checksum=legacy_checksum) == content
    room = bytearray(len(content))
    assert decompress_into(codec, compressed, room, legacy_checksum=legacy_checksum) == len(room)
    assert room == content


@settings(max_examples=300, deadline=None)
@given(codec=codecs, content=contents, short=st.integers(1, 1 << 20))
def test_a_limit_is_never_passed(codec: Codec, content: bytes, short: int) -> None:
    if content:
        limit = len(content) - 1 - short % len(content)
        with pytest.raises(LimitExceeded):
            decompress(codec, compress(codec, content), limit)
        with pytest.raises(LimitExceeded):
            decompress_into(codec, compress(codec, content), bytearray(limit))


@settings(max_examples=1500, deadline=None)
@given(codec=codecs, content=contents, changes=edits, legacy_checksum=st.booleans())
def test_changed_bytes_decompress_within_bounds_or_are_refused(
    codec: Codec, content: bytes, changes: list[tuple[int, int, bytes]], legacy_checksum: bool
) -> None:
    data = edited(compress(codec, content, legacy_checksum=legacy_checksum), changes)
    limit = 2 * len(content) + 10
    room = bytearray(limit)
    try:
        output = decompress(codec, data, limit, legacy_checksum=legacy_checksum)
    except Malformed as fault:
        with pytest.raises(type(fault)):
            decompress_into(codec, data, room, legacy_checksum=legacy_checksum)
        return
    size = decompress_into(codec, data, room, legacy_checksum=legacy_checksum)
    assert room[:size] == output


@settings(max_examples=500, deadline=None)
@given(codec=codecs, data=st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(codec: Codec, data: bytes) -> None:
    try:
        assert len(decompress(codec, data, 1000)) <= 1000
    except Malformed:
        return
