"""Frames and what every request begins with."""

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated
from ottla.wire.frame import frame_end, request_identity


def test_a_frame_ends_after_its_size() -> None:
    data = b"xx\x00\x00\x00\x05hello"
    assert frame_end(data, 2, len(data), 100) == len(data)
    assert frame_end(data, 2, 8, 100) == len(data)


@pytest.mark.parametrize("end", range(4))
def test_a_size_comes_whole_or_not_at_all(end: int) -> None:
    assert frame_end(b"\x00\x00\x00\x05", 0, end, 100) is None


def test_a_size_that_no_peer_may_send() -> None:
    with pytest.raises(InvalidValue, match="a frame of -1 bytes"):
        frame_end(b"\xff\xff\xff\xff", 0, 4, 100)
    assert frame_end(b"\x00\x00\x00\x64", 0, 4, 100) == 104
    with pytest.raises(LimitExceeded, match="a frame of 101 bytes, and 100 are allowed"):
        frame_end(b"\x00\x00\x00\x65", 0, 4, 100)
    assert frame_end(b"\x00\x00\x00\x00", 0, 4, 100) == 4


def test_a_request_says_what_it_is() -> None:
    assert request_identity(b"\x00\x12\x00\x03\xff\xff\xff\xfe\x00") == (18, 3, -2)
    with pytest.raises(Truncated):
        request_identity(b"\x00\x12\x00\x03\xff\xff\xff")
