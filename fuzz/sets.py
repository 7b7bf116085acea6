"""Targets: message sets of magic 0 and 1, and the codecs that they share with batches."""

from collections.abc import Iterator
from random import Random
from typing import Final
from zlib import crc32

from fuzz.runs import NOW_MS, RULES
from fuzz.target import INFLATED_BYTES_MAX, Target
from ottla.errors import ErrorCode
from ottla.kernels.faults import Malformed
from ottla.kernels.xxh32 import xxh32
from ottla.records.compression import Codec, compress, decompress, decompress_into
from ottla.records.message_set import (
    ENTRY_HEADER_BYTES,
    Row,
    checksum,
    entries,
    inner_entries,
    messages,
    write_message_set,
)
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set
from ottla.wire.fields import Buffer

_SLACK_BYTES: Final = 4 * INFLATED_BYTES_MAX
_ENTRY_RATIO_MAX: Final = 60
_MESSAGE_BYTES_MIN: Final = 14


def set_seeds() -> Iterator[bytes]:
    random = Random(8)
    for magic in (0, 1):
        for codec in (0, 1, 2, 3):
            for number in range(6):
                base = random.choice([0, 7, 1 << 40])
                rows: list[Row] = [
                    (
                        base + index,
                        NOW_MS + index,
                        random.choice([None, b"", b"key"]),
                        random.choice([None, b"", b"value"]),
                    )
                    for index in range(1 + number)
                ]
                append_time = NOW_MS if number == 5 else None
                data = write_message_set(magic, codec, rows, append_time=append_time)
                yield bytes([random.randrange(256)]) + data
                yield b"\0" + data + data[: random.randrange(len(data))]


def repair_set(data: bytearray, random: Random) -> bytearray:
    """In half of the cases sizes and checksums are right, in some the set is put in a wrapper."""
    chance = random.random()
    if chance < 0.4:
        return data
    if chance > 0.8 and len(data) > 20:
        data = _wrapped(_sealed(data, 1), random)
    return _sealed(data, 1)


def _wrapped(data: bytearray, random: Random) -> bytearray:
    magic, codec = random.randrange(2), random.randrange(1, 4)
    value = compress(codec, bytes(data[1:]), legacy_checksum=magic == 0)
    time = NOW_MS.to_bytes(8, "big") if magic else b""
    flags = codec | random.choice([0, 8])
    body = bytes([magic, flags]) + time + b"\xff" * 4 + len(value).to_bytes(4, "big") + value
    offset = random.choice([0, 5, len(value), 2**63 - 1]).to_bytes(8, "big")
    return data[:1] + offset + (4 + len(body)).to_bytes(4, "big") + bytes(4) + body


def _sealed(data: bytearray, position: int) -> bytearray:
    """Every entry with a size that there can be, and its checksum."""
    while len(data) - position >= ENTRY_HEADER_BYTES + _MESSAGE_BYTES_MIN:
        left = len(data) - position - ENTRY_HEADER_BYTES
        size = int.from_bytes(data[position + 8 : position + 12], "big", signed=True)
        if not _MESSAGE_BYTES_MIN <= size <= left:
            size = left
            data[position + 8 : position + 12] = size.to_bytes(4, "big")
        end = position + ENTRY_HEADER_BYTES + size
        crc = crc32(data[position + 16 : end])
        data[position + 12 : position + 16] = crc.to_bytes(4, "big")
        position = end
    return data


def read_set(data: Buffer) -> object:
    """Every message, those in wrappers too."""
    run = data[1:]
    found = [
        (entry, checksum(run, entry), entry.codec and inner_entries(entry, INFLATED_BYTES_MAX))
        for entry in entries(run)
    ]
    return len(found), sum(1 for _ in messages(run, INFLATED_BYTES_MAX))


def read_sent_set(data: Buffer) -> object:
    """What a broker does with a client's set, whatever the format of its log."""
    chosen = data[0] if data else 0
    sent = bytearray(data[1:])
    verdict = check_message_set(sent, RULES[chosen % 8], NOW_MS)
    if verdict.error != ErrorCode.NONE or not verdict.messages:
        return verdict.error, verdict.reason
    magic = (0, 1, 2, 2)[chosen >> 3 & 3]
    codec = (chosen >> 5) % (5 if magic == 2 else 4)
    append_time = NOW_MS if RULES[chosen % 8].is_append_time else None
    target = AppendTarget(500, magic, codec, None, append_time)
    appendable = assign_offsets(sent, verdict, target)
    assert appendable.next_offset == 500 + len(verdict.messages)
    return bytes(appendable.data), *appendable[1:]


_room = memoryview(bytearray(INFLATED_BYTES_MAX))


def decompressed(data: Buffer) -> object:
    """One byte says which codec; both ways of it must do the same."""
    chosen, content = data[0] if data else 0, data[1:]
    codec, is_legacy = 1 + chosen % 4, chosen >= 128
    into: int | type[Malformed]
    try:
        into = decompress_into(codec, content, _room, legacy_checksum=is_legacy)
    except Malformed as fault:
        into = type(fault)
    try:
        output = decompress(codec, content, INFLATED_BYTES_MAX, legacy_checksum=is_legacy)
    except Malformed as fault:
        if into is not type(fault):
            raise AssertionError(f"{fault!r} in one way, {into} in the other") from fault
        raise
    assert into == len(output), f"{into} in one way, {len(output)} bytes in the other"
    assert _room[: len(output)] == output, "both ways give other bytes"
    return crc32(output), len(output)


def codec_seeds() -> Iterator[bytes]:
    random = Random(9)
    contents = [b"", b"a", b"ab" * 500, random.randbytes(60), bytes(3000)]
    for content in contents:
        for codec in list(Codec)[1:]:
            for is_legacy in (False, True):
                chosen = codec - 1 + 128 * is_legacy
                data = compress(codec, content, legacy_checksum=is_legacy)
                yield bytes([chosen]) + data
                if codec in (Codec.GZIP, Codec.ZSTD):
                    yield bytes([chosen]) + data + data


def repair_compressed(data: bytearray, random: Random) -> bytearray:
    """Half of the frames of lz4 have a header whose checksum is right."""
    if len(data) > 8 and data[0] % 4 == Codec.LZ4 - 1 and random.random() < 0.5:
        end = 15 if data[5] & 8 else 7
        if len(data) > end:
            data[end] = xxh32(bytes(data[5:end])) >> 8 & 0xFF
    return data


_FRAMES: Final = (
    b"\x1f\x8b\x08\0", b"\x82SNAPPY\0", b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd",
    b"\x50\x2a\x4d\x18",
)  # fmt: skip

TARGETS: Final = (
    Target("message_sets_read", read_set, set_seeds, (Malformed,), repair=repair_set, share=4,
           ratio_max=_ENTRY_RATIO_MAX,
           slack_bytes=_SLACK_BYTES + _ENTRY_RATIO_MAX * INFLATED_BYTES_MAX),
    Target("message_sets_sent", read_sent_set, set_seeds, (), repair=repair_set, share=3,
           ratio_max=_ENTRY_RATIO_MAX,
           slack_bytes=_SLACK_BYTES + _ENTRY_RATIO_MAX * INFLATED_BYTES_MAX),
    Target("codecs", decompressed, codec_seeds, (Malformed,), repair=repair_compressed,
           tokens=_FRAMES, share=5, slack_bytes=_SLACK_BYTES),
)  # fmt: skip
