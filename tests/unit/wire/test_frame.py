"""Frames and what every request begins with."""

from mmap import mmap

import pytest

from ottla.kernels.faults import InvalidValue, LimitExceeded, Truncated, Unencodable
from ottla.wire.codec import decode_prefix, encode, encode_frame
from ottla.wire.frame import frame_end, request_identity
from ottla.wire.header import RequestHeader, ResponseHeader
from tests.unit.wire.samples import Everything, everything


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


@pytest.mark.parametrize("client_id", [None, "", "größe"])
@pytest.mark.parametrize("header_version", [1, 2])
def test_a_frame_holds_its_length_a_header_and_a_message(
    header_version: int, client_id: str | None
) -> None:
    header = RequestHeader(
        request_api_key=300, request_api_version=2, correlation_id=-7, client_id=client_id
    )
    message = everything(2)
    parts = encode_frame(header, header_version, message, 2)
    assert parts[1] is message.batches
    data = b"".join(parts)
    assert frame_end(data, 0, len(data), len(data)) == len(data)
    assert request_identity(data[4:]) == (300, 2, -7)
    again, start = decode_prefix(RequestHeader, data, header_version, 4)
    assert again == header
    assert decode_prefix(Everything, data, 2, start) == (message, len(data))


def test_a_response_begins_with_what_it_answers() -> None:
    assert encode(ResponseHeader(correlation_id=1), 0) == b"\0\0\0\1"
    assert encode(ResponseHeader(correlation_id=1), 1) == b"\0\0\0\1\0"


def test_what_is_wrong_is_named_by_its_own_message() -> None:
    header = ResponseHeader(correlation_id=1 << 31)
    with pytest.raises(Unencodable, match=r"^ResponseHeader\.correlation_id: .* out of range"):
        encode_frame(header, 0, everything(2), 2)
    header.correlation_id = 1
    message = everything(2)
    message.number = 1 << 31
    with pytest.raises(Unencodable, match=r"^Everything\.number: .* out of range"):
        encode_frame(header, 0, message, 2)


def test_more_than_a_length_can_say_is_refused_uncopied() -> None:
    # Pages that nobody touches take no memory.
    with mmap(-1, 1 << 31) as pages, memoryview(pages) as records:
        message = everything(2)
        message.batches = records
        with pytest.raises(
            Unencodable, match=r"Everything\.batches: 2147483648 bytes are too many"
        ):
            encode_frame(ResponseHeader(correlation_id=1), 1, message, 2)
        message.batches = records[:-1]
        with pytest.raises(Unencodable, match="too many for one frame"):
            encode_frame(ResponseHeader(correlation_id=1), 1, message, 2)
        message.batches.release()
