"""What Kafka makes of older message sets on the way in, and of batches on the way out."""

from pathlib import Path

import pytest

from ottla.records.batch import HEADER_BYTES, BatchHeader
from ottla.records.check import Rules
from ottla.records.compression import decompress
from ottla.records.conversion import CodecNotSupported, DownConversion, down_convert
from ottla.records.message_set import checksum, entries, inner_entries, messages
from ottla.records.message_set_append import AppendTarget, assign_offsets
from ottla.records.message_set_check import check_message_set

NOW_MS = 1_700_000_000_000
FOLDER = Path(__file__).parent


def rows(name: str) -> list[list[str]]:
    """The columns of a golden file's lines, without its header."""
    lines = (FOLDER / name).read_text().splitlines()
    return [line.split(" | ") for line in lines if not line.startswith("#")]


def opened(data: bytes) -> list[object]:
    """Everything in entries or a batch but compressed bytes, in which compressors may differ."""
    if data[16:17] == b"\2":
        header = BatchHeader.parse(data)
        content = decompress(header.codec, data[HEADER_BYTES:], 1 << 20)
        return [header._replace(crc=0, batch_length=0), content]
    found: list[object] = []
    for entry in entries(data):
        assert checksum(data, entry) == entry.crc
        content, inner = inner_entries(entry, with_checksums=True) if entry.codec else (b"", [])
        shown = entry if not entry.codec else entry._replace(crc=0, size_bytes=0, value=None)
        found.append((shown._replace(position=0), content, inner))
    return found


@pytest.mark.parametrize("row", rows("message_sets_appended.txt"))
def test_a_clients_message_set_becomes_what_kafka_appends(row: list[str]) -> None:
    magic, codec, is_append_time, is_compacted, base_offset = map(int, row[0].split())
    data = bytearray.fromhex(row[1])
    rules = Rules(
        is_compacted=bool(is_compacted),
        is_append_time=bool(is_append_time),
        before_max_ms=100_000,
        after_max_ms=100_000,
        magic=magic,
    )
    verdict = check_message_set(data, rules, NOW_MS)
    if row[2].startswith("refused"):
        _, error, indexes = row[2].split()
        bad = ",".join(str(one.index) for one in verdict.record_errors) or "-"
        assert (verdict.error, bad) == (int(error), indexes)
        return
    append_time = NOW_MS if is_append_time else None
    target = AppendTarget(base_offset, magic, codec, None, append_time, 7)
    appendable = assign_offsets(data, verdict, target)
    expected, *numbers = row[2].split()
    assert opened(bytes(appendable.data)) == opened(bytes.fromhex(expected))
    assert list(appendable[1:]) == list(map(int, numbers))


@pytest.mark.parametrize("row", rows("down_converted.txt"))
def test_an_older_consumer_gets_what_kafka_sends_it(row: list[str]) -> None:
    magic, first_offset = map(int, row[0].split())
    batches = bytes.fromhex(row[1])
    if row[2] == "unsupported compression":
        with pytest.raises(CodecNotSupported):
            down_convert(batches, magic, first_offset)
        return
    expected, records_count, memory_bytes = row[2].split()
    converted = down_convert(batches, magic, first_offset)
    assert opened(converted.data) == opened(bytes.fromhex(expected.strip("-")))
    assert converted[1:] == (int(records_count), int(memory_bytes))
    in_steps = DownConversion(batches, magic, first_offset)
    sent = b"".join(in_steps.chunks())
    if len(converted.data) <= len(sent):
        assert list(messages(sent)) == list(messages(converted.data))
        assert in_steps.records_count == converted.records_count
        assert in_steps.memory_bytes == converted.memory_bytes
